import {join} from 'node:path';
import {removeAtomicFile, writeFileAtomicWithFileSync} from '../../../../base/fs/atomic-write.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import {ifPresent, listNames, withFileErrors} from '../../../../base/fs/files.js';
import {readBoundedFile} from '../../../../base/fs/read-bounded-file.js';
import {isObject} from '../../../../base/is-object.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import {POD_DEVICES} from '../block/block-paths.js';
import {blockPaths, CSI_VOLUMES, VOLUME_DATA} from './csi-paths.js';

/** Identity of a staged or published volume, in a file beside its mount point (csi_util.go saveVolumeData). */
export interface VolumeData {
  readonly driverName: string;
  readonly volumeHandle: string;
  /** Fields of a published volume. */
  readonly attachmentID?: string;
  readonly nodeName?: string;
  readonly specVolID?: string;
  readonly seLinuxMountContext?: string;
  readonly volumeLifecycleMode?: 'Ephemeral' | 'Persistent';
}

/** A CSI volume in the directory of a pod. */
export interface PodCsiVolume {
  /** Directory of the volume; of a block volume, the link to its device. */
  readonly path: string;
  /** Name of the PersistentVolume of a block volume. */
  readonly blockName?: string;
}

/** Most bytes of a file; a handle has at most 128 bytes. */
const MOST_BYTES = 64 * 1024;

/**
 * Writes the identity of a volume into its directory, with sorted keys and a final newline. It is never half of one, since a
 * volume with a damaged identity cannot be unmounted. A file that is equal stays: some volumes are published at each sync. Rejects
 * with SystemError.
 */
export async function writeVolumeData(directory: string, data: VolumeData): Promise<void> {
  const path = join(directory, VOLUME_DATA);
  const sorted = Object.fromEntries(Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const text = `${JSON.stringify(sorted)}\n`;
  const known = await readBytes(path).catch(ignoreExpected);
  if (known?.toString() === text) return;
  await withFileErrors('writing', path, () => writeFileAtomicWithFileSync(path, text, 0o644));
}

/** Ignores that a file cannot be read. */
function ignoreExpected(error: unknown): undefined {
  rethrowUnexpected(error);
}

/** Reads the identity of the volume in a directory; undefined without a file. Rejects with SystemError if it is damaged. */
export async function readVolumeData(directory: string): Promise<VolumeData | undefined> {
  const path = join(directory, VOLUME_DATA);
  const bytes = await readBytes(path);
  return bytes && parse(path, bytes.toString());
}

async function readBytes(path: string): Promise<Buffer | undefined> {
  const read = async (): Promise<Buffer> => readBoundedFile(path, {mostBytes: MOST_BYTES});
  return await withFileErrors('reading', path, () => ifPresent(read));
}

/** Lists the CSI volumes in the directory of a pod. Rejects with SystemError. */
export async function listPodCsiVolumes(podDir: string): Promise<readonly PodCsiVolume[]> {
  const mounts = join(podDir, 'volumes', CSI_VOLUMES);
  const devices = join(podDir, POD_DEVICES, CSI_VOLUMES);
  return [
    ...(await listNames(mounts)).map((name) => ({path: join(mounts, name)})),
    ...(await listNames(devices)).map((name) => ({path: join(devices, name), blockName: name})),
  ];
}

/** Reads the identity of a volume of a pod. Resolves and rejects like readVolumeData. */
export async function readPodCsiVolume(
  node: Pick<NodeFacts, 'rootDir'>,
  {path, blockName}: PodCsiVolume,
): Promise<VolumeData | undefined> {
  return await readVolumeData(blockName === undefined ? path : blockPaths(node, blockName).data);
}

function parse(path: string, text: string): VolumeData {
  try {
    const value: unknown = JSON.parse(text);
    if (!isObject(value)) throw new SystemError('it is not an object');
    const {driverName, volumeHandle, volumeLifecycleMode} = value;
    if (typeof driverName !== 'string' || typeof volumeHandle !== 'string')
      throw new SystemError('it names no driver and volume');
    const isEphemeral = volumeLifecycleMode === 'Ephemeral';
    return {driverName, volumeHandle, volumeLifecycleMode: isEphemeral ? 'Ephemeral' : 'Persistent'};
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) rethrowUnexpected(cause);
    throw new SystemError(`cannot read the CSI volume of ${JSON.stringify(path)}: ${messageOf(cause)}`, {
      cause,
      hint: 'unmount the volume by hand, then remove the file',
    });
  }
}

/** Removes the file from a directory, if it exists. Rejects with SystemError. */
export async function removeVolumeData(directory: string): Promise<void> {
  await removeAtomicFile(join(directory, VOLUME_DATA));
}
