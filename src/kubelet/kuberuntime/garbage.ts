import type {PodSandboxId} from '../../cri/index.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from '../container/pod-status.js';
import {isDead, olderDead} from './remove-container.js';

/** What of a pod in the runtime nobody needs any more. */
export interface Garbage {
  readonly containers: readonly RuntimeContainerStatus[];
  readonly sandboxes: readonly PodSandboxId[];
}

/**
 * Which dead containers and sandboxes of a pod go (kuberuntime_gc.go, with the kubelet's defaults): those of a pod that
 * isn't wanted any more all, of any other all but the newest of each container, and all but the newest sandbox. A
 * sandbox that has containers stays.
 */
export function garbageOf(status: RuntimePodStatus, {isUnwanted}: {readonly isUnwanted: boolean}): Garbage {
  const containers = isUnwanted ? status.containers.filter(isDead) : olderDead(status, () => true);
  const gone = new Set(containers);
  const inUse = new Set(status.containers.filter((item) => !gone.has(item)).map(({sandboxId}) => sandboxId));
  const inactive = status.sandboxes.filter(({id, state}) => state !== 'SANDBOX_READY' && !inUse.has(id));
  const [newest] = status.sandboxes;
  const sandboxes = isUnwanted ? inactive : inactive.filter((sandbox) => sandbox !== newest);
  return {containers, sandboxes: sandboxes.map(({id}) => id)};
}
