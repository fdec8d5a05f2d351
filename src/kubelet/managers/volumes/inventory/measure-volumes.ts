import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFile, stat, statfs} from 'node:fs/promises';
import {Socket} from 'node:net';
import {forEachLimit} from '../../../../base/async/for-each-limit.js';
import {finishesWithin} from '../../../../base/async/deadline.js';
import type {Clock} from '../../../../base/clock.js';
import {isExpectedError, messageOf, SystemError} from '../../../../base/errors.js';
import {treeUsage} from '../../../../base/fs/disk-usage.js';
import {deviceNumbers} from '../../../../base/fs/device-numbers.js';
import {mayHang} from '../../../../base/fs/file-system-kinds.js';
import {systemErrorMessage} from '../../../../base/system-error-message.js';
import type {NodeVolume} from './node-volume.js';
import type {MountFact} from './volume-facts.js';
import {isDirectoryKind} from './volume-kinds.js';

/** Usage of a volume in bytes and inodes; absent for what is not known. */
export interface NodeVolumeUsage {
  readonly usedBytes?: bigint;
  readonly capacityBytes?: bigint;
  readonly availableBytes?: bigint;
  readonly inodesUsed?: bigint;
  readonly inodes?: bigint;
}

/** Usage of a volume, or the reason why it cannot be read. */
export type MeasuredUsage = {readonly usage: NodeVolumeUsage} | {readonly error: string};

/** Reads the usage of file systems, directories and devices; tests replace it. */
export interface UsageReader {
  /** Reads a file system of this machine. */
  fileSystem(path: string): Promise<NodeVolumeUsage>;
  /** Reads a file system that may hang, in another process, which a thread that waits forever does not keep from exiting. */
  remoteFileSystem(path: string): Promise<NodeVolumeUsage>;
  directory(path: string): Promise<NodeVolumeUsage>;
  /** Reads the size of a block device. */
  device(path: string): Promise<NodeVolumeUsage>;
}

/** Options of {@link measureVolumes}. */
export interface MeasureOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** All mounts of the node. */
  readonly mounts: readonly Pick<MountFact, 'path' | 'fileSystem'>[];
  readonly reader?: UsageReader;
}

/** Volumes that are measured at once, and time for each, in ms. */
const AT_ONCE = 16;
const TIMEOUT_MS = 1000;
const MOST_ENTRIES = 100_000;

/**
 * Measures the volumes that are mounted; as in a kubelet, hostPath volumes are not. A file system that does not answer within a
 * second has an error in place of its usage. Rejects with the signal's reason.
 */
export async function measureVolumes(
  volumes: readonly NodeVolume[],
  options: MeasureOptions,
): Promise<ReadonlyMap<NodeVolume, MeasuredUsage>> {
  const measured = new Map<NodeVolume, MeasuredUsage>();
  const remote = options.mounts.filter(({fileSystem}) => mayHang(fileSystem));
  await forEachLimit(volumes, AT_ONCE, async (volume) => {
    options.signal.throwIfAborted();
    const read = readerOf(volume, remote, options.reader ?? SYSTEM);
    if (read !== undefined) measured.set(volume, await readInTime(read, options));
  });
  return measured;
}

/** Returns how a volume is measured; undefined if it is not. */
function readerOf(
  {kind, path, isBlock, mount, pod}: NodeVolume,
  remote: MeasureOptions['mounts'],
  reader: UsageReader,
): (() => Promise<NodeVolumeUsage>) | undefined {
  if (isBlock) return mount === undefined ? undefined : async () => reader.device(mount.path);
  if (mount !== undefined && (pod === undefined || mount.path === path))
    return async () =>
      mayHang(mount.fileSystem) ? reader.remoteFileSystem(mount.path) : reader.fileSystem(mount.path);
  const isDirectory = isDirectoryKind(kind) || kind === 'claim';
  // A walk through a directory must not reach a file system that hangs.
  if (!isDirectory || path === undefined || remote.some((each) => each.path.startsWith(`${path}/`)))
    return undefined;
  return async () => reader.directory(path);
}

