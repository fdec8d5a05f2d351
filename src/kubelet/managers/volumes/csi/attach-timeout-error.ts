import {SystemError} from '../../../../base/errors.js';

/** Reports that a volume was not attached in time; its message is that of a kubelet's event. */
export class AttachTimeoutError extends SystemError {
  constructor(volume: string) {
    super(
      `Unable to attach or mount volumes: unmounted volumes=[${volume}], unattached volumes=[${volume}], failed to process volumes=[]: context deadline exceeded`,
      {hint: 'check with "kubectl get volumeattachments" what the controller of the CSI driver waits for'},
    );
  }
}
