import {podRef, type PodRef} from '../../contract/pod-ref.js';
import {formatDuration} from '../../../format/duration.js';
import type {PodSourceName} from '../../contract/pod-update.js';
import type {FieldChange} from '../../sources/field-changes.js';
import type {ConfigDiff} from '../../managers/kuberuntime/diff-running-configs.js';
import type {PlannedChange} from '../planned-changes.js';
import type {PodPlan} from '../plan-pods.js';

/**
 * Effect on a pod when kcri takes the place of another kubelet:
 * - `kept`: no container stops; those that have exited start again under its restartPolicy, as under any kubelet
 * - `started`: nothing of it runs now
 * - `restarted`: running containers stop, and are started again
 * - `stopped`: running containers stop for good
 * - `preempted`: it stops for good, because a critical pod needs what it requests
 * - `leftAlone`: it belongs to no kubelet of the root directory
 * - `impossible`: kcri cannot run it, or does not accept it
 * - `unknown`: that depends on a source which could not be read
 */
export type TakeoverVerdict =
  | 'kept'
  | 'started'
  | 'restarted'
  | 'stopped'
  | 'preempted'
  | 'leftAlone'
  | 'impossible'
  | 'unknown';

/** Effect on a pod, and its reasons. */
export interface PodTakeover extends Pick<PodRef, 'namespace' | 'name' | 'uid'> {
  /** Source that has the pod; absent for a pod in no source. */
  readonly source?: PodSourceName | undefined;
  readonly verdict: TakeoverVerdict;
  /** Reasons that no field or change shows. */
  readonly reasons: readonly string[];
  /** Fields of the Pod that differ. */
  readonly fields: readonly FieldChange[];
  /** Sandbox and containers that change. */
  readonly changes: readonly PlannedChange[];
  /** Fields in which sandbox and containers differ from the running ones. */
  readonly diffs: readonly ConfigDiff[];
}

/** Returns the effect on a pod without changes. */
export function createTakeover(
  {namespace, name, uid}: PodRef,
  verdict: TakeoverVerdict,
  {source, reasons = []}: Partial<Pick<PodTakeover, 'source' | 'reasons'>> = {},
): PodTakeover {
  return {namespace, name, uid, source, verdict, reasons, fields: [], changes: [], diffs: []};
}

/** IDs of what runs now. */
export interface RunningIds {
  readonly containers: ReadonlySet<string>;
  readonly sandboxes: ReadonlySet<string>;
}

/** Returns what the plan of a pod means for its running containers. */
export function judgePlan(
  plan: PodPlan,
  running: RunningIds,
  {source, isRunning}: {readonly source: PodSourceName | undefined; readonly isRunning: boolean},
): PodTakeover {
  const {pod, fields, changes, diffs, backOffs} = plan;
  const verdict = verdictOf(plan, running, isRunning);
  const reasons = [...backOffs].map(([container, {retryAt, backOffMs = 0}]) => {
    const time = retryAt === undefined ? '' : ` at ${new Date(retryAt).toISOString()}`;
    return `container ${container} starts again${time}, after a back-off of ${formatDuration(BigInt(backOffMs) * 1_000_000n)}`;
  });
  return {...createTakeover(podRef(pod), verdict, {source, reasons}), fields, changes, diffs};
}

function verdictOf({calls}: PodPlan, running: RunningIds, isRunning: boolean): TakeoverVerdict {
  const starts = calls.some(({method}) => method === 'CreateContainer' || method === 'RunPodSandbox');
  const killsContainer = calls.some(
    ({method, request}) =>
      method === 'StopContainer' && running.containers.has(String(request['containerId'])),
  );
  const replacesSandbox =
    calls.some(({method}) => method === 'RunPodSandbox') &&
    calls.some(
      ({method, request}) =>
        method === 'StopPodSandbox' && running.sandboxes.has(String(request['podSandboxId'])),
    );
  if (killsContainer || replacesSandbox) return starts ? 'restarted' : 'stopped';
  return starts && !isRunning ? 'started' : 'kept';
}
