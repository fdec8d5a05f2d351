import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {KCRI_COMMAND} from '../../kcri-command.js';

/** Starts `kcri ui` of the built program, and waits for its link. */
async function startProgram() {
  const [program, ...before] = KCRI_COMMAND;
  const kcri = spawn(program, [...before, 'ui'], {
    cwd: '/',
    env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: 'unix:///nonexistent/cri.sock'},
  });
  onTestFinished(() => {
    kcri.kill('SIGKILL');
  });
  const output = {stdout: '', stderr: ''};
  kcri.stdout.on('data', (data: Buffer) => (output.stdout += data.toString()));
  kcri.stderr.on('data', (data: Buffer) => (output.stderr += data.toString()));
  await until(
    () => output.stdout.includes('\n'),
    () => output.stderr,
  );
  return {kcri, output, url: output.stdout.split('#')[0] ?? ''};
}

test('the page is served on when what reads the link has ended, as in "kcri ui | head -1"', async () => {
  const {kcri, output, url} = await startProgram();
  kcri.stdout.destroy();
  expect((await fetch(url)).status).toBe(200);
  kcri.kill('SIGINT');
  expect(await once(kcri, 'exit')).toEqual([0, null]);
  expect(output.stderr).not.toContain('EPIPE');
});

test('the built program has the page, and ends cleanly on Ctrl-C', async () => {
  const {kcri, url} = await startProgram();
  const page = await fetch(url);
  expect(page.status).toBe(200);
  const html = await page.text();
  expect(html).toMatch(/^<!doctype html>/i);
  const files = [...html.matchAll(/(?:src|href)="([\w.-]+)"/g)].map(([, name]) => name ?? '');
  expect(files.length).toBeGreaterThan(0);
  for (const name of files) {
    const file = await fetch(new URL(name, url));
    expect([name, file.status, (await file.text()).length > 0]).toEqual([name, 200, true]);
  }
  kcri.kill('SIGINT');
  expect(await once(kcri, 'exit')).toEqual([0, null]);
});
