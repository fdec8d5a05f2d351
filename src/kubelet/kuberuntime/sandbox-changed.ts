import type {Pod} from '../../api/v1.js';
import type {NamespaceMode, PodSandboxId, PodSandboxStatus} from '../../cri/index.js';
import type {RuntimePodStatus} from '../container/pod-status.js';
import {networkNamespace} from './namespaces.js';

/** Whether a pod needs a new sandbox, and as which attempt. */
export interface SandboxDecision {
  readonly changed: boolean;
  readonly attempt: number;
  /** The newest sandbox; absent without one, and when it is of the wrong network. */
  readonly sandboxId: PodSandboxId | undefined;
}

/** Whether the newest sandbox will do: alone, ready, of the pod's network and with an address (runtimeutil.PodSandboxChanged). */
export function sandboxChanged(pod: Pod, {sandboxes}: RuntimePodStatus): SandboxDecision {
  const [newest] = sandboxes;
  if (newest === undefined) return {changed: true, attempt: 0, sandboxId: undefined};
  const {id, state, metadata, network} = newest;
  const attempt = metadata?.attempt ?? 0;
  const replaced = {changed: true, attempt: attempt + 1, sandboxId: id};
  const wanted = networkNamespace(pod);

  if (state !== 'SANDBOX_READY' || countReady(sandboxes) > 1) return replaced;
  if (networkOf(newest) !== wanted) return {...replaced, sandboxId: undefined};
  if (wanted === 'POD' && network?.ip === '') return replaced;
  return {changed: false, attempt, sandboxId: id};
}

function countReady(sandboxes: readonly PodSandboxStatus[]): number {
  return sandboxes.filter(({state}) => state === 'SANDBOX_READY').length;
}

/** A runtime that doesn't say has made the sandbox its own network. */
function networkOf({linux}: PodSandboxStatus): NamespaceMode {
  return linux?.namespaces?.options?.network ?? 'POD';
}
