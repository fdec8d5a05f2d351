import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {readFile, rm, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {runKcri} from '../../cli/run-kcri.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {parseLines, startRecorder} from './recorder.js';

/** Size of the disk, in bytes. */
const SIZE = 65_536;

/** Returns the directory of a tiny disk, which mounting needs root for. */
async function tinyDisk(): Promise<string> {
  const disk = await temporaryDirectory();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', disk]);
  onTestFinished(() => {
    execFileSync('umount', [disk]);
  });
  return disk;
}

const HINT = 'free some space, or specify a file on another filesystem';

describe.runIf(process.getuid?.() === 0)('record to a full disk (needs root)', () => {
  test('a disk that fills up is reported at once with what to do, and calls are still passed on', async () => {
    const disk = await tinyDisk();
    const file = join(disk, 'calls.jsonl');
    await using runtime = await FakeRuntime.start();
    const {connection, end, stderr} = await startRecorder(runtime, [`--file=${file}`]);
    await connection.runtime.version();
    await until(async () => (await readFile(file, 'utf8')).includes('Version'));
    await expect(writeFile(join(disk, 'ballast'), Buffer.alloc(SIZE))).rejects.toThrow('ENOSPC');
    let calls = 1;
    await until(async () => {
      await connection.runtime.version();
      calls += 1;
      return stderr().includes('not recorded any more');
    });
    const message = `writing to "${file}": no space left on device`;
    expect(stderr()).toContain(
      `kcri: warning: ${message}; calls are passed on, but not recorded any more: ${HINT}, and record again\n`,
    );
    await connection.runtime.version();
    const result = await end();
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toMatch(new RegExp(`\\nkcri: ${message}\\nhint: ${HINT}\\n$`));
    expect(runtime.callsTo('Version')).toHaveLength(calls + 1);
    // What was written before can be read; the last line may be cut.
    expect(parseLines((await readFile(file, 'utf8')).split('\n').slice(0, 2).join('\n'))).toMatchObject([
      {recording: {version: 1}},
      {method: 'Version'},
    ]);
  });

  test('a disk that is full at the start is an error with what to do: nothing runs, and no file is left', async () => {
    const disk = await tinyDisk();
    const ballast = join(disk, 'ballast');
    await writeFile(ballast, Buffer.alloc(SIZE));
    const file = join(disk, 'calls.jsonl');
    const mark = join(await temporaryDirectory(), 'ran');
    await using runtime = await FakeRuntime.start();
    const {stderr, exitCode} = await runKcri(['record', `--file=${file}`, '--', 'touch', mark], {
      endpoint: runtime.endpoint,
    });
    expect({stderr, exitCode}).toEqual({
      exitCode: 1,
      stderr: `kcri: writing to "${file}": no space left on device\nhint: ${HINT}\n`,
    });
    expect([existsSync(mark), existsSync(file)]).toEqual([false, false]);
    await rm(ballast);
    const again = await runKcri(['record', `--file=${file}`, '--', 'touch', mark], {
      endpoint: runtime.endpoint,
    });
    expect(again).toMatchObject({exitCode: 0});
  });
});
