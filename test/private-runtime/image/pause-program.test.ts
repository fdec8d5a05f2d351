import {spawn, type ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {chmod, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {isPauseArchitecture, pauseProgram} from '../../../src/private-runtime/image/pause-program.js';

let dir: string;
let program: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'kcri-pause-'));
  program = join(dir, 'pause');
  if (isPauseArchitecture(process.arch)) await writeFile(program, pauseProgram(process.arch));
  await chmod(program, 0o755);
});
afterAll(() => rm(dir, {recursive: true}));

async function started(command: string, args: readonly string[] = []): Promise<ChildProcess> {
  const child = spawn(command, args, {stdio: 'ignore'});
  await once(child, 'spawn');
  return child;
}

/** Resolves once the process is in rt_sigtimedwait, from where it handles signals. */
async function untilPausing(pid: number): Promise<void> {
  const number = process.arch === 'x64' ? '128' : '137';
  await expect.poll(() => readFileSync(`/proc/${pid}/syscall`, 'utf8').split(' ')[0]).toBe(number);
}

describe('pauseProgram on this processor', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('waits until %s, and exits with 0', async (signal) => {
    const child = await started(program);
    await untilPausing(child.pid ?? 0);
    expect(child.exitCode).toBe(null);
    const exited = once(child, 'exit');
    child.kill(signal);
    expect(await exited).toEqual([0, null]);
  });

  test('reaps an inherited child', async () => {
    // The shell starts a child and then replaces itself with the program, which inherits the child.
    const child = await started('sh', ['-c', `sleep 0.3 & exec ${program}`]);
    const children = (): string =>
      readFileSync(`/proc/${child.pid ?? 0}/task/${child.pid ?? 0}/children`, 'utf8').trim();
    await untilPausing(child.pid ?? 0);
    expect(children()).not.toBe('');
    await expect.poll(children).toBe('');
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
});

test.each([
  ['x64', 62],
  ['arm64', 183],
] as const)('for %s it is a static 64-bit executable with the machine type %i', (architecture, machine) => {
  const file = Buffer.from(pauseProgram(architecture));
  expect(file.subarray(0, 4).toString('latin1')).toBe('\x7fELF');
  expect([file[4], file.readUInt16LE(16), file.readUInt16LE(18)]).toEqual([2, 2, machine]);
  expect(file.length).toBeLessThan(512);
});

test('no other architecture has one', () => {
  expect(isPauseArchitecture('riscv64')).toBe(false);
});
