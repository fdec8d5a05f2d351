import {SystemError} from '../../../base/errors.js';
import {AttachLimitError} from './attach-limit-error.js';

/** Reports the volumes of a pod that failed to mount; message, cause and hint are those of the first failure. Each has had its event. */
export class MountError extends SystemError {
  readonly failures: readonly [SystemError, ...SystemError[]];
  /** Time at which the first failed volume is due again, in ms of the monotonic clock; undefined if none has failed. */
  readonly retryAt: number | undefined;

  constructor(failures: readonly [SystemError, ...SystemError[]], retryAt: number | undefined) {
    const [{message, cause, hint}] = failures;
    super(message, {cause, hint});
    this.failures = failures;
    this.retryAt = retryAt;
  }
}

/** Failure to map a block volume, for which the kubelet has an event of its own: FailedMapVolume. */
export class MapError extends SystemError {}

/** Failure to enlarge a volume that is mounted, for which the kubelet has an event of its own: VolumeResizeFailed. */
export class ResizeError extends SystemError {}

/** Returns the reason of the kubelet's event for a volume that cannot be used, or not be enlarged. */
export function mountFailureReason(error: SystemError) {
  if (error instanceof AttachLimitError) return AttachLimitError.reason;
  if (error instanceof ResizeError) return 'VolumeResizeFailed';
  return error instanceof MapError ? 'FailedMapVolume' : 'FailedMount';
}
