import {findMatchingRestartRule} from '../../../../api/restart-rules.js';
import type {Container, Pod, RestartPolicy} from '../../../../api/types/v1-pod.js';
import type {RuntimeContainerStatus} from '../../../contract/runtime-pod-status.js';

/** Returns the restart policy of a container: its own, or the pod's. */
export function effectiveRestartPolicy({spec}: Pod, container: Container): RestartPolicy {
  return container.restartPolicy ?? spec.restartPolicy ?? 'Always';
}

/** Returns the exit code of a container; like in the kubelet, 0 if it has not exited. */
export function exitCode({state, cri}: RuntimeContainerStatus): number {
  return state === 'CONTAINER_EXITED' ? cri.exitCode : 0;
}

/**
 * Reports whether a container that is not running should be started (kubecontainer.ShouldContainerBeRestarted). Nothing
 * is started in a pod that is being deleted.
 */
export function shouldStartContainer(
  pod: Pod,
  container: Container,
  status: RuntimeContainerStatus | undefined,
): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  if (status === undefined) return true;
  if (status.state === 'CONTAINER_RUNNING') return false;
  return status.state !== 'CONTAINER_EXITED' || shouldRestartAfterExit(pod, container, exitCode(status));
}

/** Reports whether a container restarts after an exit with this code (podutil.ContainerShouldRestart). */
export function shouldRestartAfterExit(pod: Pod, container: Container, code: number): boolean {
  const policy = effectiveRestartPolicy(pod, container);
  // Both actions of rules restart the container. Rules only apply if the container has its own restart policy.
  if (container.restartPolicy !== undefined && findMatchingRestartRule(container, code) !== undefined)
    return true;
  return policy === 'Always' || (policy === 'OnFailure' && code !== 0);
}
