import {execFile} from 'node:child_process';
import {accessSync, constants} from 'node:fs';
import {mkdtemp, readFile, rm, truncate, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';

/** A small unformatted disk. */
export interface LoopDisk extends AsyncDisposable {
  /** Path of the block device. */
  readonly device: string;
}

const run = promisify(execFile);

/** True if this process may attach loop devices. */
export const hasLoopDevices: boolean = canAttach();

function canAttach(): boolean {
  try {
    accessSync('/dev/loop-control', constants.R_OK | constants.W_OK);
    return process.getuid?.() === 0;
  } catch {
    return false;
  }
}

/** Creates a disk whose content is a sparse file. Disposing removes it; its filesystem must not be mounted then. */
export async function attachLoopDisk(mebibytes: number): Promise<LoopDisk> {
  const directory = await mkdtemp(join(tmpdir(), 'kcri-loop-'));
  const image = join(directory, 'image');
  await writeFile(image, '');
  await truncate(image, mebibytes * 1024 * 1024);
  const {stdout} = await run('losetup', ['--find', '--show', image]);
  const device = stdout.trim();
  return {
    device,
    [Symbol.asyncDispose]: async () => {
      await run('losetup', ['--detach', device]);
      await rm(directory, {recursive: true});
    },
  };
}

/** Returns what blkid(8) finds on a disk, such as `TYPE=ext4`; empty for an unformatted one. */
export async function probeDisk(device: string): Promise<readonly string[]> {
  try {
    const {stdout} = await run('blkid', ['-p', '-o', 'export', device]);
    return stdout.trim().split('\n');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 2) return [];
    throw error;
  }
}

/** Returns the paths at which a disk is mounted. */
export async function deviceMounts(device: string): Promise<readonly string[]> {
  return (await readFile('/proc/self/mountinfo', 'utf8'))
    .split('\n')
    .filter((line) => line.includes(` ${device} `))
    .map((line) => line.split(' ')[4] ?? '');
}

/** Returns the files, at or below a directory, that loop devices keep open. */
export async function loopFiles(directory: string): Promise<readonly string[]> {
  return (await listLoops(directory)).map(({file}) => file);
}

/** Returns the loop devices that keep files at or below a directory open. */
export async function loopDevicesBelow(directory: string): Promise<readonly string[]> {
  return (await listLoops(directory)).map(({device}) => device);
}

async function listLoops(
  directory: string,
): Promise<readonly {readonly device: string; readonly file: string}[]> {
  const {stdout} = await run('losetup', ['--list', '--noheadings', '--output', 'NAME,BACK-FILE']);
  return stdout
    .split('\n')
    .map((line) => ({device: line.split(' ')[0] ?? '', file: line.replace(/^\S+ +/, '')}))
    .filter(({file}) => file.startsWith(directory));
}
