import type {Container, LifecycleHandler, Pod} from '../../api/v1.js';
import type {ContainerId} from '../../cri/index.js';

/** A hook of a running container: what is done right after its start or right before its stop. */
export interface LifecycleHook {
  readonly pod: Pod;
  readonly container: Container;
  readonly containerId: ContainerId;
  readonly handler: LifecycleHandler;
  /** The addresses that the runtime gives the pod's sandbox: where an HTTP hook goes that names no host. */
  readonly sandboxIps: readonly string[];
}

/**
 * Runs a hook to its end, which no time limit brings about. Gives why it failed, in the kubelet's words, or undefined.
 * Rejects only with the signal's reason.
 */
export type RunHook = (hook: LifecycleHook, signal: AbortSignal) => Promise<string | undefined>;
