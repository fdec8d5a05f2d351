import {hasEnded} from '../../api/types/v1-status.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import type {NodePod} from './describe-node.js';
import {PodReader} from '../pods/pod-reader.js';

/** Returns the pods that have not ended, with their total resources. */
export async function readNodePods(services: RuntimeContext): Promise<readonly NodePod[]> {
  const {podLimits, podRequests} = await import('../../kubelet/index.js');
  const reader = new PodReader(services);
  const observed = await reader.observe(await reader.select([], {}));
  return observed
    .filter(({pod}) => !hasEnded(pod.status?.phase))
    .map(({pod}) => ({pod, requests: podRequests(pod), limits: podLimits(pod)}));
}
