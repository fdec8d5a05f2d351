import {SystemError} from '../../../base/errors.js';

/** Reports the volumes of a pod that failed to mount; message, cause and hint are those of the first failure. */
export class MountError extends SystemError {
  readonly failures: readonly [SystemError, ...SystemError[]];

  constructor(failures: readonly [SystemError, ...SystemError[]]) {
    const [{message, cause, hint}] = failures;
    super(message, {cause, hint});
    this.failures = failures;
  }
}

/** Failure to map a block volume, for which the kubelet has an event of its own: FailedMapVolume. */
export class MapError extends SystemError {}

/** Failure to enlarge a volume that is mounted, for which the kubelet has an event of its own: VolumeResizeFailed. */
export class ResizeError extends SystemError {}
