import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {hasErrno, SystemError} from '../../../../base/errors.js';
import {fileError, listNames} from '../../../../base/fs/files.js';
import {describeExit, runDiskTool, type RunTool} from '../devices/disk-tools.js';
import {realDirectory} from '../mounter.js';

/**
 * Loop devices that keep a device or file open, so that no other device can get its number while a container has it
 * (AttachFileDevice). Methods reject with SystemError with the kubelet's message.
 */
export interface LoopDevices {
  /** Attaches a loop device to a file, unless it has one. */
  attach(path: string): Promise<void>;
  /** Detaches the loop device of a file, if it has one. */
  detach(path: string): Promise<void>;
}

/** Time limit of losetup(8), in ms. */
const TIMEOUT_MS = 60_000;

/** Creates LoopDevices on losetup(8) and sysfs. */
export function createLoopDevices(runTool: RunTool = runDiskTool, sysfs = '/sys/block'): LoopDevices {
  const losetup = async (...args: readonly string[]): Promise<void> => {
    const result = await runTool('losetup', args, {timeoutMs: TIMEOUT_MS});
    if (result.exitCode === 0) return;
    const text = result.output.trim();
    throw new SystemError(
      `losetup ${args.join(' ')} failed: ${describeExit(result)}${text === '' ? '' : ` (${text})`}`,
      {
        hint:
          result.exitCode === undefined
            ? 'install the package that contains losetup, such as mount'
            : 'look at "losetup --list": the node may have no free loop device',
      },
    );
  };
  return {
    attach: async (path) => {
      if ((await findLoopDevice(path, sysfs)) === undefined) await losetup('-f', path);
    },
    detach: async (path) => {
      const device = await findLoopDevice(path, sysfs);
      if (device !== undefined) await losetup('-d', device);
    },
  };
}

/** LoopDevices of this machine. */
export const systemLoopDevices: LoopDevices = createLoopDevices();

/** Returns the loop device whose backing file has this path; undefined if there is none (getLoopDeviceFromSysfs). */
async function findLoopDevice(path: string, sysfs: string): Promise<string | undefined> {
  const real = await realDirectory(path);
  if (real === undefined) return undefined;
  for (const name of await listNames(sysfs)) {
    if (!name.startsWith('loop')) continue;
    const backing = (await readBackingFile(join(sysfs, name)))?.replace(/ ?\(deleted\)$/, '');
    if (backing === real || backing === path) return join('/dev', name);
  }
  return undefined;
}

/** Returns the path of the file of a loop device; undefined if it is free or is detached meanwhile. */
async function readBackingFile(device: string): Promise<string | undefined> {
  try {
    return (await readFile(join(device, 'loop/backing_file'), 'utf8')).trim();
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENODEV', 'ENXIO', 'EINVAL')) return undefined;
    throw fileError('reading', device, error);
  }
}
