import {SystemError} from '../../../../base/errors.js';
import {withFile, withFileErrors} from '../../../../base/fs/files.js';
import {shellQuote} from '../../../../base/shell-quote.js';
import type {Mounter} from '../mounter.js';
import {isMountOf} from './block-device.js';
import {describeExit, type RunTool, type ToolResult} from './disk-tools.js';

/** A filesystem to mount. */
export interface DeviceMount {
  /** Real path of a block device. */
  readonly device: string;
  readonly path: string;
  /** Type of the filesystem, such as `ext4`. */
  readonly fileSystem: string;
  /** Options of mount(8), `ro` for a read-only mount. */
  readonly options: readonly string[];
  /** True to mount a filesystem of another type too; false by default. */
  readonly acceptsOtherType?: boolean;
  readonly hints: DeviceHints;
}

/** What to do about a device that cannot be mounted. */
export interface DeviceHints {
  /** Name of the field with the type of the filesystem. */
  readonly fsType: string;
  /** What to do if it has partitions. */
  readonly partitions: string;
}

/** Something that happened to a device before it was mounted; a kubelet logs it. */
export interface DeviceNotice {
  readonly type: 'Normal' | 'Warning';
  readonly reason: 'VolumeFormatted' | 'FileSystemRepaired' | 'FileSystemCheckFailed';
  readonly message: string;
}

/** Dependencies of formatAndMount. */
export interface DeviceTools {
  readonly runTool: RunTool;
  readonly mounter: Pick<Mounter, 'list' | 'mountDevice'>;
  readonly notify: (notice: DeviceNotice) => void;
}

const PROBE_TIMEOUT_MS = 60_000;
/** Limit of mkfs(8), fsck(8) and what enlarges filesystems: a kubelet has none, and a large filesystem takes long. */
export const CHANGE_TIMEOUT_MS = 3_600_000;

/** A kubelet's name for the content of a disk with a partition table. */
export const PARTITIONS = 'unknown data, probably partitions';

/**
 * Mounts a block device, with a new filesystem if it has none, and else checked and repaired (mount-utils FormatAndMount).
 * A device with a filesystem or a partition table, or one that cannot be read, is never formatted. mkfs(8) and fsck(8) run
 * to their end even if the signal aborts, because half a filesystem could be taken for one. Rejects with SystemError with
 * the kubelet's message, and with the signal's reason.
 */
export async function formatAndMount(
  mount: DeviceMount,
  tools: DeviceTools,
  signal: AbortSignal,
): Promise<void> {
  const {device, path, fileSystem, hints} = mount;
  const options = [...mount.options, 'defaults'];
  const isReadOnly = options.includes('ro');
  const format = await readDiskFormat(device, tools.runTool, signal);
  if (format === undefined) {
    if (isReadOnly)
      throw new SystemError(
        `cannot mount unformatted disk ${device} as we are manipulating it in read-only mode`,
        {hint: 'use the volume in a pod that may write first'},
      );
    await makeFileSystem({...mount, options}, tools);
  } else if (!isReadOnly && format !== PARTITIONS) await checkFileSystem(device, tools);
  try {
    await tools.mounter.mountDevice(device, path, typeToMount(mount, format), options);
  } catch (error) {
    if (!(error instanceof SystemError) || format === undefined || format === fileSystem) throw error;
    throw new SystemError(error.message, {cause: error.cause, hint: mismatchHint(device, format, hints)});
  }
}

/** Returns the type of the filesystem to mount from a device with this content. */
function typeToMount(
  {fileSystem, acceptsOtherType = false}: DeviceMount,
  format: string | undefined,
): string {
  return acceptsOtherType && format !== undefined && format !== PARTITIONS ? format : fileSystem;
}

function mismatchHint(device: string, format: string, {fsType, partitions}: DeviceHints): string {
  const clear = `or, if nobody needs the data, clear the device with: wipefs -a ${shellQuote(device)}`;
  return format === PARTITIONS
    ? `the device has partitions: ${partitions}, ${clear}`
    : `the device contains ${format}: set ${fsType} to it, ${clear}`;
}

/**
 * Returns what blkid(8) finds on a disk: see parseDiskFormat. Rejects with SystemError, and with the signal's reason.
 */
export async function readDiskFormat(
  device: string,
  runTool: RunTool,
  signal: AbortSignal,
): Promise<string | undefined> {
  const args = ['-p', '-s', 'TYPE', '-s', 'PTTYPE', '-o', 'export', device];
  const result = await runTool('blkid', args, {timeoutMs: PROBE_TIMEOUT_MS, signal});
  try {
    const format = parseDiskFormat(result);
    if (format === undefined) await requireReadable(device);
    return format;
  } catch (cause) {
    if (!(cause instanceof SystemError)) throw cause;
    const {message, hint} = cause;
    throw new SystemError(`failed to get disk format of disk ${device}: ${message}`, {cause, hint});
  }
}

/**
 * Returns the type of the filesystem that blkid(8) found, PARTITIONS, or undefined for an unformatted disk (getDiskFormat).
 * Unlike in a kubelet, a disk is not unformatted if blkid has printed anything that is neither.
 *
 * @throws SystemError if the content is unknown.
 */
