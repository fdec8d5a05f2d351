import type {PodStatus} from '../../../../../src/api/types/v1-status.js';
import {
  computePodStatus,
  type PodStatusInput,
} from '../../../../../src/kubelet/pods/status/compute/pod-status.js';
import {aPod} from '../../../../fakes/a-pod.js';
import {anInstance, aRuntimePod} from '../../../../fakes/a-runtime-pod.js';

/** Computes the status of a pod, by default of aPod's pod whose container is running, without a previous status. */
export function computeStatus(input: Partial<PodStatusInput> = {}): PodStatus {
  return computePodStatus({
    pod: aPod(),
    runtime: aRuntimePod([anInstance('main', 'CONTAINER_RUNNING')]),
    reasons: new Map(),
    previous: undefined,
    node: {nodeIps: [], hostIps: {current: ['192.0.2.2']}, runtime: {handlers: new Map()}},
    runtimeName: 'containerd',
    now: 0,
    ...input,
  });
}
