import {hashContainer} from '../../../../api/container-hash.js';
import type {Container} from '../../../../api/types/v1-pod.js';
import type {ContainerToKill} from '../../../contract/pod-actions.js';
import type {RuntimeContainerStatus} from '../../../contract/runtime-pod-status.js';
import type {ProbeResults} from '../../../contract/probe-results.js';

/** Reason to kill a running container. */
export interface ContainerKillReason {
  readonly reason: Exclude<ContainerToKill['reason'], 'Unknown' | 'Resize'>;
  readonly text: string;
}

export const STARTUP_PROBE_FAILED: ContainerKillReason = {
  reason: 'StartupProbe',
  text: 'failed startup probe',
};

/**
 * Returns why a running container must be killed (changed definition or failed probe), or undefined if it need not be.
 */
export function computeKillReason(
  container: Container,
  {id, hash}: RuntimeContainerStatus,
  {liveness, startup}: ProbeResults,
): ContainerKillReason | undefined {
  if (hash !== hashContainer(container)) return {reason: 'Changed', text: 'definition changed'};
  if (liveness.get(id) === 'Failure') return {reason: 'LivenessProbe', text: 'failed liveness probe'};
  return startup.get(id) === 'Failure' ? STARTUP_PROBE_FAILED : undefined;
}

/** Returns the kill of a container in an unknown state, which prevents two running instances. */
export function createUnknownStateKill(what: string, {id, name}: RuntimeContainerStatus): ContainerToKill {
  return {
    id,
    name,
    message: `${what} is in "unknown" state, try killing it before restart`,
    reason: 'Unknown',
  };
}

/** Returns the kill of a container that needs a restart to get its new resources. */
export function createResizeKill({id, name}: RuntimeContainerStatus): ContainerToKill {
  return {id, name, message: `Container ${name} resize requires restart`, reason: 'Resize'};
}
