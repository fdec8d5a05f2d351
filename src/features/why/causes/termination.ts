import {containersOf, findContainer} from '../../../api/pod-containers.js';
import {shellQuote} from '../../../base/shell-quote.js';
import type {RecordedEvent} from '../../../kubelet/index.js';
import {statusOfContainer} from '../../pods/restart-policy.js';
import type {Finding} from '../finding.js';
import type {PodSnapshot, ProcessFacts} from '../snapshot/pod-snapshot.js';
import {wantedHolders} from '../snapshot/wanted-holders.js';
import {holderText, isPath} from './holders.js';
import {quoteMessage} from './message-patterns.js';
import {clockText, describeAdvice, eventsOf, eventText, isSince, timeText} from './subject.js';

/** A container of a pod that is being deleted, whose main process has not ended. */
interface Remaining {
  readonly name: string;
  readonly process: ProcessFacts;
}

/** Begin and end of the grace period. */
interface GracePeriod {
  readonly since: string;
  readonly seconds: number;
  /** Time at which the processes are killed. */
  readonly killAt: string;
  readonly isOver: boolean;
}

type Holder = Pick<Finding, 'rule' | 'cause' | 'inferredFrom' | 'tries'> & {readonly isStuck?: boolean};

/** Explains a pod that is being deleted. */
export function explainTermination(snapshot: PodSnapshot): Finding | undefined {
  const grace = gracePeriodOf(snapshot);
  if (grace === undefined || snapshot.pod.status?.phase === 'Succeeded') return undefined;
  const remaining = Object.entries(snapshot.containers).flatMap(([name, {process}]) =>
    process === undefined ? [] : [{name, process}],
  );
  const {isStuck = false, ...holder} = holderOf(remaining, grace, snapshot);
  const error = snapshot.kubelet?.worker.error;
  return {
    severity: grace.isOver || isStuck ? 'problem' : 'progress',
    ...holder,
    evidence: [
      `deletion began ${timeText(grace.since, snapshot)}`,
      `grace period ${grace.seconds}s`,
      ...remaining.map(({name, process}) => `process ${process.pid} of ${name} in state ${process.state}`),
      ...remaining.flatMap(({process: {stack = []}}) =>
        stack.length === 0 ? [] : [`its stack in the kernel: ${stack.join(' < ')}`],
      ),
      ...hookEvidence(remaining, grace, snapshot),
      ...(error === undefined ? [] : [`last error ${quoteMessage(error)}`]),
    ],
    next: nextStep(grace, snapshot),
  };
}

function gracePeriodOf({pod, kubelet, takenAt}: PodSnapshot): GracePeriod | undefined {
  const {deletionTimestamp, deletionGracePeriodSeconds = 0} = pod.metadata;
  const worker = kubelet !== undefined && isEnding(kubelet.worker) ? kubelet.worker : undefined;
  const seconds = worker?.gracePeriodSeconds ?? deletionGracePeriodSeconds;
  // The deletion timestamp of a pod is the end of its grace period.
  const killMs =
    worker?.terminatingAt === undefined
      ? Date.parse(deletionTimestamp ?? '')
      : Date.parse(worker.terminatingAt) + seconds * 1000;
  if (!Number.isFinite(killMs)) return undefined;
  return {
    since: new Date(killMs - seconds * 1000).toISOString(),
    seconds,
    killAt: new Date(killMs).toISOString(),
    isOver: killMs < Date.parse(takenAt),
  };
}

/** Reports whether the kubelet ends a pod: its processes, or, with an error, its volumes and directories. */
function isEnding({state, error}: NonNullable<PodSnapshot['kubelet']>['worker']): boolean {
  return state === 'terminating' || (state === 'terminated' && error !== undefined);
}

/** Returns the containers with a preStop hook. */
function hooked(remaining: readonly Remaining[], {pod}: PodSnapshot): readonly string[] {
  return remaining
    .map(({name}) => name)
    .filter((name) => findContainer(pod, name)?.lifecycle?.preStop !== undefined);
}

/** Returns what is known about the preStop hooks: only their failures are events. */
function hookEvidence(
  remaining: readonly Remaining[],
  {since}: GracePeriod,
  snapshot: PodSnapshot,
): readonly string[] {
  return hooked(remaining, snapshot).map((name) => {
    const event = failedHook(name, since, snapshot);
    return event === undefined
      ? `the preStop hook of ${name} runs or has succeeded: no failure is reported`
      : `the preStop hook of ${name} failed: ${eventText(event, snapshot)}, ${quoteMessage(event.message)}`;
  });
}

