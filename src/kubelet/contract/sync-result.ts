import {goQuote} from '../../format/go-quote.js';

/** Action of a sync on one sandbox or container (kubecontainer.SyncAction). */
export type SyncAction =
  | 'CreatePodSandbox'
  | 'CheckPodSandbox'
  | 'ConfigPodSandbox'
  | 'StartContainer'
  | 'InitContainer'
  | 'KillContainer'
  | 'KillPodSandbox'
  | 'RemoveContainer'
  | 'ResizePodInPlace'
  | 'SetUpNode';

/** Failure reason of a sync step, in the kubelet's wording; it becomes the waiting reason of a container. */
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
  | 'VolumeAttachmentLimitExceeded'
  | 'FailedMapVolume'
  | 'VolumeResizeFailed'
  | 'NetworkNotReady'
  /** A field that kcri lacks; a kubelet has no such reason. */
  | 'PodFeatureUnsupported';

/** An expected failure of a sync step: a value, not an exception. */
export interface SyncFailure {
  readonly reason: SyncFailureReason;
  readonly message: string;
  /** Underlying error, if any, from which a hint for users is derived. */
  readonly cause?: unknown;
  /** Earliest time of the next attempt in a back-off, in ms since the epoch. */
  readonly retryAt?: number;
  /** Length of the whole back-off, in milliseconds. */
  readonly backOffMs?: number;
  /** True if a limit of kcri prevented the attempt: a later retry can succeed. */
  readonly transient?: boolean;
}

/** Result of one step of a sync. */
export interface SyncResult {
  readonly action: SyncAction;
  /** Name of the container or pod; the pod's UID when sandboxes are stopped. */
  readonly target: string;
  readonly failure?: SyncFailure;
  /** Time until which the sandbox of CheckPodSandbox may be ending, in ms since the epoch; undefined if it has ended. */
  readonly settlesAt?: number | undefined;
}

/** Returns the failed results, in order. */
export function failuresOf(
  results: readonly SyncResult[],
): readonly (SyncResult & {readonly failure: SyncFailure})[] {
  return results.filter(
    (result): result is SyncResult & {readonly failure: SyncFailure} => result.failure !== undefined,
  );
}

/** Formats failures as the kubelet does (PodSyncResult.Error): `[first, second]`, without duplicates. */
export function syncErrorText(failures: readonly (SyncResult & {readonly failure: SyncFailure})[]): string {
  const texts = failures.map(
    ({action, target, failure: {reason, message}}) =>
      `failed to ${goQuote(action)} for ${goQuote(target)} with ${reason}: ${goQuote(message)}`,
  );
  const [first = '', ...others] = new Set(texts);
  return others.length === 0 ? first : `[${[first, ...others].join(', ')}]`;
}
