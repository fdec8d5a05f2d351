import type {Pod} from '../../../../api/types/v1-pod.js';
import type {NamespaceMode, PodSandboxId, PodSandboxStatus} from '../../../../cri/index.js';
import type {RuntimePodStatus} from '../../../contract/runtime-pod-status.js';
import {networkNamespace} from '../config/namespaces.js';

/** Result of sandboxChanged: whether the pod needs a new sandbox, and its attempt number. */
export interface SandboxDecision {
  readonly changed: boolean;
  readonly attempt: number;
  /** Newest sandbox; undefined if there is none or it has the wrong network mode. */
  readonly sandboxId: PodSandboxId | undefined;
}

/**
 * Decides whether the pod needs a new sandbox (runtimeutil.PodSandboxChanged): unless the newest one is the only ready
 * one and has the pod's network mode and an IP address.
 */
export function sandboxChanged(pod: Pod, {sandboxes}: RuntimePodStatus): SandboxDecision {
  const [newest] = sandboxes;
  if (newest === undefined) return {changed: true, attempt: 0, sandboxId: undefined};
  const {id, state, metadata, network} = newest;
  const attempt = metadata?.attempt ?? 0;
  const replaced = {changed: true, attempt: attempt + 1, sandboxId: id};
  const desired = networkNamespace(pod);

  if (state !== 'SANDBOX_READY' || countReady(sandboxes) > 1) return replaced;
  if (networkOf(newest) !== desired) return {...replaced, sandboxId: undefined};
  if (desired === 'POD' && network?.ip === '') return replaced;
  return {changed: false, attempt, sandboxId: id};
}

function countReady(sandboxes: readonly PodSandboxStatus[]): number {
  return sandboxes.filter(({state}) => state === 'SANDBOX_READY').length;
}

/** Returns the network mode of a sandbox; its own network if the runtime does not report one. */
function networkOf({linux}: PodSandboxStatus): NamespaceMode {
  return linux?.namespaces?.options?.network ?? 'POD';
}
