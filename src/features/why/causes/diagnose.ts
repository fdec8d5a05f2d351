import {
  findContainer,
  isRestartableInitContainer,
  longRunningContainersOf,
} from '../../../api/pod-containers.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {hasEnded, type ContainerStatus} from '../../../api/types/v1-status.js';
import {findByName} from '../../../base/by-name.js';
import {restartPolicyOf} from '../../pods/restart-policy.js';
import type {Finding} from '../finding.js';
import type {PodSnapshot} from '../snapshot/pod-snapshot.js';
import {explainConfig} from './config.js';
import {explainExit} from './exit.js';
import {explainImage} from './image.js';
import {explainHook, explainRunningInit, explainWaiting} from './lifecycle.js';
import {explainOomKill} from './oom.js';
import {explainKubelet, explainReadinessGates, explainRuntime, explainStoppedSandbox} from './pod.js';
import {explainPreparation} from './preparation.js';
import {explainUnready} from './probes.js';
import {explainRejection} from './rejection.js';
import {explainStart} from './start.js';
import {
  describeAdvice,
  isNews,
  timeText,
  type ContainerRule,
  type ContainerSubject,
  type PodRule,
} from './subject.js';
import {explainTermination} from './termination.js';
import {noticeMemory, noticeThrottling} from './usage.js';
import {noticeVolumes} from './volumes.js';

/** Rules about whole pods, in the order of their priority: the first that applies explains all containers. */
const POD_RULES: readonly PodRule[] = [
  explainRejection,
  explainTermination,
  explainStoppedSandbox,
  explainPreparation,
  explainKubelet,
];

/** Rules about containers that are not well, in the order of their priority. */
const CONTAINER_RULES: readonly ContainerRule[] = [
  explainImage,
  explainConfig,
  explainHook,
  explainStart,
  explainOomKill,
  explainExit,
  explainRunningInit,
  explainUnready,
  explainWaiting,
];

/** Rules about containers that run. */
const NOTICES: readonly ContainerRule[] = [noticeThrottling, noticeMemory];

/** Rules about exits, which also explain why a container that runs again was restarted. */
const EXIT_RULES: readonly ContainerRule[] = [explainOomKill, explainStart, explainExit];

/**
 * Returns why a pod, or one container of it, is in its state, the most important cause first; an empty list if nothing is
 * wrong.
 */
export function diagnose(snapshot: PodSnapshot, container?: string): readonly Finding[] {
  const runtime = explainRuntime(snapshot);
  return [...(runtime === undefined ? [] : [runtime]), ...diagnoseState(snapshot, container)].map((finding) =>
    ofUnattended(finding, snapshot),
  );
}

/** Adds that a pod does not go on by itself if no process runs it. */
function ofUnattended(finding: Finding, {isUnattended, runsWith}: PodSnapshot): Finding {
  if (!isUnattended || runsWith === undefined || finding.severity === 'warning') return finding;
  return {...finding, severity: 'problem', tries: [...finding.tries, runsWith]};
}

/** Returns why a pod is in its state, which is the last known one if the runtime is unavailable. */
function diagnoseState(snapshot: PodSnapshot, container: string | undefined): readonly Finding[] {
  const ofPod = firstOf(POD_RULES, snapshot);
  if (ofPod !== undefined) return [ofPod];
  const subjects = subjectsOf(snapshot).filter(({name}) => container === undefined || name === container);
  const wrong = subjects.filter(isUnwell).flatMap((subject) => firstOf(CONTAINER_RULES, subject) ?? []);
  const gates = wrong.length === 0 && container === undefined ? explainReadinessGates(snapshot) : undefined;
  const notices = subjects.flatMap((subject) => [...explainRestart(subject), ...allOf(NOTICES, subject)]);
  const volumes = container === undefined ? noticeVolumes(snapshot) : undefined;
  const found = [...wrong, ...[gates, volumes].filter((finding) => finding !== undefined), ...notices];
  if (found.length > 0 || isWell(snapshot.pod, subjects)) return found;
  return [unknown(snapshot)];
}

function firstOf<T>(
  rules: readonly ((subject: T) => Finding | undefined)[],
  subject: T,
): Finding | undefined {
  for (const rule of rules) {
    const finding = rule(subject);
    if (finding !== undefined) return finding;
  }
  return undefined;
}

