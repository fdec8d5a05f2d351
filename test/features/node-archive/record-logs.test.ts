import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import type {RuntimeContext} from '../../../src/cli/command/contexts.js';
import {decode, encode} from '../../../src/cri/codec.js';
import {containerId} from '../../../src/cri/index.js';
import {recordLogs} from '../../../src/features/node-archive/record-logs.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

const services = {
  connections: {},
  context: {clock: systemClock},
  signal: new AbortController().signal,
} as unknown as RuntimeContext;

function aStatus(logPath: string, attempt = 0) {
  const status = {
    ...{id: containerId('c1'), logPath, metadata: {name: 'main', attempt}},
    labels: {'io.kubernetes.pod.namespace': 'payments'},
  };
  return decode('ContainerStatus', encode('ContainerStatus', status));
}

const LINE = '2026-11-27T12:00:00Z stdout F ';

test('logs lose the values of the variables of their container, wherever these come from', async () => {
  const path = join(await temporaryDirectory(), '0.log');
  await writeFile(path, `${LINE}user s3cr3t-user in payments on port 8080\n`);
  const env = ['DB_USER=s3cr3t-user', 'PORT=8080', 'POD_NAMESPACE=payments', 'PATH=/usr/bin', 'EMPTY='];
  expect(await recordLogs(services, [{status: aStatus(path), env}], 10_000)).toEqual({
    files: {[path]: {text: `${LINE}user *** in payments on port 8080\n`, isCut: false}},
  });
});

test('only the last lines of a long log are read, and the previous log too', async () => {
  const directory = await temporaryDirectory();
  const [previous, path] = [join(directory, '0.log'), join(directory, '1.log')];
  const lines = Array.from({length: 100}, (_, index) => `${LINE}line ${index}\n`);
  await writeFile(path, lines.join(''));
  await writeFile(previous, `${LINE}before\n`);
  const {files} = await recordLogs(services, [{status: aStatus(path, 1), env: []}], 2048);
  expect(files[previous]).toEqual({text: `${LINE}before\n`, isCut: false});
  const log = files[path];
  if (log === undefined || 'error' in log) throw new TypeError('no log');
  expect(log.isCut).toBe(true);
  expect(Buffer.byteLength(log.text)).toBeLessThanOrEqual(1024);
  expect(lines.join('').endsWith(log.text)).toBe(true);
  expect(log.text).toMatch(/^2026/);
});

test('a log that does not exist is left out, and one that cannot be read is recorded with the reason', async () => {
  const directory = await temporaryDirectory();
  const missing = join(directory, 'none.log');
  const statuses = [aStatus(missing), aStatus('/dev/zero'), aStatus('')];
  const {files} = await recordLogs(
    services,
    statuses.map((status) => ({status, env: []})),
    10_000,
  );
  expect(files).toEqual({'/dev/zero': {error: 'the log "/dev/zero" is not a regular file'}});
});
