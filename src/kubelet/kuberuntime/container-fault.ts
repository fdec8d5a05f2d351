import {containerHash} from '../../api/hash.js';
import type {Container} from '../../api/v1.js';
import type {ContainerToKill} from '../container/pod-actions.js';
import type {RuntimeContainerStatus} from '../container/pod-status.js';
import type {ProbeResults} from '../container/probe-results.js';

/** What is wrong with a running container. */
export interface Fault {
  readonly reason: Exclude<ContainerToKill['reason'], 'Unknown' | 'Resize'>;
  readonly text: string;
}

export const STARTUP_FAULT: Fault = {reason: 'StartupProbe', text: 'failed startup probe'};

/** Why a running container must go, or undefined when it is well: its name or image changed, or a probe failed. */
export function faultOf(
  container: Container,
  {id, hash}: RuntimeContainerStatus,
  {liveness, startup}: ProbeResults,
): Fault | undefined {
  if (hash !== containerHash(container)) return {reason: 'Changed', text: 'definition changed'};
  if (liveness.get(id) === 'Failure') return {reason: 'LivenessProbe', text: 'failed liveness probe'};
  return startup.get(id) === 'Failure' ? STARTUP_FAULT : undefined;
}

/** Nobody knows whether it runs: it is killed, lest there be two of it. */
export function killOfUnknown(what: string, {id, name}: RuntimeContainerStatus): ContainerToKill {
  return {
    id,
    name,
    message: `${what} is in "unknown" state, try killing it before restart`,
    reason: 'Unknown',
  };
}

/** It gets its new resources with its next instance. */
export function killForResize({id, name}: RuntimeContainerStatus): ContainerToKill {
  return {id, name, message: `Container ${name} resize requires restart`, reason: 'Resize'};
}
