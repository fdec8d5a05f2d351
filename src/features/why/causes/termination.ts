import {containersOf} from '../../../api/pod-containers.js';
import type {Finding} from '../finding.js';
import type {PodSnapshot, ProcessFacts} from '../snapshot/pod-snapshot.js';
import {quoteMessage} from './message-patterns.js';
import {clockText, describeAdvice, timeText} from './subject.js';

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
  const {isStuck = false, ...holder} = holderOf(remaining, snapshot);
  const error = snapshot.kubelet?.worker.error;
  return {
    severity: grace.isOver || isStuck ? 'problem' : 'progress',
    ...holder,
    evidence: [
      `deletion began ${timeText(grace.since, snapshot)}`,
      `grace period ${grace.seconds}s`,
      ...remaining.map(({name, process}) => `process ${process.pid} of ${name} in state ${process.state}`),
      ...(error === undefined ? [] : [`last error ${quoteMessage(error)}`]),
    ],
    next: nextStep(grace, snapshot),
  };
}

function gracePeriodOf({pod, kubelet, takenAt}: PodSnapshot): GracePeriod | undefined {
  const {deletionTimestamp, deletionGracePeriodSeconds = 0} = pod.metadata;
  const worker = kubelet?.worker.state === 'terminating' ? kubelet.worker : undefined;
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

/** Returns what keeps the pod from ending. */
function holderOf(remaining: readonly Remaining[], snapshot: PodSnapshot): Holder {
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
  const names = remaining.map(({name}) => name);
  const hooks = containersOf(snapshot.pod).filter(
    ({name, lifecycle}) => names.includes(name) && lifecycle?.preStop !== undefined,
  );
  const waits =
    names.length === 0
      ? 'no container of it is known to run'
      : `waits for ${names.join(', ')}${hooks.length === 0 ? '' : `, or for the preStop hook of ${hooks.map(({name}) => name).join(', ')},`} to end`;
  return {
    rule: 'terminating',
    cause: `the pod is being deleted; ${waits}`,
    tries: [describeAdvice(snapshot)],
  };
}

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
