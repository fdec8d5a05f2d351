import {chmod, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {SILENT_LOGGER} from '../../../src/base/logger.js';
import {ServiceManager} from '../../../src/cli/kubelet/service-manager.js';
import {until} from '../../base/until.js';

let directory: string;
let env: Record<string, string>;
const told = async (): Promise<readonly string[]> =>
  (await readFile(join(directory, 'told'), 'utf8')).trim().split('\n');

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'kcri-notify-'));
  const program = join(directory, 'systemd-notify');
  await writeFile(program, `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> ${directory}/told\n`);
  await chmod(program, 0o755);
  env = {PATH: `${directory}:/usr/bin:/bin`, NOTIFY_SOCKET: '@abstract'};
});
afterAll(async () => {
  await rm(directory, {recursive: true});
});

test('systemd is told in order, and of life only as long as there is some', async () => {
  const watched = {...env, WATCHDOG_USEC: '20000', WATCHDOG_PID: String(process.pid)};
  const manager = new ServiceManager(watched, SILENT_LOGGER, systemClock);
  expect(manager.watchdogMs).toBe(10);
  await manager.tell('READY=1', 'MAINPID=1');
  const end = new AbortController();
  let asked = 0;
  const fed = manager.feedWatchdog(() => (asked += 1) < 3, end.signal);
  await until(() => asked > 4);
  end.abort();
  await fed;
  await manager.tell('STOPPING=1');
  expect(await told()).toEqual([
    '@abstract READY=1 MAINPID=1',
    '@abstract WATCHDOG=1',
    '@abstract WATCHDOG=1',
    '@abstract STOPPING=1',
  ]);
});

test('without a socket nothing is told; without the program that is told once', async () => {
  await new ServiceManager({PATH: env['PATH']}, SILENT_LOGGER, systemClock).tell('READY=1');
  expect((await told()).filter((line) => line.includes('READY'))).toHaveLength(1);
  const errors: unknown[] = [];
  const logger = {...SILENT_LOGGER, error: (error: unknown) => errors.push(error)};
  const manager = new ServiceManager({NOTIFY_SOCKET: '/x', PATH: '/nonexistent'}, logger, systemClock);
  await manager.tell('READY=1');
  await manager.tell('STOPPING=1');
  expect(errors.map(String)).toEqual([expect.stringMatching(/systemd-notify READY=1: .*ENOENT/)]);
});

test.each([
  [{}, undefined],
  [{WATCHDOG_USEC: '30000000'}, 15_000],
  [{WATCHDOG_USEC: '30000000', WATCHDOG_PID: '1'}, undefined],
  [{WATCHDOG_USEC: '0'}, undefined],
])('the watchdog of %o is fed every %s ms', (variables, everyMs) => {
  expect(new ServiceManager(variables, SILENT_LOGGER, systemClock).watchdogMs).toBe(everyMs);
});
