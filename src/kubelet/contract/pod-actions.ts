import type {Container, EphemeralContainer} from '../../api/types/v1-pod.js';
import type {ContainerId, PodSandboxId} from '../../cri/index.js';
import type {RuntimeContainerStatus} from './runtime-pod-status.js';
import type {ResizeActions} from './resources/resize-actions.js';

/** A running container to kill, and the reason. */
export interface ContainerToKill {
  readonly id: ContainerId;
  readonly name: string;
  /** Message of its Killing event. */
  readonly message: string;
  readonly reason: 'Unknown' | 'Changed' | 'LivenessProbe' | 'StartupProbe' | 'Resize';
}

/** An instance to remove for a restart of all containers of the pod. */
export interface ContainerToReset {
  readonly instance: RuntimeContainerStatus;
  /** True if it has not exited and must be killed first. */
  readonly kill: boolean;
}

/** Actions of one sync of a pod (kuberuntime podActions), computed by computePodActions and carried out by syncPod. */
export interface PodActions {
  /** True to stop all running containers and sandboxes; without `createSandbox` the pod has finished. */
  readonly killPod: boolean;
  readonly createSandbox: boolean;
  /** ID of the newest sandbox; undefined without one. */
  readonly sandboxId: PodSandboxId | undefined;
  /** Attempt of the sandbox to create, or of the current one. */
  readonly attempt: number;
  /** Ephemeral containers to start, before the others; they never start again. */
  readonly ephemeralContainersToStart: readonly EphemeralContainer[];
  readonly initContainersToStart: readonly Container[];
  /** Containers to start, in the Pod's order. */
  readonly containersToStart: readonly Container[];
  readonly containersToKill: readonly ContainerToKill[];
  /** Instances in order of removal; the next sync starts the containers. */
  readonly containersToReset: readonly ContainerToReset[];
  /** In-place resize, done before any container starts; undefined without one. */
  readonly resize: ResizeActions | undefined;
}

/** Returns the containers to start, in their order. */
function listStarts(actions: PodActions): readonly Container[] {
  return [
    ...actions.ephemeralContainersToStart,
    ...actions.initContainersToStart,
    ...actions.containersToStart,
  ];
}

/** Reports whether there is nothing to do. */
export function isIdle(actions: PodActions): boolean {
  return (
    !actions.killPod &&
    !actions.createSandbox &&
    actions.containersToKill.length === 0 &&
    actions.containersToReset.length === 0 &&
    actions.resize === undefined &&
    listStarts(actions).length === 0
  );
}
