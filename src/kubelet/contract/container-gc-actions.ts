import type {PodSandboxId} from '../../cri/index.js';
import type {RuntimeContainerStatus} from './runtime-pod-status.js';

/** Containers and sandboxes of one pod that container GC removes. */
export interface ContainerGcActions {
  readonly containers: readonly RuntimeContainerStatus[];
  readonly sandboxes: readonly PodSandboxId[];
}
