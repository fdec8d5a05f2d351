import type {Pod} from '../../api/types/v1-pod.js';
import {
  hasEnded,
  type ContainerStateTerminated,
  type ContainerStatus,
  type PodCondition,
} from '../../api/types/v1-status.js';
import {UsageError} from '../../base/errors.js';
import type {ListedPod} from '../pods/listed-pod.js';
import {computePodRow} from '../pods/pod-row.js';
import {mayRestart, restartPolicyOf, statusOfContainer} from '../pods/restart-policy.js';

/** Result of comparing a target with the condition that a command waits for. */
export type Judgement =
  | {readonly kind: 'met'}
  | {
      readonly kind: 'pending';
      /** Current state, for the error of a time limit. */
      readonly state: string;
    }
  | {
      readonly kind: 'failed';
      /** Reason why the condition can no longer be met. */
      readonly reason: string;
    };

/** Condition by type and status, as in kubectl. */
export interface WantedCondition {
  readonly type: string;
  readonly value: string;
}

/** A pod with its status, as listed. */
export interface SeenPod {
  readonly listed: ListedPod;
  readonly pod: Pod;
  /** Time of the observation, in ms since the epoch. */
  readonly nowMs: number;
}

/** Conditions that a pod that has ended or lacks a container no longer meets. */
const OF_RUNNING_PODS = new Set(['ready', 'containersready']);

/** Conditions of a container; a status has these fields. */
const OF_CONTAINERS = {ready: 'Ready', started: 'Started'} as const;

/** Throws UsageError unless containers have the condition. */
export function checkContainerCondition({type}: WantedCondition): void {
  if (Object.hasOwn(OF_CONTAINERS, type.toLowerCase())) return;
  throw new UsageError(`containers have no condition "${type}"`, {
    hint: `use ${Object.values(OF_CONTAINERS).join(' or ')}, or name the pod`,
  });
}

/** Returns whether a pod has a condition. Names and values are compared without case, as kubectl does. */
export function judgePodCondition(seen: SeenPod, wanted: WantedCondition): Judgement {
  const {pod, listed} = seen;
  const condition = conditionsOf(seen).find(({type}) => isSame(type, wanted.type));
  if (condition !== undefined && isSame(condition.status, wanted.value)) return {kind: 'met'};
  const impossible =
    OF_RUNNING_PODS.has(wanted.type.toLowerCase()) && isSame(wanted.value, 'true')
      ? whyNeverReady(seen)
      : undefined;
  if (impossible !== undefined) return {kind: 'failed', reason: impossible};
  const known = conditionsOf(seen).map(({type}) => type);
  const missing =
    condition === undefined
      ? listed.manager === 'kcri'
        ? `no such condition yet (${known.join(', ')})`
        : `the runtime does not report this condition (only ${known.join(', ')})`
      : conditionText(condition);
  return {
    kind: 'pending',
    state: joined([podState(pod, seen.nowMs), missing], ': '),
  };
}

/** Returns whether a container has a condition. A running container without probes is ready. */
export function judgeContainerCondition(seen: SeenPod, name: string, wanted: WantedCondition): Judgement {
  const status = statusOfContainer(seen.pod, name);
  const isStarted = wanted.type.toLowerCase() === 'started';
  const runs = status?.state?.running !== undefined;
  const holds = isStarted ? (status?.started ?? runs) : status?.ready === true;
  if (isSame(String(holds), wanted.value)) return {kind: 'met'};
  if (isSame(wanted.value, 'true')) {
    const reason = whyNeverRuns(seen, name);
    if (reason !== undefined) return {kind: 'failed', reason};
  }
  return {kind: 'pending', state: containerState(status)};
}

