import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {expect, onTestFinished, test} from 'vitest';
import {until} from '../../base/until.js';
import {KCRI_COMMAND} from '../../kcri-command.js';

test('the built program has the page, and ends cleanly on Ctrl-C', async () => {
  const [program, ...before] = KCRI_COMMAND;
  const kcri = spawn(program, [...before, 'ui'], {
    cwd: '/',
    env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: 'unix:///nonexistent/cri.sock'},
  });
  onTestFinished(() => {
    kcri.kill('SIGKILL');
  });
  let stdout = '';
  kcri.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
  await until(() => stdout.includes('\n'));
  const url = stdout.split('#')[0] ?? '';
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
