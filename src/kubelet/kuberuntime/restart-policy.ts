import type {Container, ContainerRestartRule, Pod, RestartPolicy} from '../../api/v1.js';
import type {RuntimeContainerStatus} from '../container/pod-status.js';

/** A container's own policy, where it has one, before its pod's. */
export function effectiveRestartPolicy({spec}: Pod, container: Container): RestartPolicy {
  return container.restartPolicy ?? spec.restartPolicy ?? 'Always';
}

/** The exit code as the kubelet knows it: that of a container which hasn't exited is 0. */
export function exitCode({state, cri}: RuntimeContainerStatus): number {
  return state === 'CONTAINER_EXITED' ? cri.exitCode : 0;
}

/**
 * Whether a container that isn't running should be (kubecontainer.ShouldContainerBeRestarted). Nothing is started in
 * a pod that is being deleted.
 */
export function shouldBeStarted(
  pod: Pod,
  container: Container,
  status: RuntimeContainerStatus | undefined,
): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  if (status === undefined) return true;
  if (status.state === 'CONTAINER_RUNNING') return false;
  return status.state !== 'CONTAINER_EXITED' || restartsAfter(pod, container, exitCode(status));
}

/** Whether an exit with that code is followed by a new instance (podutil.ContainerShouldRestart). */
export function restartsAfter(pod: Pod, container: Container, code: number): boolean {
  const policy = effectiveRestartPolicy(pod, container);
  // Both actions that a rule can have restart the container. Beside no policy of its own rules count for nothing.
  if (container.restartPolicy !== undefined && matchingRule(container, code) !== undefined) return true;
  return policy === 'Always' || (policy === 'OnFailure' && code !== 0);
}

/** The first of the container's rules that the exit code meets (findMatchingContainerRestartRule). */
export function matchingRule(
  {restartPolicyRules = []}: Container,
  code: number,
): ContainerRestartRule | undefined {
  return restartPolicyRules.find(({exitCodes}) => {
    if (exitCodes === undefined) return false;
    const {operator, values = []} = exitCodes;
    return values.includes(code) !== (operator === 'NotIn');
  });
}
