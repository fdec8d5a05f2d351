import {SystemError} from '../../../../base/errors.js';

/** Returns the error of a volume whose driver is not registered; `step` is what the kubelet was doing. */
export function driverNotRegistered(driver: string, step: string): SystemError {
  return new SystemError(
    `kubernetes.io/csi: ${step}: driver name ${driver} not found in the list of registered CSI drivers`,
    {
      hint: `start the driver "${driver}" on this node, with its socket in "plugins_registry" of the root directory`,
    },
  );
}

/** Step of mounting a PersistentVolume in which its driver is called first. */
export const STAGE_STEP = 'attacher.MountDevice failed to create newCsiDriverClient';
/** Step of mounting any volume. */
export const PUBLISH_STEP = 'mounter.SetUpAt failed to get CSI client';
/** Step of unmounting any volume. */
export const UNPUBLISH_STEP = 'Unmounter.TearDownAt failed to get CSI client';
/** Step of mapping a block volume in which its driver is called first. */
export const STAGE_BLOCK_STEP = 'blockMapper.SetUpDevice failed to get CSI client';
/** Step of mapping any block volume for a pod. */
export const PUBLISH_BLOCK_STEP = 'blockMapper.MapPodDevice failed to get CSI client';
/** Step of unmapping any block volume. */
export const UNPUBLISH_BLOCK_STEP = 'blockMapper.UnmapPodDevice failed to get CSI client';