export function parseDiskFormat(result: ToolResult): string | undefined {
  const {exitCode, output} = result;
  if (exitCode === 2 && output.trim() === '') return undefined;
  if (exitCode !== 0) throw probeError(result);
  const values = new Map<string, string>();
  for (const line of output.split('\n').filter((text) => text !== '')) {
    const [name = '', value, ...others] = line.split('=');
    if (value === undefined || others.length > 0) throw invalidOutput(output);
    values.set(name, value);
  }
  if ((values.get('PTTYPE') ?? '') !== '') return PARTITIONS;
  const type = values.get('TYPE') ?? '';
  if (type === '') throw invalidOutput(output);
  return type;
}

/** Exit code of blkid(8) for a disk with the signatures of several filesystems. */
const AMBIVALENT = 8;

function probeError(result: ToolResult): SystemError {
  const {exitCode, output} = result;
  const said = output.trim() === '' ? '' : `: ${output.trim()}`;
  return new SystemError(`${describeExit(result)}${said}`, {hint: probeHint(exitCode)});
}

function probeHint(exitCode: ToolResult['exitCode']): string {
  if (exitCode === undefined) return 'install the package that contains blkid, such as util-linux';
  return exitCode === AMBIVALENT
    ? 'the device has the signatures of several filesystems: list them with wipefs, and remove the wrong ones'
    : 'try blkid -p with the device by hand';
}

function invalidOutput(output: string): SystemError {
  return new SystemError(`blkid returns invalid output: ${output}`, {
    hint: 'use blkid of util-linux',
  });
}

/** Beginning of a disk, in bytes, where filesystems have their signatures. */
const SIGNATURE_BYTES = 1 << 20;

/** Rejects if a disk cannot be read or is empty: blkid(8) has the same exit code for it as for an unformatted disk. */
async function requireReadable(device: string): Promise<void> {
  const {bytesRead} = await withFileErrors('reading', device, () =>
    withFile(device, 'r', 0, (file) => file.read(Buffer.alloc(SIGNATURE_BYTES), 0, SIGNATURE_BYTES, 0)),
  );
  if (bytesRead === 0)
    throw new SystemError('it has no capacity', {hint: 'check with lsblk that the device has a medium'});
}

/** Types with an option to format without questions, and without blocks that are reserved for root. */
const FORMAT_OPTIONS: ReadonlyMap<string, readonly string[]> = new Map([
  ['ext3', ['-F', '-m0']],
  ['ext4', ['-F', '-m0']],
  ['xfs', ['-f']],
]);

async function makeFileSystem(
  {device, path, fileSystem, options, hints}: DeviceMount,
  {runTool, notify}: DeviceTools,
): Promise<void> {
  const program = `mkfs.${fileSystem}`;
  const flags = FORMAT_OPTIONS.get(fileSystem) ?? [];
  const result = await runTool(program, [...flags, device], {timeoutMs: CHANGE_TIMEOUT_MS});
  const {exitCode, output} = result;
  if (exitCode === 0) {
    notify({
      type: 'Normal',
      reason: 'VolumeFormatted',
      message: `Formatted the empty disk ${device} with ${fileSystem}`,
    });
    return;
  }
  const quoted = `type:("${fileSystem}") target:("${path}") options:("${options.join(',')}")`;
  throw new SystemError(
    `format of disk "${device}" failed: ${quoted} errcode:(${describeExit(result)}) output:(${output}) `,
    {
      hint:
        exitCode === undefined
          ? `install the package that contains ${program}, or change ${hints.fsType}`
          : `try by hand: ${[program, ...flags, shellQuote(device)].join(' ')}`,
    },
  );
}

/** Checks and repairs a filesystem that is not mounted (checkAndRepairFilesystem). */
async function checkFileSystem(device: string, {runTool, mounter, notify}: DeviceTools): Promise<void> {
  for (const mount of await mounter.list()) if (await isMountOf(mount, device)) return;
  const result = await runTool('fsck', ['-a', device], {timeoutMs: CHANGE_TIMEOUT_MS});
  const notice = evaluateCheck(device, result);
  if (notice !== undefined) notify(notice);
}

/**
 * Returns the notice about a check by fsck(8); undefined for a clean filesystem.
 *
 * @throws SystemError if it has errors that were not corrected.
 */
export function evaluateCheck(device: string, result: ToolResult): DeviceNotice | undefined {
  const {exitCode, output} = result;
  if (exitCode === 0) return undefined;
  if (exitCode === 1)
    return {
      type: 'Normal',
      reason: 'FileSystemRepaired',
      message: `Device ${device} has errors which were corrected by fsck`,
    };
  if (exitCode === 4)
    throw new SystemError(`'fsck' found errors on device ${device} but could not correct them: ${output}`, {
      hint: `repair it by hand with: fsck ${shellQuote(device)}`,
    });
  const message = `fsck on device ${device} failed with error ${describeExit(result)}, output: ${output}`;
  return {type: 'Warning', reason: 'FileSystemCheckFailed', message};
}
