import type {Container, LifecycleHandler, Pod} from '../../api/types/v1-pod.js';
import type {ContainerId} from '../../cri/index.js';

/** A lifecycle hook of a running container, run right after its start or right before its stop. */
export interface LifecycleHook {
  readonly pod: Pod;
  readonly container: Container;
  readonly containerId: ContainerId;
  readonly handler: LifecycleHandler;
  /** IP addresses of the pod's sandbox: the target of an HTTP hook that names no host. */
  readonly sandboxIps: readonly string[];
}

/**
 * Runs a hook without a time limit. Resolves with the reason of its failure, in the kubelet's wording, or undefined.
 * Rejects only with the signal's reason.
 */
export type RunHook = (hook: LifecycleHook, signal: AbortSignal) => Promise<string | undefined>;
