import {execFileSync} from 'node:child_process';
import {rm, symlink, writeFile} from 'node:fs/promises';
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
    body: `unable to retrieve container logs for containerd://main-id: the log "${logPath}" is not a regular file`,
  });
});

test('rotated files are not part of the log, as with a kubelet', async () => {
  const {request, logPath} = await startServerTestbed();
  await writeFile(`${logPath}.20260101-000000`, '2026-01-01T00:00:01Z stdout F old\n');
  await writeFile(logPath, '2026-01-01T00:00:02Z stdout F new\n');
  expect((await request('/containerLogs/team/web/main')).body).toBe('new\n');
  expect((await request('/containerLogs/team/web/main?tailLines=2')).body).toBe('new\n');
});

test('a log that starts with an invalid line is readable', async () => {
  const {request, logPath} = await startServerTestbed();
  await writeFile(logPath, 'broken\n2026-01-01T00:00:02Z stdout F new\n');
  expect(await request('/containerLogs/team/web/main')).toMatchObject({status: 200, body: 'new\n'});
});

test.each(['Stdout', 'Stderr'])('one of two streams, %s, needs the feature gate', async (stream) => {
  const {request} = await startServerTestbed();
  expect(await request(`/containerLogs/team/web/main?stream=${stream}`)).toMatchObject({
    status: 400,
    body: `unable to return the given log stream: "${stream}". Please enable PodLogsQuerySplitStreams feature gate in kubelet`,
  });
  expect((await request('/containerLogs/team/web/main?stream=All')).status).toBe(200);
});

test('parts of lines follow each other as in the file, as with a kubelet', async () => {
  const configuration = {featureGates: {PodLogsQuerySplitStreams: true}};
  const {request, logPath} = await startServerTestbed({options: {configuration}});
  const times = [1, 2, 3].map((second) => `2026-01-01T00:00:0${second}.000000000Z`);
  const lines = [`${times[0]} stdout P a`, `${times[1]} stderr F x`, `${times[2]} stdout F b`];
  await writeFile(logPath, `${lines.join('\n')}\n`);
  const log = '/containerLogs/team/web/main?timestamps=true';
  expect((await request(log)).body).toBe(`${times[0]} ax\n${times[2]} b\n`);
  expect((await request(`${log}&stream=Stdout`)).body).toBe(`${times[0]} a${times[2]} b\n`);
});
