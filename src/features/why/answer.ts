import type {ContainerStatus} from '../../api/types/v1-status.js';
import {humanDuration} from '../../format/duration.js';
import type {JsonObject} from '../../format/json.js';
import {escapeToLine} from '../../format/escape-controls.js';
import {shellQuote} from '../../base/shell-quote.js';
import {shorten} from '../../base/shorten.js';
import {archiveFile} from '../../cri/endpoint.js';
import type {SettingsContext} from '../../cli/command/contexts.js';
import {computePodRow} from '../pods/pod-row.js';
import {diagnose} from './causes/diagnose.js';
import {podTitle} from './causes/subject.js';
import type {Advice, Finding, Unread} from './finding.js';
import type {NodeState} from './node-answer.js';
import type {PodSnapshot} from './snapshot/pod-snapshot.js';

/** Output formats of `why`. */
export const WHY_FORMATS = ['table', 'json', 'yaml'] as const;

/** Answer about one pod or container. */
export interface Answer {
  /** `NAMESPACE/POD`, with `/CONTAINER` for a container. */
  readonly title: string;
  readonly uid: string;
  readonly manager: string;
  /** Sentence about the state, such as `CrashLoopBackOff, restarted 6 times in 9 minutes`. */
  readonly state: string;
  readonly findings: readonly Finding[];
  readonly unread: readonly Unread[];
}

/** Answers of one run. */
export interface Answers {
  /** State of the node; undefined if only pods were asked for. */
  readonly node: NodeState | undefined;
  /** Answers about the pods and containers that were asked for; about those that are not well, if the node was. */
  readonly pods: readonly Answer[];
  /** Number of pods that were looked at. */
  readonly count: number;
}

/** Answers why a pod, or one container of it, is in its state. Pure. */
export function answerWhy(snapshot: PodSnapshot, container?: string): Answer {
  const {pod, manager, unread} = snapshot;
  const findings = diagnose(snapshot, container);
  return {
    title: [podTitle(snapshot), ...(container === undefined ? [] : [container])].join('/'),
    uid: pod.metadata.uid ?? '',
    manager,
    state: stateText(snapshot, container),
    findings,
    // What is not known does not matter if nothing is wrong.
    unread: findings.length === 0 ? [] : unread,
  };
}

/** Reports whether something is wrong: a pod that has only not finished its start is well. */
export function isWrong({findings}: Answer): boolean {
  return findings.some(({severity}) => severity === 'problem');
}

/** Reports whether something is wrong with the node or one of the pods. */
export function areWrong({node, pods}: Answers): boolean {
  return pods.some(isWrong) || (node?.findings ?? []).length > 0;
}

function stateText(snapshot: PodSnapshot, container: string | undefined): string {
  const {pod, takenAt} = snapshot;
  const row = computePodRow(pod, Date.parse(takenAt));
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const counted = container === undefined ? statuses : statuses.filter(({name}) => name === container);
  const own = container === undefined ? undefined : counted[0];
  return [
    own === undefined ? row.status : containerState(own),
    ...(container === undefined && row.status === 'Running' ? [`${row.ready} ready`] : []),
    ...restarts(counted, snapshot),
  ].join(', ');
}

function containerState({state = {}, ready}: ContainerStatus): string {
  if (state.running !== undefined) return ready ? 'running' : 'running, not ready';
  return state.terminated?.reason ?? state.waiting?.reason ?? 'not created';
}

function restarts(statuses: readonly ContainerStatus[], {pod, takenAt}: PodSnapshot): readonly string[] {
  const count = statuses.reduce((sum, {restartCount}) => sum + restartCount, 0);
  if (count === 0) return [];
  const startTime = pod.status?.startTime ?? pod.metadata.creationTimestamp;
  const times = count === 1 ? 'once' : `${count} times`;
  if (startTime === undefined) return [`restarted ${times}`];
  const span = humanDuration(Math.max(Date.parse(takenAt) - Date.parse(startTime), 0));
  return [`restarted ${times} in ${span.charAt(0).toLowerCase()}${span.slice(1)}`];
}

/**
 * Returns the beginning of a command line for the same node: `kcri` with the global flags of this one. Advice about a saved node
 * is for the node itself.
 */
export function commandPrefix({settings: {globals, runtimeEndpoints}}: SettingsContext): readonly string[] {
  const rootDir = globals['root-dir'];
  return [
    'kcri',
    ...(typeof rootDir === 'string' ? ['--root-dir', rootDir] : []),
    ...runtimeEndpoints
      .filter((endpoint) => archiveFile(endpoint) === undefined)
      .flatMap((endpoint) => ['-r', endpoint]),
  ];
}

/** Length of a line in an answer; log lines and messages of the runtime and of the kernel are cut. */
const MAX_LENGTH = 1000;

/** Returns a text as part of an answer: it may come from a container, so it stays on its line and cannot control the terminal. */
export function shown(text: string): string {
  return shorten(escapeToLine(text), MAX_LENGTH);
}

/** Flags in advice, which need no quotes, unlike a name that looks like one. */
const FLAGS: ReadonlySet<string> = new Set(['-r', '--root-dir', '--previous']);

/** Returns an advice as text: a command of kcri as a line for the shell. `prefix` is `kcri` with its global flags. */
export function adviceText(advice: Advice, prefix: readonly string[]): string {
  if (typeof advice === 'string') return advice;
  return [...prefix, ...advice.kcri].map((word) => (FLAGS.has(word) ? word : shellQuote(word))).join(' ');
}

/** Returns the answers as JSON. */
export function answersJson({node, pods}: Answers, prefix: readonly string[]): JsonObject {
  const findings = (list: readonly Finding[]) => list.map((finding) => findingJson(finding, prefix));
  return {
    ...(node !== undefined && {
      node: {name: node.name, wrong: node.findings.length > 0, findings: findings(node.findings)},
    }),
    items: pods.map((answer) => {
      const [namespace = '', pod = '', container] = answer.title.split('/');
      const {uid, manager, state, unread} = answer;
      return {
        namespace,
        pod,
        ...(container !== undefined && {container}),
        ...{uid, manager, state, wrong: isWrong(answer)},
        findings: findings(answer.findings),
        unread: unread.map(({what, reason}) => ({what, reason})),
      };
    }),
  };
}

function findingJson(finding: Finding, prefix: readonly string[]): JsonObject {
  const {rule, severity, container, cause, inferredFrom, evidence, log, next, tries} = finding;
  return {
    rule,
    severity,
    ...(container !== undefined && {container}),
    cause,
    ...(inferredFrom !== undefined && {inferredFrom}),
    evidence: [...evidence],
    ...(log !== undefined && {log: [...log]}),
    ...(next !== undefined && {next}),
    try: tries.map((advice) => adviceText(advice, prefix)),
  };
}
