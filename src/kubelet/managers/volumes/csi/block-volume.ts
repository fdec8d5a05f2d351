import {lstat, realpath, rm, stat} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {messageOf, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import {ifPresent, pathExists, withFileErrors} from '../../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../../base/fs/make-directory-path.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {CsiVolume} from '../../../contract/volumes/csi-volumes.js';
import {linkDevice, mapDevice, unlinkDevice, unmapDevice} from '../block/map-device.js';
import {isMountPoint} from '../mounter.js';
import {VolumeStepError} from '../volume-step-error.js';
import {CsiCallError} from './csi-driver-client.js';
import {attachmentName, blockPaths, csiDeviceMap, stagingPath, type VolumeKey} from './csi-paths.js';
import type {CsiServices} from './csi-services.js';
import {PUBLISH_BLOCK_STEP, UNPUBLISH_BLOCK_STEP} from './driver-not-registered.js';
import {readSecret} from './read-secret.js';
import {podInfo, volumeCapability} from './volume-capability.js';
import {readBlockKey} from './unstage-block-volume.js';
import {writeVolumeData} from './volume-data.js';

/** A volume whose device containers get. */
export type CsiBlockVolume = CsiVolume & {readonly blockName: string};

/** Reports whether containers get the device of a volume. */
export function isBlockVolume(volume: CsiVolume): volume is CsiBlockVolume {
  return volume.blockName !== undefined;
}

/** Writes the identity of a block volume, from which its maps are found after a restart (NewBlockVolumeMapper). Rejects with SystemError. */
export async function writeBlockData(
  {blockName, driver, handle}: CsiBlockVolume,
  node: CsiServices['node'],
): Promise<void> {
  const {data} = blockPaths(node, blockName);
  await makeDirectoryPath(data, 0o750);
  await writeVolumeData(data, {
    ...{driverName: driver, volumeHandle: handle, nodeName: node.nodeName, specVolID: blockName},
    attachmentID: attachmentName({driver, handle}, node.nodeName),
  });
}

/**
 * Publishes a block volume for its pod, and maps its device (csi_block.go MapPodDevice). Rejects with SystemError and the
 * signal's reason.
 */
export async function mapBlockVolume(
  volume: CsiBlockVolume,
  publishContext: Readonly<Record<string, string>>,
  services: CsiServices,
  signal: AbortSignal,
): Promise<void> {
  const {node} = services;
  const {uid} = podRef(volume.pod);
  const map = csiDeviceMap(node, uid, volume.blockName);
  const target = join(blockPaths(node, volume.blockName).publish, uid);
  const wasPublished = await pathExists(target);
  // From now on the removal of the pod unpublishes the volume, also if this process is killed.
  if (!(await isLink(map.linkPath))) await linkDevice(target, map.linkPath);
  try {
    await publishBlockVolume(volume, {target, publishContext}, services, signal);
  } catch (error) {
    if (error instanceof CsiCallError && error.isFinal && !wasPublished) await unlinkDevice(map);
    throw error;
  }
  await mapDevice(await findPublished(target), map, services);
}

async function isLink(path: string): Promise<boolean> {
  return (await withFileErrors('reading', path, () => ifPresent(() => lstat(path)))) !== undefined;
}

async function publishBlockVolume(
  volume: CsiBlockVolume,
  {
    target,
    publishContext,
  }: {readonly target: string; readonly publishContext: Readonly<Record<string, string>>},
  {node, drivers, cluster}: CsiServices,
  signal: AbortSignal,
): Promise<void> {
  const {driver: name, handle, readOnly, attributes} = volume;
  const client = drivers.client(name, PUBLISH_BLOCK_STEP, volume.isMigrated);
  const secrets = await readSecret(cluster, 'NodePublishSecretRef', volume.publishSecret, signal);
  await makeDirectoryPath(dirname(target), 0o750);
  const capabilities = await client.capabilities(signal);
  const request = {
    ...{volumeId: handle, targetPath: target, readonly: readOnly, publishContext, secrets},
    stagingTargetPath: stagingPath(node, volume),
    volumeContext: {...attributes, ...(cluster?.driver(name)?.podInfoOnMount === true && podInfo(volume))},
    volumeCapability: volumeCapability(volume, capabilities, undefined),
  };
  await client.publish(request, signal, secrets);
}

/** Returns the real path of the device that a driver has published, as the driver may have made a link to it. */
async function findPublished(target: string): Promise<string> {
  const real = await withFileErrors('reading', target, () => ifPresent(() => realpath(target)));
  if (real !== undefined && (await withFileErrors('reading', real, () => stat(real))).isBlockDevice())
    return real;
  throw new VolumeStepError(
    'MapVolume.MapBlockVolume failed',
    `the CSI driver has not made the block device ${JSON.stringify(target)}`,
    {hint: "look into the driver's log: a volume with volumeMode Block must be published as a device"},
  );
}

/**
 * Unmaps the device of a block volume of a pod, and unpublishes it (UnmapVolume). Resolves with the volume; undefined if its
 * identity is not there, and it is thus unstaged. Rejects with SystemError and the signal's reason.
 */
export async function unmapBlockVolume(
  blockName: string,
  uid: string,
  services: CsiServices,
  signal: AbortSignal,
): Promise<VolumeKey | undefined> {
  const {node, drivers} = services;
  const map = csiDeviceMap(node, uid, blockName);
  const key = await readBlockKey(node, blockName);
  await unmapDevice(map, services);
  if (key !== undefined) {
    const client = drivers.client(key.driver, UNPUBLISH_BLOCK_STEP);
    const target = join(blockPaths(node, blockName).publish, uid);
    try {
      await client.unpublish({volumeId: key.handle, targetPath: target}, signal);
    } catch (cause) {
      signal.throwIfAborted();
      rethrowUnexpected(cause);
      const step = 'kubernetes.io/csi: blockMapper.unpublishVolumeForBlock failed';
      throw new SystemError(`${step}: ${messageOf(cause)}`, {cause});
    }
    await removePublished(target, services);
  }
  await unlinkDevice(map);
  return key;
}

/** Removes what a driver has left at the path of a device, which it must have unmounted. */
async function removePublished(target: string, {mounter}: Pick<CsiServices, 'mounter'>): Promise<void> {
  if (await isMountPoint(target, mounter))
    throw new SystemError(
      `${JSON.stringify(target)} is still mounted after its CSI driver has unmounted it`,
      {
        hint: "look into the driver's log",
      },
    );
  await withFileErrors('removing', target, () => rm(target, {force: true}));
}