/** Returns the reason why a container does not run again; undefined if it may. */
export function whyNeverRuns({pod, listed}: SeenPod, name: string): string | undefined {
  const status = statusOfContainer(pod, name);
  const ended = status?.state?.terminated;
  const {phase} = pod.status ?? {};
  if (ended === undefined) return hasEnded(phase) ? `its pod has ended (${phase})` : undefined;
  const policy = restartPolicyOf(pod, name, listed.manager);
  if (mayRestart(policy, ended.exitCode) && !hasEnded(phase)) return undefined;
  const why =
    policy === 'unmanaged'
      ? 'nothing manages it'
      : policy === 'unknown'
        ? `its pod has ended (${phase ?? ''})`
        : `restartPolicy is ${policy}`;
  return `${containerState(status)}, and is not restarted: ${why}`;
}

/** Returns the state of a container for people: `running, not ready` or `exited with 1 (Error)`. */
export function containerState(status: ContainerStatus | undefined): string {
  const {running, terminated, waiting} = status?.state ?? {};
  if (terminated !== undefined) return exitText(terminated);
  if (running !== undefined) return status?.ready === true ? 'running' : 'running, not ready';
  return waiting === undefined ? 'not created' : joined([waiting.reason, waiting.message], ': ');
}

function exitText({exitCode, reason = ''}: ContainerStateTerminated): string {
  return `exited with ${exitCode}${reason === '' || reason === 'Completed' ? '' : ` (${reason})`}`;
}

function joined(parts: readonly (string | undefined)[], separator: string): string {
  return parts.filter((part) => part !== undefined && part !== '').join(separator);
}

/** Returns the state of a pod for people: its status and ready containers, as in `get pods`. */
export function podState(pod: Pod, nowMs: number): string {
  const {status, ready} = computePodRow(pod, nowMs);
  return `${status}, ${ready} containers ready`;
}

/** Returns the reason why a pod never becomes ready; undefined if it may. */
function whyNeverReady(seen: SeenPod): string | undefined {
  const {pod, listed} = seen;
  if (hasEnded(pod.status?.phase)) return endOf(pod);
  const failed = pod.spec.containers
    .map(({name}) => ({name, reason: whyNeverRuns(seen, name)}))
    .find(({reason}) => reason !== undefined);
  if (failed !== undefined) return `container "${failed.name}" ${failed.reason ?? ''}`;
  const isStopped = listed.manager === 'none' && listed.inRuntime?.sandboxes[0].state === 'SANDBOX_NOTREADY';
  return isStopped ? 'its sandbox is stopped, and nothing manages it' : undefined;
}

/** Returns how a pod has ended: its phase, and its reason or the exits of its containers. */
function endOf({status = {}}: Pod): string {
  const {phase = '', reason, message, containerStatuses = []} = status;
  const exits = containerStatuses
    .filter(({state}) => state?.terminated !== undefined)
    .map((each) => `container "${each.name}" ${containerState(each)}`);
  return joined([`it has ended (${phase})`, reason, message, exits.join(', ')], ': ');
}

/** Returns the conditions of a pod: reported ones, or those that follow from what the runtime knows. */
function conditionsOf({pod, listed}: SeenPod): readonly PodCondition[] {
  const {conditions, containerStatuses = []} = pod.status ?? {};
  if (conditions !== undefined && conditions.length > 0) return conditions;
  if (listed.inRuntime === undefined) return [];
  const isReady = listed.inRuntime.sandboxes[0].state === 'SANDBOX_READY';
  const unready = containerStatuses.filter(({ready}) => !ready).map(({name}) => name);
  const areReady = isReady && containerStatuses.length > 0 && unready.length === 0;
  const message = unready.length === 0 ? undefined : `containers with unready status: [${unready.join(' ')}]`;
  const condition = (type: string, holds: boolean): PodCondition => ({
    type,
    status: holds ? 'True' : 'False',
    ...(!holds && message !== undefined && type !== 'PodReadyToStartContainers' && {message}),
  });
  return [
    condition('PodReadyToStartContainers', isReady),
    condition('ContainersReady', areReady),
    condition('Ready', areReady),
  ];
}

function conditionText({type, status, reason, message}: PodCondition): string {
  const details = joined([reason, message], ', ');
  return `${type} is ${status}${details === '' ? '' : ` (${details})`}`;
}

function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