async function readInTime(
  read: () => Promise<NodeVolumeUsage>,
  {clock, signal}: Pick<MeasureOptions, 'clock' | 'signal'>,
): Promise<MeasuredUsage> {
  const work = attempt(read);
  return (await finishesWithin(work, TIMEOUT_MS, clock, signal))
    ? await work
    : {error: `it did not answer within ${TIMEOUT_MS / 1000}s`};
}

/** Never rejects, except with programming errors: nobody waits for what takes too long. */
async function attempt(read: () => Promise<NodeVolumeUsage>): Promise<MeasuredUsage> {
  try {
    return {usage: await read()};
  } catch (error) {
    if (!isExpectedError(error)) throw error;
    return {error: error instanceof SystemError ? messageOf(error) : systemErrorMessage(error)};
  }
}

const SYSTEM: UsageReader = {
  fileSystem: async (path) => usageOf(await statfs(path, {bigint: true})),
  remoteFileSystem: readInOtherProcess,
  directory: async (path) => {
    const {bytes, inodes} = await treeUsage(path, {maxBytes: 2n ** 62n, maxEntries: MOST_ENTRIES});
    return {usedBytes: bytes, inodesUsed: inodes};
  },
  device: async (path) => {
    const {rdev} = await stat(path, {bigint: true});
    const sectors = await readFile(`/sys/dev/block/${deviceNumbers(rdev)}/size`, 'utf8');
    return {capacityBytes: BigInt(sectors.trim()) * SECTOR_BYTES};
  },
};

/** Unit of the size of a device in sysfs, whatever its sectors are. */
const SECTOR_BYTES = 512n;

type Blocks = Readonly<Record<'bsize' | 'blocks' | 'bfree' | 'bavail' | 'files' | 'ffree', bigint>>;

function usageOf({bsize, blocks, bfree, bavail, files, ffree}: Blocks): NodeVolumeUsage {
  return {
    usedBytes: (blocks - bfree) * bsize,
    capacityBytes: blocks * bsize,
    availableBytes: bavail * bsize,
    inodesUsed: files - ffree,
    inodes: files,
  };
}

/** Asks stat(1), which is killed after the time limit and left alone if it does not end. */
async function readInOtherProcess(path: string): Promise<NodeVolumeUsage> {
  const child = spawn('stat', ['-f', '-c', '%S %b %f %a %c %d', '--', path], {
    ...{stdio: ['ignore', 'pipe', 'pipe'], detached: true, timeout: TIMEOUT_MS, killSignal: 'SIGKILL'},
    env: {...process.env, LC_ALL: 'C'},
  });
  child.unref();
  const output = {stdout: '', stderr: ''};
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = child[name];
    stream.on('data', (chunk: Buffer) => (output[name] += chunk.toString()));
    if (stream instanceof Socket) stream.unref();
  }
  const [code] = (await once(child, 'close')) as readonly unknown[];
  const {stdout, stderr} = output;
  // The message ends with the cause, such as `Stale file handle`.
  if (code !== 0) throw new SystemError(/: ([^:]+)$/.exec(stderr.trim())?.[1] ?? 'stat(1) failed');
  return parseStat(stdout);
}

/** Parses the numbers of stat(1). Throws SystemError. */
function parseStat(text: string): NodeVolumeUsage {
  const [, ...numbers] = /^(\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$/.exec(text.trim()) ?? [];
  if (numbers.length === 0) throw new SystemError('stat(1) printed no numbers');
  const [bsize = 0n, blocks = 0n, bfree = 0n, bavail = 0n, files = 0n, ffree = 0n] = numbers.map(BigInt);
  return usageOf({bsize, blocks, bfree, bavail, files, ffree});
}
