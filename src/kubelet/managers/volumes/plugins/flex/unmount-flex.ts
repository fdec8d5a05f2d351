import {basename, dirname} from 'node:path';
import {KcriError, messageOf, rethrowUnexpected, SystemError} from '../../../../../base/errors.js';
import {listDirectoryNames} from '../../../../../base/fs/files.js';
import {shellQuote} from '../../../../../base/shell-quote.js';
import {podDir, type NodeFacts} from '../../../../contract/node-facts.js';
import {removeEmpty} from '../../devices/device-mounts.js';
import {isMountPoint, listMountsBelow, type Mounter} from '../../mounter.js';
import type {FlexDriver, FlexDrivers} from './flex-drivers.js';
import {withFlexLock} from './flex-lock.js';
import {hasFlexMark, removeFlexMark, setFlexMark} from './flex-marks.js';
import {
  flexDevicePath,
  flexMetadataPath,
  flexPodPath,
  listFlexUsers,
  type FlexVolumeDir,
} from './flex-paths.js';

/** Node properties that unmounting depends on; a node without a name is that of a process that attaches nothing. */
export type FlexNode = Pick<NodeFacts, 'rootDir' | 'volumePluginDir'> & Partial<Pick<NodeFacts, 'nodeName'>>;

/** Node, drivers and mounts that unmounting volumes depends on. */
export interface UnmountFlexTools {
  readonly node: FlexNode;
  readonly flex: FlexDrivers;
  readonly mounter: Mounter;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Has drivers unmount the volumes of a pod, and those that no other pod has from the node (TearDownAt, UnmountDevice, Detach). Nothing
 * is done about a volume that is neither mounted nor attached if its driver is missing. The directories of the pod's volumes remain, so
 * that a removal that was killed can be repeated. Rejects with SystemError, and with the signal's reason.
 */
export async function unmountFlexVolumes(
  uid: string,
  volumes: readonly FlexVolumeDir[],
  tools: UnmountFlexTools,
): Promise<void> {
  // A driver that hangs does not delay the volumes of others.
  const results = await Promise.allSettled(
    volumes.map(async (volume) => unmountFlexVolume(uid, volume, tools)),
  );
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

async function unmountFlexVolume(uid: string, volume: FlexVolumeDir, tools: UnmountFlexTools): Promise<void> {
  const {node} = tools;
  const directory = podDir(node, uid);
  const path = flexPodPath(directory, volume);
  if (await hasDirectory(path)) await unmountFrom(path, 'unmount', volume, tools);
  const metadataDir = flexMetadataPath(directory, volume);
  const devicePath = flexDevicePath(node, volume);
  await withFlexLock(node, volume, tools.signal, async () => {
    // Of pods that end together, the last one to come here unmounts the device, although the directories of all of them remain.
    await setFlexMark(metadataDir, 'released');
    if ((await listFlexUsers(node, volume)).length > 0) return;
    if (await isMountPoint(devicePath, tools.mounter))
      await unmountFrom(devicePath, 'unmountdevice', volume, tools);
    tools.flex.devices.delete(devicePath);
    await removeEmpty(devicePath);
    if (!(await hasFlexMark(metadataDir, 'attached'))) return;
    await (
      await findDriver(metadataDir, volume, tools)
    ).call('detach', [volume.name, node.nodeName ?? ''], tools);
    await removeFlexMark(metadataDir, 'attached');
  });
}

/** Has the driver unmount what is at a path; unmounts it, if the driver leaves that to the node. */
async function unmountFrom(
  path: string,
  command: 'unmount' | 'unmountdevice',
  volume: FlexVolumeDir,
  tools: UnmountFlexTools,
): Promise<void> {
  const {mounter} = tools;
  const hasMounts = async (): Promise<boolean> => (await listMountsBelow(path, mounter)).length > 0;
  let driver: FlexDriver;
  try {
    driver = await findDriver(path, volume, tools);
  } catch (error) {
    rethrowUnexpected(error);
    if (await hasMounts()) throw error;
    return; // there is nothing to unmount
  }
  const isDone = (await driver.call(command, [path], tools)) !== undefined;
  if (!isDone && (await isMountPoint(path, mounter))) await mounter.unmount(path);
  if (!(await hasMounts())) return;
  throw new SystemError(
    `${JSON.stringify(path)} is still mounted after the ${command} of its FlexVolume driver`,
    {
      hint: `look into the log of the driver ${volume.driver}, or unmount it with: umount ${shellQuote(path)}`,
    },
  );
}

/** Returns the driver of a volume. Rejects with SystemError that names what of the volume is left, and with the signal's reason. */
async function findDriver(
  left: string,
  {driver}: FlexVolumeDir,
  {flex, node, signal}: UnmountFlexTools,
): Promise<FlexDriver> {
  try {
    return await flex.find(node, driver, signal);
  } catch (cause) {
    signal?.throwIfAborted();
    rethrowUnexpected(cause);
    throw new SystemError(`cannot unmount ${JSON.stringify(left)}: ${messageOf(cause)}`, {
      cause,
      hint: cause instanceof KcriError ? cause.hint : undefined,
    });
  }
}

/** Reports whether there is a directory at a path, without a look at it: what is mounted there may hang. */
async function hasDirectory(path: string): Promise<boolean> {
  return (await listDirectoryNames(dirname(path))).includes(basename(path));
}
