import {SystemError} from '../../../../base/errors.js';
import {shellQuote} from '../../../../base/shell-quote.js';
import {describeExit, type RunTool} from './disk-tools.js';
import {CHANGE_TIMEOUT_MS, readDiskFormat} from './format-and-mount.js';

/** A mounted filesystem. */
export interface MountedFilesystem {
  /** Real path of its block device. */
  readonly device: string;
  readonly path: string;
}

/** Returns the program, with its arguments, that enlarges a filesystem of a type; undefined for types that have none here. */
function resizeCommand(type: string, {device, path}: MountedFilesystem): readonly string[] | undefined {
  if (type === 'ext3' || type === 'ext4') return ['resize2fs', device];
  if (type === 'xfs') return ['xfs_growfs', '-d', path];
  return type === 'btrfs' ? ['btrfs', 'filesystem', 'resize', 'max', path] : undefined;
}

/**
 * Enlarges a filesystem to the size of its device (mount-utils ResizeFs). A device without a filesystem needs nothing. The program runs
 * to its end even if the signal aborts. Rejects with SystemError with the kubelet's message, and with the signal's reason.
 */
export async function resizeFilesystem(
  filesystem: MountedFilesystem,
  runTool: RunTool,
  signal: AbortSignal,
): Promise<void> {
  const {device, path} = filesystem;
  const type = await readDiskFormat(device, runTool, signal);
  if (type === undefined) return;
  const command = resizeCommand(type, filesystem);
  if (command === undefined)
    throw new SystemError(
      `ResizeFS.Resize - resize of format ${type} is not supported for device ${device} mounted at ${path}`,
      {hint: 'enlarge the filesystem by hand, then set the size in the status of the claim'},
    );
  const [program = '', ...args] = command;
  const result = await runTool(program, args, {timeoutMs: CHANGE_TIMEOUT_MS});
  if (result.exitCode === 0) return;
  const subject = program === 'resize2fs' ? device : path;
  throw new SystemError(
    `resize of device ${subject} failed: ${describeExit(result)}. ${program} output: ${result.output}`,
    {
      hint:
        result.exitCode === undefined
          ? `install the package that contains ${program}`
          : `try by hand: ${[program, ...args].map(shellQuote).join(' ')}`,
    },
  );
}
