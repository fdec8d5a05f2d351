import {execFileSync} from 'node:child_process';
import {rm, symlink} from 'node:fs/promises';
import {expect, test} from 'vitest';
import {startServerTestbed} from '../server-testbed.js';

test('a log path of /dev/null is an empty log, also if it is followed to the end of the container', async () => {
  const {request, logPath, runtime} = await startServerTestbed();
  await rm(logPath);
  await symlink('/dev/null', logPath);
  expect(await request('/containerLogs/team/web/main')).toMatchObject({status: 200, body: ''});
  const followed = request('/containerLogs/team/web/main?follow=true');
  runtime.exitContainer('main-id', 0);
  expect(await followed).toMatchObject({status: 200, body: ''});
});

test.each([
  ['a device', 'ln', ['-s', '/dev/zero']],
  ['a pipe', 'mkfifo', []],
] as const)('a log path of %s is neither read nor waited for', async (_what, program, args) => {
  const {request, logPath} = await startServerTestbed();
  await rm(logPath);
  execFileSync(program, [...args, logPath]);
  const {status, body} = await request('/containerLogs/team/web/main');
  expect({status, body}).toEqual({
    status: 400,
    body: `unable to retrieve container logs for main-id: the log "${logPath}" is not a regular file`,
  });
});
