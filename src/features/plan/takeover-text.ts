import type {ChalkInstance} from 'chalk';
import {counted} from '../../base/counted.js';
import {
  namespacedName,
  type PlannedEviction,
  type PlannedSoftEviction,
  type PodTakeover,
  type TakeoverVerdict,
} from '../../kubelet/index.js';
import {formatDuration} from '../../format/duration.js';
import {formatPodTitle} from '../pods/pod-title.js';
import {isSeamless, type NodeTakeover} from './node-takeover.js';
import {changeLines, omitEmptyLists} from './plan-text.js';

/** Words and colors of the verdicts, in the order of the summary. */
const VERDICTS = {
  kept: ['kept', 'green'],
  started: ['started', 'green'],
  restarted: ['restarted', 'yellow'],
  stopped: ['stopped', 'red'],
  preempted: ['preempted', 'red'],
  leftAlone: ['left alone', 'reset'],
  impossible: ['impossible', 'red'],
  unknown: ['unknown', 'yellow'],
} as const satisfies Record<TakeoverVerdict, readonly [words: string, color: string]>;

/** Returns a takeover as data. */
export function takeoverData(takeover: NodeTakeover): unknown {
  const {nodeName, rootDir, kubelets, apiError, startError, problems, pods, ineffective} = takeover;
  const {eviction, softEvictions} = takeover;
  return {
    node: nodeName,
    rootDir,
    seamless: isSeamless(takeover),
    kubelets,
    ...(startError === undefined ? {} : {startError: startError.message}),
    ...(apiError === undefined ? {} : {apiServerError: apiError.message}),
    ...(eviction === undefined ? {} : {eviction}),
    ...(softEvictions.length === 0 ? {} : {softEvictions}),
    manifestProblems: problems,
    ineffective,
    pods: pods.map(({namespace, name, uid, source, verdict, reasons, fields, changes, diffs}) => ({
      ...{namespace, pod: name, uid},
      ...(source === undefined ? {} : {source}),
      verdict,
      ...omitEmptyLists({reasons, fields, changes, diffs}),
    })),
  };
}

/** Formats a takeover as text: a summary, what to do first, each pod with its changes, and settings without effect. */
export function takeoverText(takeover: NodeTakeover, chalk: ChalkInstance): string {
  const {kubelets, apiError, startError, problems, pods, ineffective} = takeover;
  const {eviction, softEvictions} = takeover;
  const notes = [
    ...(startError === undefined
      ? []
      : [`kcri would not start: ${startError.message}`, ...hintOf(startError.hint)]),
    ...kubelets.map(({program, pid}) => kubeletNote(program, pid)),
    ...(eviction === undefined ? [] : [evictionNote(eviction)]),
    ...softEvictions.map(softEvictionNote),
    ...(apiError === undefined
      ? []
      : [`the pods of the API server are unknown: ${apiError.message}`, ...hintOf(apiError.hint)]),
  ];
  const blocks = [
    [chalk.bold(formatSummary(takeover)), ...notes].join('\n'),
    ...problems.map(
      ({level, place, message}) =>
        `${chalk[level === 'error' ? 'red' : 'yellow'](`manifest ${place}: ${level === 'error' ? 'impossible' : 'warning'}`)}\n  ${message}`,
    ),
    ...pods.map((pod) => podText(pod, chalk)),
    ...(ineffective.length === 0
      ? []
      : [
          [
            'settings without effect:',
            ...ineffective.map(({setting, reason}) => `  ${setting}: ${reason}`),
          ].join('\n'),
        ]),
  ];
  return blocks.join('\n\n');
}

function hintOf(hint: string | undefined): readonly string[] {
  return hint === undefined ? [] : [`  ${hint}`];
}

function kubeletNote(program: 'kubelet' | 'kcri', pid: number): string {
  return program === 'kubelet'
    ? `a kubelet (PID ${pid}) runs with this root directory: stop it before kcri starts, for example with "systemctl stop kubelet"`
    : `kcri kubelet (PID ${pid}) runs with this root directory: its pods are its own already`;
}

function evictionNote({resource, first}: PlannedEviction): string {
  return `the node lacks ${resource}, so that a kubelet ${evictionSteps({resource, first})}`;
}

function softEvictionNote({signal, gracePeriodSeconds, ...eviction}: PlannedSoftEviction): string {
  const grace = formatDuration(BigInt(Math.round(gracePeriodSeconds * 1000)) * 1_000_000n);
  return `${signal} is below its soft threshold; if that lasts for ${grace}, a kubelet ${evictionSteps(eviction)}`;
}

function evictionSteps({resource, first}: PlannedEviction): string {
  const unused = resource === 'ephemeral-storage' || resource === 'inodes';
  const steps = [
    ...(unused ? ['removes unused images and containers'] : []),
    first === undefined ? 'finds no pod that it may evict' : `evicts pods, ${namespacedName(first)} first`,
  ];
  return steps.join(', and if that is not enough, ');
}

/** Summarizes a takeover in one line: `/var/lib/kubelet on node-1: 3 pods: 2 kept, 1 restarted`. */
function formatSummary({rootDir, nodeName, pods}: NodeTakeover): string {
  const parts = Object.entries(VERDICTS).flatMap(([verdict, [words]]) => {
    const count = pods.filter((pod) => pod.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${words}`];
  });
  const total = counted(pods.length, 'pod');
  return `${rootDir} on ${nodeName}: ${[total, ...(parts.length === 0 ? [] : [parts.join(', ')])].join(': ')}`;
}

function podText(pod: PodTakeover, chalk: ChalkInstance): string {
  const [words, color] = VERDICTS[pod.verdict];
  const title = chalk[color](`pod ${formatPodTitle(pod)} (uid ${pod.uid}): ${words}`);
  // A new pod differs in everything.
  const changes = pod.verdict === 'started' ? [] : changeLines(pod, chalk);
  return [title, ...pod.reasons.map((reason) => `  ${reason}`), ...changes].join('\n');
}
