import {omit} from '../../../base/omit.js';
import {hasEnded, type PodCondition, type PodStatus} from '../../../api/types/v1-status.js';

/** Conditions that the kubelet owns (PodConditionByKubelet). */
const OWN_CONDITIONS: ReadonlySet<string> = new Set([
  'PodScheduled',
  'Ready',
  'Initialized',
  'ContainersReady',
  'PodReadyToStartContainers',
  'PodResizePending',
  'PodResizeInProgress',
  'AllContainersRestarting',
]);

/** Condition that the kubelet shares with controllers (PodConditionSharedByKubelet). */
const SHARED_CONDITION = 'DisruptionTarget';

const READY_CONDITIONS: ReadonlySet<string> = new Set(['Ready', 'ContainersReady']);

/**
 * Returns the status to store in the API server: the computed one with what others own of the stored one. While
 * containers may run, the phase does not become terminal. A terminal phase never changes (status_manager.go
 * mergePodStatus).
 */
export function mergePodStatus(
  stored: PodStatus,
  computed: PodStatus,
  couldHaveRunningContainers: boolean,
): PodStatus {
  const endsNow = !hasEnded(stored.phase) && hasEnded(computed.phase);
  const isEarly = endsNow && couldHaveRunningContainers;
  const progress = isEarly || hasEnded(stored.phase) ? stored : computed;
  const conditions = mergedConditions(stored, computed, {
    phase: progress.phase,
    endsNow: endsNow && !isEarly,
  });
  return {
    ...omit(computed, ...PROGRESS_FIELDS),
    ...pick(progress, PROGRESS_FIELDS),
    ...pick(stored, FOREIGN_FIELDS),
    ...(conditions && {conditions}),
  };
}

/** Fields that change together. */
const PROGRESS_FIELDS = ['phase', 'reason', 'message'] as const;

/** Fields that the kubelet does not compute. */
const FOREIGN_FIELDS = [
  'nominatedNodeName',
  'resourceClaimStatuses',
  'extendedResourceClaimStatus',
  'qosClass',
] as const;

function pick(status: PodStatus, names: readonly (keyof PodStatus)[]): PodStatus {
  return Object.fromEntries(
    names.flatMap((name) => (status[name] === undefined ? [] : [[name, status[name]]])),
  );
}

/** Returns the conditions of the merged status; a rejected pod has none of the kubelet. */
function mergedConditions(
  stored: PodStatus,
  computed: PodStatus,
  {phase, endsNow}: {readonly phase: PodStatus['phase']; readonly endsNow: boolean},
): readonly PodCondition[] | undefined {
  const merged = mergeConditions(stored.conditions ?? [], computed.conditions ?? [], endsNow);
  if (computed.conditions === undefined && merged.length === 0) return undefined;
  return hasEnded(phase) ? merged.map((condition) => withoutReadiness(condition, phase)) : merged;
}

function mergeConditions(
  stored: readonly PodCondition[],
  computed: readonly PodCondition[],
  endsNow: boolean,
): readonly PodCondition[] {
  const shared = endsNow ? computed.filter(({type}) => type === SHARED_CONDITION) : [];
  const foreign = stored.filter(
    ({type}) => !OWN_CONDITIONS.has(type) && !shared.some((condition) => condition.type === type),
  );
  return [...foreign, ...shared, ...computed.filter(({type}) => OWN_CONDITIONS.has(type))];
}

function withoutReadiness(condition: PodCondition, phase: 'Succeeded' | 'Failed'): PodCondition {
  if (!READY_CONDITIONS.has(condition.type) || condition.status !== 'True') return condition;
  return {
    ...omit(condition, 'message'),
    status: 'False',
    reason: phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed',
  };
}
