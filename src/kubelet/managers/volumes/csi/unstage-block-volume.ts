import {SystemError} from '../../../../base/errors.js';
import {listNames, pathExists} from '../../../../base/fs/files.js';
import {removeTree} from '../../../../base/fs/remove-tree.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {CsiDriverClient} from './csi-driver-client.js';
import {blockPaths, type VolumeKey} from './csi-paths.js';
import {removeIfEmpty} from './mount-directory.js';
import {readVolumeData} from './volume-data.js';

type RootFacts = Pick<NodeFacts, 'rootDir'>;

/** Reads the identity of a block volume; undefined without one. Rejects with SystemError if it is damaged. */
export async function readBlockKey(node: RootFacts, blockName: string): Promise<VolumeKey | undefined> {
  const data = await readVolumeData(blockPaths(node, blockName).data);
  return data && {driver: data.driverName, handle: data.volumeHandle, blockName};
}

/** Unstages a block volume that no pod has, and removes its directories (csi_block.go TearDownDevice). Rejects with SystemError. */
export async function unstageBlockVolume(
  {handle, blockName}: VolumeKey & {readonly blockName: string},
  node: RootFacts,
  client: () => Pick<CsiDriverClient, 'capabilities' | 'unstage'>,
  signal: AbortSignal,
): Promise<void> {
  const {devices, staging, data} = blockPaths(node, blockName);
  const [user] = await listNames(devices);
  if (user !== undefined)
    throw new SystemError(
      `the device ${JSON.stringify(devices)} is still referenced from other Pods [${user}]`,
    );
  if ((await readVolumeData(data)) !== undefined && (await pathExists(staging))) {
    const driver = client();
    if ((await driver.capabilities(signal)).has('STAGE_UNSTAGE_VOLUME')) {
      await driver.unstage({volumeId: handle, stagingTargetPath: staging}, signal);
      await removeTree(staging);
    }
  }
  await removeBlockDirectories(node, blockName);
}

/** Removes the directories of a block volume, unless it is published (cleanupOrphanDeviceFiles). Rejects with SystemError. */
export async function removeBlockDirectories(node: RootFacts, blockName: string): Promise<void> {
  const {directory, publish, staging} = blockPaths(node, blockName);
  await removeIfEmpty(publish);
  if (await pathExists(publish)) return;
  await removeIfEmpty(staging);
  await removeTree(directory);
}
