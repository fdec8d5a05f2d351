import {dirname} from 'node:path';
import {rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import {makeDirectoryPath} from '../../../../base/fs/make-directory-path.js';
import type {CsiVolume} from '../../../contract/volumes/csi-volumes.js';
import {CsiCallError} from './csi-driver-client.js';
import {stagingPath} from './csi-paths.js';
import {STAGE_BLOCK_STEP, STAGE_STEP} from './driver-not-registered.js';
import type {CsiServices} from './csi-services.js';
import {removeMountDirectory} from './mount-directory.js';
import {readSecret} from './read-secret.js';
import {removeBlockDirectories} from './unstage-block-volume.js';
import {volumeCapability} from './volume-capability.js';
import {writeVolumeData} from './volume-data.js';

/**
 * Stages a volume for all its pods, if its driver does that (csi_attacher.go MountDevice, csi_block.go SetUpDevice).
 * `publishContext` is from the attachment. Rejects with SystemError and the signal's reason.
 */
export async function stageVolume(
  volume: CsiVolume,
  publishContext: Readonly<Record<string, string>>,
  {node, drivers, cluster, mounter}: CsiServices,
  signal: AbortSignal,
): Promise<void> {
  const {driver, handle, attributes, stageSecret, blockName, seLinuxLabel: label} = volume;
  const client = drivers.client(
    driver,
    blockName === undefined ? STAGE_STEP : STAGE_BLOCK_STEP,
    volume.isMigrated,
  );
  const capabilities = await client.capabilities(signal);
  const path = stagingPath(node, volume);
  // Of a block volume, the directory means that it was staged.
  if (blockName === undefined) await makeDirectoryPath(path, 0o750);
  if (!capabilities.has('STAGE_UNSTAGE_VOLUME')) return;
  const secrets = await readSecret(cluster, 'NodeStageSecretRef', stageSecret, signal);
  // From now on the volume is unstaged, also if this process is killed.
  if (blockName === undefined)
    await writeVolumeData(dirname(path), {
      ...{driverName: driver, volumeHandle: handle},
      ...(label !== undefined && {seLinuxMountContext: label}),
    });
  else await makeDirectoryPath(path, 0o750);
  const request = {
    volumeId: handle,
    stagingTargetPath: path,
    volumeCapability: volumeCapability(volume, capabilities, fsGroupOf(volume)),
    secrets,
    volumeContext: attributes,
    publishContext,
  };
  try {
    await client.stage(request, signal);
  } catch (error) {
    if (error instanceof CsiCallError && error.isFinal) {
      const removal =
        blockName === undefined
          ? removeMountDirectory(path, mounter)
          : removeBlockDirectories(node, blockName);
      await removal.catch(ignoreSystemError);
    }
    throw error;
  }
}

/** Returns the group of the pod's volumes. */
export function fsGroupOf({pod}: CsiVolume): number | undefined {
  return pod.spec.securityContext?.fsGroup;
}

/** Ignores an error of the file system: the first error matters. */
export function ignoreSystemError(error: unknown): void {
  if (!(error instanceof SystemError)) rethrowUnexpected(error);
}
