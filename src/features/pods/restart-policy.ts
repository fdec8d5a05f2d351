import {findByName} from '../../base/by-name.js';
import type {Container, Pod} from '../../api/types/v1-pod.js';
import type {ContainerStatus} from '../../api/types/v1-status.js';
import type {PodManagerName} from './pod-selection-flags.js';

/** Policy by which a container that exits is started again; `unknown` if only its manager knows. */
export type RestartPolicyFact = 'Always' | 'OnFailure' | 'Never' | 'unmanaged' | 'unknown';

/** Returns the restart policy of a container of a pod. Rules on exit codes make it unknown. */
export function restartPolicyOf(pod: Pod, name: string, manager: PodManagerName): RestartPolicyFact {
  if (manager === 'none') return 'unmanaged';
  const {initContainers = [], containers, restartPolicy} = pod.spec;
  const init = findByName(initContainers, name);
  const container: Container | undefined = init ?? findByName(containers, name);
  if (container?.restartPolicyRules !== undefined) return 'unknown';
  if (container?.restartPolicy !== undefined) return container.restartPolicy;
  if (restartPolicy === undefined) return 'unknown';
  // An init container that succeeded is done, whatever the policy of the pod.
  return init !== undefined && restartPolicy === 'Always' ? 'OnFailure' : restartPolicy;
}

/** Reports whether a container that exited may be started again. */
export function mayRestart(policy: RestartPolicyFact, exitCode: number): boolean {
  if (policy === 'OnFailure') return exitCode !== 0;
  return policy === 'Always' || policy === 'unknown';
}

/** Returns the status of a container of a pod by name, init containers included. */
export function statusOfContainer({status = {}}: Pod, name: string): ContainerStatus | undefined {
  const {containerStatuses = [], initContainerStatuses = []} = status;
  return findByName([...containerStatuses, ...initContainerStatuses], name);
}
