import {SystemError, type KcriErrorOptions} from '../../../base/errors.js';

/** Failure of a step of mounting other than SetUp, which the kubelet names in its message. */
export class VolumeStepError extends SystemError {
  /** Beginning of the message, such as `MountVolume.NewMounter initialization failed`. */
  readonly step: string;

  constructor(step: string, message: string, options: KcriErrorOptions = {}) {
    super(message, options);
    this.step = step;
  }
}
