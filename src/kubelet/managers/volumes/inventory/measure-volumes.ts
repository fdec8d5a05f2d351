import {setMaxListeners} from 'node:events';
import {statfs} from 'node:fs/promises';
import {abortable} from '../../../../base/async/abortable.js';
import {anySignal} from '../../../../base/async/any-signal.js';
import {createDeadline} from '../../../../base/async/deadline.js';
import {forEachLimit} from '../../../../base/async/for-each-limit.js';
import type {Clock} from '../../../../base/clock.js';
import {isExpectedError, messageOf, SystemError} from '../../../../base/errors.js';
import {treeUsage} from '../../../../base/fs/disk-usage.js';
import {mayHang} from '../../../../base/fs/file-system-kinds.js';
import {runAbandonable} from '../../../../base/host/run-abandonable.js';
import {systemErrorMessage} from '../../../../base/system-error-message.js';
import {readDeviceSize} from '../devices/block-device.js';
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
  remoteFileSystem(path: string, signal: AbortSignal): Promise<NodeVolumeUsage>;
  /** Walks through a directory until the signal aborts. */
  directory(path: string, signal: AbortSignal): Promise<NodeVolumeUsage>;
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
/** Directories that are walked through at once: each walk keeps a thread of this process busy. */
const WALKS_AT_ONCE = 2;
/** Time for all walks, in ms. */
const WALKS_TIMEOUT_MS = 10_000;
const MOST_ENTRIES = 100_000;

/** How a volume is measured. */
interface Measurement {
  readonly volume: NodeVolume;
  readonly read: (signal: AbortSignal) => Promise<NodeVolumeUsage>;
  /** Whether no answer is a failure of the volume. */
  readonly mayHang: boolean;
  readonly isWalk: boolean;
}

/**
 * Measures the volumes that are mounted; as in a kubelet, hostPath volumes are not. A file system that may hang and does not
 * answer within a second has an error in place of its usage. The usage of a directory with too many files to count them in a second
 * is unknown, like that of any after ten. Rejects with the signal's reason.
 */
export async function measureVolumes(
  volumes: readonly NodeVolume[],
  options: MeasureOptions,
): Promise<ReadonlyMap<NodeVolume, MeasuredUsage>> {
  const {clock, signal, mounts, reader = SYSTEM} = options;
  const remote = mounts.filter(({fileSystem}) => mayHang(fileSystem));
  const all = volumes.flatMap((volume) => measurementOf(volume, remote, reader) ?? []);
  const measured = new Map<NodeVolume, MeasuredUsage>();
  const measure = async (one: Measurement, until: AbortSignal): Promise<void> => {
    const usage = await readInTime(one, clock, until);
    signal.throwIfAborted();
    if (usage !== undefined) measured.set(one.volume, usage);
  };
  using deadline = createDeadline(clock, WALKS_TIMEOUT_MS);
  using walking = anySignal(signal, deadline.signal);
  using reading = anySignal(signal);
  // Each volume listens.
  setMaxListeners(0, walking.signal, reading.signal);
  const walks = all.filter(({isWalk}) => isWalk);
  const others = all.filter(({isWalk}) => !isWalk);
  await Promise.all([
    forEachLimit(others, AT_ONCE, async (one) => measure(one, reading.signal)),
    forEachLimit(walks, WALKS_AT_ONCE, async (one) => measure(one, walking.signal)),
  ]);
  return measured;
}

/** Returns how a volume is measured; undefined if it is not. */
function measurementOf(
  volume: NodeVolume,
  remote: MeasureOptions['mounts'],
  reader: UsageReader,
): Measurement | undefined {
  const {kind, path, isBlock, mount, pod} = volume;
  const local = {volume, mayHang: false, isWalk: false};
  if (isBlock) return mount === undefined ? undefined : {...local, read: () => reader.device(mount.path)};
  if (mount !== undefined && (pod === undefined || mount.path === path))
    return mayHang(mount.fileSystem)
      ? {...local, mayHang: true, read: (signal) => reader.remoteFileSystem(mount.path, signal)}
      : {...local, read: () => reader.fileSystem(mount.path)};
  const isDirectory = isDirectoryKind(kind) || kind === 'claim';
  // A walk through a directory must not reach a file system that hangs.
  if (!isDirectory || path === undefined || remote.some((each) => each.path.startsWith(`${path}/`)))
    return undefined;
  return {...local, isWalk: true, read: (signal) => reader.directory(path, signal)};
}

/** Returns the usage or the error of a volume; undefined if the signal aborts, or if reading took too long for no known reason. */
async function readInTime(
  {read, mayHang: isRemote}: Measurement,
  clock: Clock,
  signal: AbortSignal,
): Promise<MeasuredUsage | undefined> {
  if (signal.aborted) return undefined;
  const reason = (): SystemError => new SystemError(`it did not answer within ${TIMEOUT_MS / 1000}s`);
  using deadline = createDeadline(clock, TIMEOUT_MS, reason);
  using either = anySignal(signal, deadline.signal);
  try {
    return {usage: await abortable(read(either.signal), either.signal)};
  } catch (error) {
    if (either.signal.aborted && !(isRemote && deadline.signal.aborted)) return undefined;
    if (!isExpectedError(error)) throw error;
    return {error: error instanceof SystemError ? messageOf(error) : systemErrorMessage(error)};
  }
}

const SYSTEM: UsageReader = {
  fileSystem: async (path) => usageOf(await statfs(path, {bigint: true})),
  remoteFileSystem: readInOtherProcess,
  directory: async (path, signal) => {
    const bounds = {maxBytes: 2n ** 62n, maxEntries: MOST_ENTRIES};
    const {bytes, inodes} = await treeUsage(path, bounds, signal);
    return {usedBytes: bytes, inodesUsed: inodes};
  },
  device: async (path) => ({capacityBytes: await readDeviceSize(path)}),
};

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

/** Asks stat(1), which is killed when the signal aborts, and left alone if it does not end. */
async function readInOtherProcess(path: string, signal: AbortSignal): Promise<NodeVolumeUsage> {
  const args = ['-f', '-c', '%S %b %f %a %c %d', '--', path];
  const {exitCode, stdout, stderr} = await runAbandonable('stat', args, signal);
  // The message ends with the cause, such as `Stale file handle`.
  if (exitCode !== 0) throw new SystemError(/: ([^:]+)$/.exec(stderr.trim())?.[1] ?? 'stat(1) failed');
  return parseStat(stdout);
}

/** Parses the numbers of stat(1). Throws SystemError. */
function parseStat(text: string): NodeVolumeUsage {
  const [, ...numbers] = /^(\d+) (\d+) (\d+) (\d+) (\d+) (\d+)$/.exec(text.trim()) ?? [];
  if (numbers.length === 0) throw new SystemError('stat(1) printed no numbers');
  const [bsize = 0n, blocks = 0n, bfree = 0n, bavail = 0n, files = 0n, ffree = 0n] = numbers.map(BigInt);
  return usageOf({bsize, blocks, bfree, bavail, files, ffree});
}
