import {chmod, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {SILENT_LOGGER} from '../../../src/base/logger.js';
import {fakeLogger} from '../../base/fake-logger.js';
import {SystemdNotifier} from '../../../src/features/kubelet/systemd/systemd-notifier.js';
import {until} from '../../base/until.js';

let directory: string;
let env: Record<string, string>;
const notifications = async (): Promise<readonly string[]> =>
  (await readFile(join(directory, 'notifications'), 'utf8')).trim().split('\n');

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kcri-notify-'));
  const program = join(directory, 'systemd-notify');
  await writeFile(program, `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> ${directory}/notifications\n`);
  await chmod(program, 0o755);
  env = {PATH: `${directory}:/usr/bin:/bin`, NOTIFY_SOCKET: '@abstract'};
});
afterAll(async () => {
  await rm(directory, {recursive: true});
});

test('notifications are sent in order, and those of the watchdog only while the service is alive', async () => {
  const watched = {...env, WATCHDOG_USEC: '20000', WATCHDOG_PID: String(process.pid)};
  const manager = new SystemdNotifier(watched, SILENT_LOGGER, systemClock);
  expect(manager.watchdogMs).toBe(100);
  await manager.notify('READY=1', 'MAINPID=1');
  const end = new AbortController();
  let checks = 0;
  const watchdog = manager.runWatchdog(() => (checks += 1) < 3, end.signal);
  await until(() => checks > 4);
  end.abort();
  await watchdog;
  await manager.notify('STOPPING=1');
  expect(await notifications()).toEqual([
    '@abstract READY=1 MAINPID=1',
    '@abstract WATCHDOG=1',
    '@abstract WATCHDOG=1',
    '@abstract STOPPING=1',
  ]);
});

test('nothing is sent without a socket, and a missing program is logged once', async () => {
  await new SystemdNotifier({PATH: env['PATH']}, SILENT_LOGGER, systemClock).notify('READY=1');
  expect((await notifications()).filter((line) => line.includes('READY'))).toHaveLength(1);
  const errors: unknown[] = [];
  const logger = fakeLogger({info: () => undefined, error: (error) => errors.push(error)});
  const manager = new SystemdNotifier({NOTIFY_SOCKET: '/x', PATH: '/nonexistent'}, logger, systemClock);
  await manager.notify('READY=1');
  await manager.notify('STOPPING=1');
  expect(errors.map(String)).toEqual([expect.stringMatching(/systemd-notify READY=1: .*ENOENT/)]);
});

test.each([
  [{}, undefined],
  [{WATCHDOG_USEC: '30000000'}, 15_000],
  [{WATCHDOG_USEC: '30000000', WATCHDOG_PID: '1'}, undefined],
  [{WATCHDOG_USEC: '0'}, undefined],
  [{WATCHDOG_USEC: '20000'}, 100],
])('the watchdog interval of %o is %s ms', (variables, intervalMs) => {
  expect(new SystemdNotifier(variables, SILENT_LOGGER, systemClock).watchdogMs).toBe(intervalMs);
});