/** Returns the event about a preStop hook that failed in this deletion. */
function failedHook(name: string, since: string, snapshot: PodSnapshot): RecordedEvent | undefined {
  return eventsOf(snapshot, name, 'FailedPreStopHook').find((event) => isSince(event, wholeSeconds(since)));
}

/** Times of events have whole seconds. */
const wholeSeconds = (time: string): string => time.replace(/\.\d+Z$/, 'Z');

/** Returns what keeps the pod from ending. */
function holderOf(remaining: readonly Remaining[], {since}: GracePeriod, snapshot: PodSnapshot): Holder {
  const blocked = remaining.find(({process}) => process.state === 'D');
  if (blocked !== undefined) return blockedHolder(blocked);
  const deaf = remaining.find(({process}) => process.ignoresTerm);
  if (deaf !== undefined)
    return {
      rule: 'ignores-sigterm',
      cause: `the pod is being deleted, and the main process of container ${deaf.name} ignores SIGTERM`,
      inferredFrom:
        'its signal masks in /proc: the first process of a PID namespace gets no signal that it has no handler for',
      tries: [
        'handle SIGTERM in the program, or start it with an init process',
        'or lower terminationGracePeriodSeconds',
      ],
    };
  const rest = remaining.length === 0 ? restHolder(snapshot) : undefined;
  if (rest !== undefined) return rest;
  const names = remaining.map(({name}) => name);
  const hooks = hooked(remaining, snapshot).filter((name) => failedHook(name, since, snapshot) === undefined);
  const waits =
    names.length === 0
      ? 'no container of it is known to run'
      : `waits for ${names.join(', ')}${hooks.length === 0 ? '' : `, or for the preStop hook of ${hooks.join(', ')},`} to end`;
  return {
    rule: 'terminating',
    cause: `the pod is being deleted; ${waits}`,
    tries: [describeAdvice(snapshot)],
  };
}

/** Returns what keeps a pod without processes. */
function restHolder(snapshot: PodSnapshot): Holder | undefined {
  return busyHolder(snapshot) ?? apiHolder(snapshot);
}

function busyHolder(snapshot: PodSnapshot): Holder | undefined {
  if (!/\bbusy\b/.test(snapshot.kubelet?.worker.error ?? '')) return undefined;
  return {
    rule: 'mount-busy',
    cause: `the pod is being deleted, and one of its mounts is in use${holderText(snapshot, isPath)}`,
    inferredFrom: 'the error of the last attempt to unmount it',
    tries: wantedHolders(snapshot).paths.map((path) => `fuser -vm ${shellQuote(path)}`),
    isStuck: true,
  };
}

function apiHolder({pod, kubelet}: PodSnapshot): Holder | undefined {
  const {finalizers = [], deletionTimestamp} = pod.metadata;
  const runs = containersOf(pod).some(({name}) => statusOfContainer(pod, name)?.state?.running !== undefined);
  if (deletionTimestamp === undefined || runs) return undefined;
  if (finalizers.length === 0) return kubelet?.worker.state === 'finished' ? UNDELETED : undefined;
  return {
    rule: 'finalizers',
    cause: `the containers of the pod have ended, and the API server keeps the pod until its finalizers are removed: ${finalizers.join(', ')}`,
    tries: ['check the controllers that own the finalizers: each removes its own when it is done'],
  };
}

/** Holder of a pod whose kubelet has done all its work. */
const UNDELETED: Holder = {
  rule: 'not-deleted-by-api-server',
  cause:
    'everything of the pod on this node has ended, and its Pod object still exists: the API server is not reachable, or has not deleted it',
  inferredFrom: 'the state of the pod in the kubelet',
  tries: [{kcri: ['doctor', '--only', 'kubelet']}, 'kubectl get pod -o yaml'],
};

function blockedHolder({name, process: {pid, sleepsIn}}: Remaining): Holder {
  const where = sleepsIn === '' ? '' : `, in ${sleepsIn}`;
  return {
    rule: 'process-blocked',
    cause: `the pod is being deleted, and the main process of container ${name} waits inside the kernel${where}: no signal ends it`,
    inferredFrom: 'its state D in /proc',
    tries: [`cat /proc/${pid}/stack`, 'check the disk or network file system that it waits for'],
    isStuck: true,
  };
}

function nextStep({killAt, isOver}: GracePeriod, {takenAt}: PodSnapshot): string {
  const at = clockText(killAt, takenAt);
  return isOver ? `its processes should have ended at ${at}` : `its processes are killed at ${at}`;
}
