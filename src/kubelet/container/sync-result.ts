import {goQuote} from '../../format/go-quote.js';

/** What a sync tried to do, for one sandbox or container (kubecontainer.SyncAction). */
export type SyncAction =
  | 'CreatePodSandbox'
  | 'ConfigPodSandbox'
  | 'StartContainer'
  | 'InitContainer'
  | 'KillContainer'
  | 'KillPodSandbox'
  | 'RemoveContainer'
  | 'ResizePodInPlace'
  | 'SetUpNode';

/** Why a step of a sync failed, in the kubelet's words: these become the waiting reasons of containers. */
export type SyncFailureReason =
  | 'CrashLoopBackOff'
  | 'ImagePullBackOff'
  | 'ErrImagePull'
  | 'ErrImageNeverPull'
  | 'InvalidImageName'
  | 'ImageInspectError'
  | 'RegistryUnavailable'
  | 'SignatureValidationFailed'
  | 'CreateContainerConfigError'
  | 'CreateContainerError'
  | 'RunContainerError'
  | 'PostStartHookError'
  | 'KillContainerError'
  | 'RemoveContainerError'
  | 'CreatePodSandboxError'
  | 'ConfigPodSandboxError'
  | 'KillPodSandboxError'
  | 'ResizePodInPlaceError'
  | 'FailedCreatePodContainer'
  | 'Failed'
  | 'FailedMount'
  | 'NetworkNotReady';

/** A failure that is an expected outcome of a sync: a value, not an exception. */
export interface SyncFailure {
  readonly reason: SyncFailureReason;
  readonly message: string;
  /** The fault below it, when there is one: what a person is shown a hint of. */
  readonly cause?: unknown;
  /** For back-offs: when the next attempt may start, in milliseconds since the epoch. */
  readonly retryAt?: number;
  /** For back-offs: how long this one is as a whole, in milliseconds. */
  readonly backOffMs?: number;
  /** Nothing was tried yet, because of a limit of kcri's own: trying again later can succeed. */
  readonly transient?: boolean;
}

/** One step of a sync and how it went. */
export interface SyncResult {
  readonly action: SyncAction;
  /** The container's or pod's name; the pod's UID when sandboxes are stopped. */
  readonly target: string;
  readonly failure?: SyncFailure;
}

/** The failures among the results, in order. */
export function failuresOf(
  results: readonly SyncResult[],
): readonly (SyncResult & {readonly failure: SyncFailure})[] {
  return results.filter(
    (result): result is SyncResult & {readonly failure: SyncFailure} => result.failure !== undefined,
  );
}

/** All failures as a kubelet tells of them together (PodSyncResult.Error): `[first, second]`, each once. */
export function syncErrorText(failures: readonly (SyncResult & {readonly failure: SyncFailure})[]): string {
  const texts = failures.map(
    ({action, target, failure: {reason, message}}) =>
      `failed to ${goQuote(action)} for ${goQuote(target)} with ${reason}: ${goQuote(message)}`,
  );
  const [first = '', ...others] = new Set(texts);
  return others.length === 0 ? first : `[${[first, ...others].join(', ')}]`;
}
