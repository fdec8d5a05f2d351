import {SystemError} from '../../../../base/errors.js';

/**
 * Returns the error of a volume whose driver is not registered; `step` is what the kubelet was doing, and `problem` why the driver
 * cannot be called, if it may run.
 */
export function driverNotRegistered(driver: string, step: string, problem?: string): SystemError {
  return new SystemError(
    `kubernetes.io/csi: ${step}: driver name ${driver} not found in the list of registered CSI drivers`,
    {
      hint:
        problem === undefined
          ? `start the driver "${driver}" on this node, with its socket in "plugins_registry" of the root directory`
          : `start the driver "${driver}" on this node, or look into its log: ${problem}`,
    },
  );
}

/** Step of mounting a PersistentVolume in which its driver is called first. */
export const STAGE_STEP = 'attacher.MountDevice failed to create newCsiDriverClient';
/** Step of mounting any volume. */
export const PUBLISH_STEP = 'mounter.SetUpAt failed to get CSI client';
/** Step of unmounting any volume. */
export const UNPUBLISH_STEP = 'Unmounter.TearDownAt failed to get CSI client';
/** Step of unstaging a PersistentVolume. */
export const UNSTAGE_STEP = 'attacher.UnmountDevice failed to create newCsiDriverClient';
/** Step of mapping a block volume in which its driver is called first. */
export const STAGE_BLOCK_STEP = 'blockMapper.SetUpDevice failed to get CSI client';
/** Step of mapping any block volume for a pod. */
export const PUBLISH_BLOCK_STEP = 'blockMapper.MapPodDevice failed to get CSI client';
/** Step of unmapping any block volume. */
export const UNPUBLISH_BLOCK_STEP = 'blockMapper.UnmapPodDevice failed to get CSI client';
