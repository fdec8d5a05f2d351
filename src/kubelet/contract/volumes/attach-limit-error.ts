import {SystemError} from '../../../base/errors.js';

/** Reports that the node cannot attach more volumes of a driver (VolumeAttachLimitExceededError): the pod is rejected. */
export class AttachLimitError extends SystemError {
  static readonly reason = 'VolumeAttachmentLimitExceeded';

  /** Creates the error; `volumes` are the kubelet's lists of volumes that are not mounted. */
  constructor(volumes: string) {
    super(`Node has reached its volume attachment limit, rejecting pod. ${volumes}`, {
      hint: 'the driver has reported the new limit, so the scheduler places a new pod on another node',
    });
  }
}
