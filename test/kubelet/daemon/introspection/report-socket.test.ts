import {once} from 'node:events';
import {chmod, lstat, mkdir, readdir, stat, writeFile} from 'node:fs/promises';
import {connect, createServer} from 'node:net';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import {podUid, type PodUid} from '../../../../src/cri/index.js';
import type {
  KubeletReport,
  ReportRequest,
} from '../../../../src/kubelet/daemon/introspection/kubelet-report.js';
import {
  queryKubelet,
  serveReports,
  type ReportService,
} from '../../../../src/kubelet/daemon/introspection/report-socket.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

const REPORT: KubeletReport = {
  pid: 7,
  startedAt: '2026-05-01T12:00:00.000Z',
  now: '2026-05-01T12:01:00.000Z',
  endpoint: 'unix:///r.sock',
  urls: {},
  lastActiveAt: '2026-05-01T12:00:59.000Z',
  errors: ['the password is hunter2'],
  pleg: {mode: 'events'},
  wantedPods: 3,
  pods: [],
};
const OPTIONS = {clock: systemClock, signal: new AbortController().signal};

function aService(overrides: Partial<ReportService> = {}): ReportService {
  return {
    report: () => REPORT,
    mask: (text) => text,
    logger: SILENT_LOGGER,
    clock: systemClock,
    ...overrides,
  };
}

async function socketOf(rootDir: string): Promise<string> {
  await mkdir(join(rootDir, 'kcri/kubelet'), {recursive: true});
  return join(rootDir, 'kcri/kubelet', 'kubelet.sock');
}

test('a query gets the report of the requested pods with secrets redacted', async () => {
  const rootDir = await temporaryDirectory();
  const requestedUids: (readonly PodUid[] | undefined)[] = [];
  const report = ({uids}: ReportRequest): KubeletReport => {
    requestedUids.push(uids);
    return REPORT;
  };
  await using served = await serveReports(
    rootDir,
    aService({report, mask: (text) => text.replace('hunter2', '[hidden]')}),
  );
  expect(served).toBeDefined();
  const answer = await queryKubelet(rootDir, {uids: [podUid('u1')]}, OPTIONS);
  expect(answer).toEqual({...REPORT, errors: ['the password is [hidden]']});
  await queryKubelet(rootDir, {}, OPTIONS);
  expect(requestedUids).toEqual([['u1'], undefined]);
});

test('the socket is only accessible by root, whatever the mode of the root directory, and is removed with the daemon', async () => {
  const rootDir = await temporaryDirectory();
  await chmod(rootDir, 0o755);
  const served = await serveReports(rootDir, aService());
  expect((await stat(join(rootDir, 'kcri/kubelet'))).mode & 0o777).toBe(0o700);
  const socket = await lstat(join(rootDir, 'kcri/kubelet', 'kubelet.sock'));
  expect([socket.isSocket(), socket.mode & 0o777]).toEqual([true, 0o600]);
  await served[Symbol.asyncDispose]();
  expect(await readdir(join(rootDir, 'kcri'))).toEqual([]);
});

test('a root directory longer than a socket path and a stale socket file do not prevent serving', async () => {
  const rootDir = join(await temporaryDirectory(), 'x'.repeat(200));
  await mkdir(join(rootDir, 'kcri/kubelet'), {recursive: true});
  await writeFile(join(rootDir, 'kcri/kubelet', 'kubelet.sock'), '');
  await using served = await serveReports(rootDir, aService());
  expect(served).toBeDefined();
  expect(await queryKubelet(rootDir, {uids: []}, OPTIONS)).toEqual(REPORT);
});

test.each(['not a query', '7'.repeat(2_000_000), '{"uids":'])(
  'a client that sends an invalid query is disconnected, and the next one gets an answer',
  async (query) => {
    const rootDir = await temporaryDirectory();
    await using served = await serveReports(rootDir, aService());
    expect(served).toBeDefined();
    const socket = connect(join(rootDir, 'kcri/kubelet', 'kubelet.sock'));
    socket.on('error', () => undefined); // disconnected while sending
    const answer: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => answer.push(chunk));
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.end(query);
    await closed;
    expect(Buffer.concat(answer)).toHaveLength(0);
    expect(await queryKubelet(rootDir, {uids: []}, OPTIONS)).toEqual(REPORT);
  },
);

test('a client that does not complete its query does not delay the shutdown', async () => {
  const rootDir = await temporaryDirectory();
  const served = await serveReports(rootDir, aService());
  const socket = connect(join(rootDir, 'kcri/kubelet', 'kubelet.sock'));
  await once(socket, 'connect');
  const closed = once(socket, 'close');
  await served[Symbol.asyncDispose]();
  await closed;
});

test('a missing socket and a socket without a server are reported', async () => {
  const rootDir = await temporaryDirectory();
  await expect(queryKubelet(rootDir, {uids: []}, OPTIONS)).rejects.toThrow('does not exist');
  await writeFile(await socketOf(rootDir), '');
  await expect(queryKubelet(rootDir, {uids: []}, OPTIONS)).rejects.toThrow(
    /^connecting to ".*kubelet\.sock": connection refused/,
  );
});

test.each([
  ['', 'the response is truncated'],
  ['{"version":1,"pid"', 'the response is truncated'],
  ['{"version":2,"pid":7}', 'the response has version 2, not 1'],
])('the invalid response %j is rejected', async (answer, message) => {
  const rootDir = await temporaryDirectory();
  const server = createServer({allowHalfOpen: true}, (socket) => void socket.end(answer));
  onTestFinished(() => void server.close());
  server.listen(await socketOf(rootDir));
  await once(server, 'listening');
  await expect(queryKubelet(rootDir, {uids: []}, OPTIONS)).rejects.toThrow(message);
});

test('a daemon that does not respond is given up after five seconds', async () => {
  const rootDir = await temporaryDirectory();
  const server = createServer({allowHalfOpen: true}, () => undefined);
  onTestFinished(() => void server.close());
  server.listen(await socketOf(rootDir));
  await once(server, 'listening');
  const clock = new FakeClock();
  const query = queryKubelet(rootDir, {uids: []}, {...OPTIONS, clock});
  const rejected = expect(query).rejects.toThrow('no response within 5s');
  await once(server, 'connection');
  await clock.advance(5000);
  await rejected;
});