function allOf<T>(rules: readonly ((subject: T) => Finding | undefined)[], subject: T): readonly Finding[] {
  return rules.flatMap((rule) => rule(subject) ?? []);
}

/** Returns the containers whose state counts: up to the init container that the others wait for, or else all. */
function subjectsOf(snapshot: PodSnapshot): readonly ContainerSubject[] {
  const {pod} = snapshot;
  const {initContainerStatuses = [], containerStatuses = []} = pod.status ?? {};
  const inits = initContainerStatuses.map((status) => subjectOf(snapshot, status, true));
  const front = inits.findIndex((subject) => !isInitialized(subject));
  if (front >= 0 && !hasEnded(pod.status?.phase)) return inits.slice(0, front + 1);
  return [...inits, ...containerStatuses.map((status) => subjectOf(snapshot, status, false))];
}

function subjectOf(snapshot: PodSnapshot, status: ContainerStatus, isInit: boolean): ContainerSubject {
  const {name, state = {}, lastState = {}} = status;
  const spec = findContainer(snapshot.pod, name);
  const isSidecar = isInit && spec !== undefined && isRestartableInitContainer(spec);
  return {
    snapshot,
    name,
    kind: isSidecar ? 'sidecar' : isInit ? 'init container' : 'container',
    spec,
    status,
    facts: snapshot.containers[name] ?? {},
    exit: state.terminated ?? (state.running === undefined ? lastState.terminated : undefined),
  };
}

function isInitialized({kind, status}: ContainerSubject): boolean {
  return status.state?.terminated?.exitCode === 0 || (kind === 'sidecar' && status.started === true);
}

/** Reports whether a container does not do what it should. */
function isUnwell({kind, name, status, snapshot}: ContainerSubject): boolean {
  const {running, terminated} = status.state ?? {};
  if (running !== undefined) return kind === 'init container' || !status.ready;
  if (terminated?.exitCode !== 0) return true;
  // A container that ended with success is done, unless it should run for ever.
  const {pod, manager} = snapshot;
  const runsForEver = restartPolicyOf(pod, name, manager) === 'Always' && !hasEnded(pod.status?.phase);
  return kind !== 'init container' && runsForEver;
}

/** Explains why a container that runs was started again a short time ago. */
function explainRestart(subject: ContainerSubject): readonly Finding[] {
  const {status, snapshot} = subject;
  const {running} = status.state ?? {};
  const exit = status.lastState?.terminated;
  // An instance that the kubelet removed has no time of its end, which was just before the start of the next.
  const ended = exit?.finishedAt ?? running?.startedAt;
  if (running === undefined || exit === undefined || ended === undefined) return [];
  if (!isNews(ended, snapshot)) return [];
  const finding = firstOf(EXIT_RULES, {...subject, exit});
  if (finding === undefined) return [];
  const since =
    running.startedAt === undefined ? '' : `, since its start ${timeText(running.startedAt, snapshot)}`;
  return [{...finding, severity: 'warning', next: `it runs again${since}`}];
}

function isWell({status = {}, spec}: Pod, subjects: readonly ContainerSubject[]): boolean {
  if (status.phase === 'Succeeded') return true;
  const needed = longRunningContainersOf({spec});
  const isDone = ({state = {}}: ContainerStatus): boolean => state.terminated?.exitCode === 0;
  return (
    needed.length > 0 &&
    subjects.every(({status: each, kind}) => each.ready || isDone(each) || kind === 'init container') &&
    needed.every(
      ({name}) =>
        findByName(status.containerStatuses ?? [], name) ??
        findByName(status.initContainerStatuses ?? [], name),
    )
  );
}

/** Says that no cause was found, and what was looked at. */
function unknown(snapshot: PodSnapshot): Finding {
  const {pod, sandbox, events, kubelet} = snapshot;
  const {phase = 'unknown', reason = '', message = ''} = pod.status ?? {};
  return {
    rule: 'unknown',
    severity: 'problem',
    cause: 'unknown: the pod is not ready, and no known cause matches',
    evidence: [
      `phase ${phase}${reason === '' ? '' : `, ${reason}`}${message === '' ? '' : `: ${message}`}`,
      `looked at: sandbox (${sandbox ?? 'none'}), ${pod.status?.containerStatuses?.length ?? 0} container statuses, ${events.length} events, ${kubelet === undefined ? 'no kcri kubelet' : "the kubelet's report"}`,
    ],
    tries: [describeAdvice(snapshot)],
  };
}
