import type {Pod} from '../../../api/types/v1-pod.js';
import type {PodStatus} from '../../../api/types/v1-status.js';
import type {PodActions} from '../../contract/pod-actions.js';
import type {ProbeResults} from '../../contract/probe-results.js';
import type {RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import {
  computePodActions,
  type ComputePodActionsOptions,
} from '../../managers/kuberuntime/compute/compute-pod-actions.js';
import {isRestartingAllContainers} from '../../managers/kuberuntime/compute/restart-all-containers.js';

/** Observed state of a pod. */
interface PodState {
  readonly runtime: RuntimePodStatus;
  readonly status: PodStatus;
}

/** Computes the actions due for a pod that has not terminated and has this status. */
export function computeActions(
  pod: Pod,
  {runtime, status, actuated}: PodState & Pick<ComputePodActionsOptions, 'actuated'>,
  probes: ProbeResults,
): PodActions {
  return computePodActions(pod, runtime, probes, {
    restartAllContainers: isRestartingAllContainers(status),
    actuated,
  });
}
