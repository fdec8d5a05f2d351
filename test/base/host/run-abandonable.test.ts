import {execFileSync} from 'node:child_process';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {runAbandonable} from '../../../src/base/host/run-abandonable.js';
import {temporaryDirectory} from '../temporary-directory.js';
import {transpile} from '../transpile.js';

const {signal} = new AbortController();

test('the output and the exit code of a program are returned', async () => {
  expect(await runAbandonable('sh', ['-c', 'echo a; echo b >&2; exit 3'], signal)).toEqual({
    exitCode: 3,
    stdout: 'a\n',
    stderr: 'b\n',
  });
});

test('a program that does not end is killed when the signal aborts', async () => {
  const controller = new AbortController();
  const reason = new Error('no answer');
  const running = runAbandonable('sh', ['-c', 'exec sleep 3601'], controller.signal);
  controller.abort(reason);
  await expect(running).rejects.toBe(reason);
  const children = execFileSync('ps', ['-o', 'args', '--ppid', String(process.pid)], {encoding: 'utf8'});
  expect(children).not.toContain('sleep 3601');
});

test('a program that does not exist is an error', async () => {
  await expect(runAbandonable('/no/such', [], signal)).rejects.toMatchObject({code: 'ENOENT'});
});

test('without free file descriptors, the error says so, and the process goes on', async () => {
  const directory = await temporaryDirectory();
  await transpile('base/host/run-abandonable', directory);
  const script = `
    import {openSync} from 'node:fs';
    import {runAbandonable} from './base/host/run-abandonable.js';
    try { for (;;) openSync('/dev/null'); } catch {}
    const result = await runAbandonable('true', [], new AbortController().signal).catch((error) => error.code);
    process.stdout.write(String(result));
  `;
  await writeFile(join(directory, 'main.js'), script);
  const command = `ulimit -n 60; exec "${process.execPath}" main.js`;
  expect(execFileSync('sh', ['-c', command], {cwd: directory, encoding: 'utf8'})).toBe('EMFILE');
});
