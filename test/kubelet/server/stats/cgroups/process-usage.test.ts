import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createServer} from 'node:net';
import {expect, test} from 'vitest';
import {
  OpenFileBudget,
  readProcessUsage,
} from '../../../../../src/kubelet/server/stats/cgroups/process-usage.js';

const OWN = String(process.pid);

test('the open files, sockets and limit of a process are read', async () => {
  const before = await readProcessUsage([OWN], new OpenFileBudget());
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const usage = await readProcessUsage([OWN], new OpenFileBudget());
  server.close();
  expect(usage?.sockets).toBeGreaterThan(before?.sockets ?? -1n);
  expect(usage?.fileDescriptors).toBeGreaterThan(usage?.sockets ?? 0n);
  expect(usage?.maxOpenFiles).not.toBe(0n);
});

test('a process that has ended, or is outside of the PID namespace, counts as nothing', async () => {
  const child = spawn('true');
  await once(child, 'exit');
  const usage = await readProcessUsage([String(child.pid), '0'], new OpenFileBudget());
  expect(usage).toEqual({fileDescriptors: 0n, sockets: 0n, maxOpenFiles: undefined});
});

test('more open files than a scrape may examine are not reported', async () => {
  expect(await readProcessUsage([OWN], new OpenFileBudget(1))).toBeUndefined();
});
