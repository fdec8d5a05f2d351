import type {Container} from '../../api/v1.js';
import type {ContainerId, PodSandboxId} from '../../cri/index.js';
import type {RuntimeContainerStatus} from './pod-status.js';
import type {ResizeActions} from './resize-actions.js';

/** A running container that has to go, and why. */
export interface ContainerToKill {
  readonly id: ContainerId;
  readonly name: string;
  /** The text of its Killing event. */
  readonly message: string;
  readonly reason: 'Unknown' | 'Changed' | 'LivenessProbe' | 'StartupProbe' | 'Resize';
}

/** An instance that goes because all of its pod begins anew. */
export interface ContainerToReset {
  readonly instance: RuntimeContainerStatus;
  /** It hasn't exited: it is killed first. */
  readonly kill: boolean;
}

/** What one sync of a pod has to do (kuberuntime podActions): decided by computePodActions, carried out by syncPod. */
export interface PodActions {
  /** Stop every running container and every sandbox; without `createSandbox` the pod has finished. */
  readonly killPod: boolean;
  readonly createSandbox: boolean;
  /** The newest sandbox, if there is one. */
  readonly sandboxId: PodSandboxId | undefined;
  /** The attempt of the sandbox to create, or of the present one. */
  readonly attempt: number;
  readonly initContainersToStart: readonly Container[];
  /** In the Pod's order. */
  readonly containersToStart: readonly Container[];
  readonly containersToKill: readonly ContainerToKill[];
  /** In the order in which they go; the sync after that starts afresh. */
  readonly containersToReset: readonly ContainerToReset[];
  /** Before any container is started; undefined when nothing is. */
  readonly resize: ResizeActions | undefined;
}

/** Whether there is nothing to be done. */
export function isIdle(actions: PodActions): boolean {
  return (
    !actions.killPod &&
    !actions.createSandbox &&
    actions.containersToKill.length === 0 &&
    actions.containersToReset.length === 0 &&
    actions.resize === undefined &&
    actions.containersToStart.length === 0 &&
    actions.initContainersToStart.length === 0
  );
}
