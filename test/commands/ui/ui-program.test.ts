import {once} from 'node:events';
import {expect, test} from 'vitest';
import {startUiProgram} from './start-ui-program.js';

/** Starts the page of a runtime that does not exist. */
async function startProgram() {
  const {kcri, output, link} = await startUiProgram([], {
    CONTAINER_RUNTIME_ENDPOINT: 'unix:///nonexistent/cri.sock',
  });
  return {kcri, output, url: link.split('#')[0] ?? ''};
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
