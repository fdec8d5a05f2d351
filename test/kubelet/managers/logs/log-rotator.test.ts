import {execFileSync} from 'node:child_process';
import {mkdir, readdir, readFile, rename, stat, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {expect, onTestFinished, test, vi} from 'vitest';
import {containerId, type ContainerId} from '../../../../src/cri/index.js';
import {
  DEFAULT_LOG_ROTATION,
  LogRotator,
  type LoggedContainer,
  type LogRotationOptions,
} from '../../../../src/kubelet/managers/logs/log-rotator.js';
import {LogDirectory} from '../../../../src/kubelet/managers/logs/log-directory.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {until} from '../../../base/until.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {fakeLogger} from '../../../base/fake-logger.js';

const POD = 'default_web_u1';
const NOW = new Date(2026, 0, 2, 3, 4, 5).getTime();
const NAME = '0.log.20260102-030405';

interface RotatorTestbed {
  readonly directory: string;
  readonly reopened: ContainerId[];
  readonly errors: string[];
  readonly clock: FakeClock;
  /** Settings that a test may change while the rotator runs. */
  readonly settings: {maxSizeBytes: number};
  readonly rotate: () => Promise<void>;
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly files: () => Promise<readonly string[]>;
}

/** Creates one container whose log is rotated at 10 bytes; `reopen` is the runtime's ReopenContainerLog. */
async function createRotator(
  options: Partial<LogRotationOptions> = {},
  reopen = async (log: string): Promise<void> => {
    await writeFile(log, '', {flag: 'a'});
  },
): Promise<RotatorTestbed> {
  const podLogsDir = await temporaryDirectory();
  const directory = join(podLogsDir, POD, 'main');
  await mkdir(directory, {recursive: true});
  const clock = new FakeClock();
  clock.jump(NOW);
  const [reopened, errors]: [ContainerId[], string[]] = [[], []];
  const settings = {...DEFAULT_LOG_ROTATION, maxSizeBytes: 10, ...options};
  const container: LoggedContainer = {
    id: containerId('c1'),
    podLogsDir,
    pod: POD,
    container: 'main',
    log: '0.log',
  };
  const rotator = new LogRotator(
    {
      runtime: {
        reopenContainerLog: async (request) => {
          reopened.push(containerId(request?.containerId ?? ''));
          await reopen(join(directory, '0.log'));
          return {};
        },
      },
      running: () => [container],
      clock,
      logger: fakeLogger({
        info: () => undefined,
        error: (error, message) => void errors.push(`${message}: ${(error as Error).message}`),
      }),
    },
    {current: settings},
  );
  const {signal} = new AbortController();
  return {
    directory,
    reopened,
    errors,
    clock,
    settings,
    rotate: async () => rotator.rotateAll(signal),
    run: async (end) => rotator.run(end),
    files: async () => (await readdir(directory)).toSorted(),
  };
}

test('a log that reaches the size limit is rotated, and the runtime reopens it', async () => {
  const {directory, rotate, files, reopened, errors} = await createRotator();
  await writeFile(join(directory, '0.log'), '123456789');
  await rotate();
  expect(await files()).toEqual(['0.log']);
  expect(reopened).toEqual([]);

  await writeFile(join(directory, '0.log'), '1234567890');
  await rotate();
  expect(await files()).toEqual(['0.log', NAME]);
  expect(await readFile(join(directory, NAME), 'utf8')).toBe('1234567890');
  expect(reopened).toEqual(['c1']);
  expect(errors).toEqual([]);
});

test('a log below the size limit is only checked with one stat', async () => {
  const open = vi.spyOn(LogDirectory, 'open');
  onTestFinished(() => {
    open.mockRestore();
  });
  const {directory, rotate} = await createRotator();
  await writeFile(join(directory, '0.log'), '123456789');
  await rotate();
  expect(open).not.toHaveBeenCalled();
  await writeFile(join(directory, '0.log'), '1234567890');
  await rotate();
  expect(open).toHaveBeenCalledOnce();
});

test('the previously rotated log is compressed with its content and mode, and the oldest logs are removed', async () => {
  const {directory, rotate, files} = await createRotator({maxFiles: 4});
  await writeFile(join(directory, '0.log'), 'the newest lines');
  await writeFile(join(directory, '0.log.20260101-000003'), 'x'.repeat(300_000), {mode: 0o640});
  for (const old of ['1', '2']) await writeFile(join(directory, `0.log.20260101-00000${old}.gz`), '');
  await writeFile(join(directory, '0.log.20260101-000002.tmp'), 'half');
  await writeFile(join(directory, '1.log'), 'the newest lines of another');

  await rotate();

  const compressed = join(directory, '0.log.20260101-000003.gz');
  expect(await files()).toEqual([
    '0.log',
    '0.log.20260101-000002.gz',
    '0.log.20260101-000003.gz',
    NAME,
    '1.log',
  ]);
  expect(gunzipSync(await readFile(compressed)).toString()).toBe('x'.repeat(300_000));
  expect((await stat(compressed)).mode & 0o777).toBe(0o640);
});

test('a log that the runtime fails to reopen is renamed back', async () => {
  const {directory, rotate, files, errors} = await createRotator({}, async () => {
    throw new Error('no such container');
  });
  await writeFile(join(directory, '0.log'), '1234567890');
  await rotate();
  expect(await files()).toEqual(['0.log']);
  expect(errors).toEqual(['Failed to rotate log for container: no such container']);
});

test('a log that the runtime reopened despite an error is kept', async () => {
  const {directory, rotate, files} = await createRotator({}, async (log) => {
    await writeFile(log, 'new');
    throw new Error('deadline exceeded');
  });
  await writeFile(join(directory, '0.log'), '1234567890');
  await rotate();
  expect(await files()).toEqual(['0.log', NAME]);
  expect(await readFile(join(directory, '0.log'), 'utf8')).toBe('new');
});

test('a missing log is reopened', async () => {
  const {rotate, files, reopened} = await createRotator();
  await rotate();
  expect(reopened).toEqual(['c1']);
  expect(await files()).toEqual(['0.log']);
});

test('two rotations within one second do not overwrite a rotated log', async () => {
  const {directory, rotate, errors, files, clock} = await createRotator();
  for (const text of ['the first', 'the second']) {
    await writeFile(join(directory, '0.log'), `${text} lines`);
    await rotate();
  }
  expect(errors).toEqual([expect.stringMatching(/the log ".*\.gz" already exists$/)]);
  expect(await files()).toEqual(['0.log', `${NAME}.gz`]);

  clock.jump(1000);
  await rotate();
  expect(await files()).toEqual(['0.log', `${NAME}.gz`, '0.log.20260102-030406']);
  expect(await readFile(join(directory, '0.log.20260102-030406'), 'utf8')).toBe('the second lines');
});

test.for<[string, string, (directory: string, victim: string) => Promise<void>]>([
  [
    'a symbolic link in place of the log',
    '0.log" is not a regular file',
    async (directory, victim) => symlink(join(victim, '0.log'), join(directory, '0.log')),
  ],
  [
    'a FIFO in place of the log',
    '0.log" is not a regular file',
    async (directory) => void execFileSync('mkfifo', [join(directory, '0.log')]),
  ],
  [
    'a symbolic link in place of the container directory',
    'main": not a directory',
    async (directory, victim) => {
      await rename(directory, `${directory}-away`);
      await symlink(victim, directory);
    },
  ],
  [
    'a symbolic link in place of the pod directory',
    'default_web_u1": not a directory',
    async (directory, victim) => {
      const pod = join(directory, '..');
      await rename(pod, `${pod}-away`);
      await mkdir(join(victim, '..', 'other'), {recursive: true});
      await rename(victim, join(victim, '..', 'other', 'main'));
      await symlink(join(victim, '..', 'other'), pod);
      await mkdir(victim);
      await writeFile(join(victim, '0.log'), '1234567890');
    },
  ],
])('%s is reported and not followed', async ([, text, replace]) => {
  const {directory, rotate, errors, reopened} = await createRotator();
  const victim = join(await temporaryDirectory(), 'victim');
  await mkdir(victim);
  await writeFile(join(victim, '0.log'), '1234567890');
  await replace(directory, victim);
  await rotate();
  expect(errors).toEqual([expect.stringContaining(text)]);
  expect(reopened).toEqual([]);
  expect(await readdir(victim)).toEqual(['0.log']);
});

test('a symbolic link among the rotated logs is neither compressed nor removed', async () => {
  const {directory, rotate, files} = await createRotator({maxFiles: 2});
  const secret = join(await temporaryDirectory(), 'secret');
  await writeFile(secret, 'nobody is to read this');
  await writeFile(join(directory, '0.log'), '1234567890');
  await symlink(secret, join(directory, '0.log.1'));
  await rotate();
  expect(await files()).toEqual(['0.log', '0.log.1', NAME]);
});

test('logs are checked at every monitor interval until aborted', async () => {
  const testbed = await createRotator({monitorIntervalMs: 3000});
  const controller = new AbortController();
  const ended = testbed.run(controller.signal);
  await until(() => testbed.clock.sleeping > 0);
  await writeFile(join(testbed.directory, '0.log'), '1234567890');
  await testbed.clock.advance(2999);
  expect(await testbed.files()).toEqual(['0.log']);
  await testbed.clock.advance(1);
  await until(() => testbed.clock.sleeping > 0);
  expect(testbed.reopened).toEqual(['c1', 'c1']);
  controller.abort();
  await ended;
});

test('a negative size limit disables rotation until it changes', async () => {
  const {run, reopened, directory, clock, settings} = await createRotator({maxSizeBytes: -1});
  await writeFile(join(directory, '0.log'), 'longer than ten bytes');
  const end = new AbortController();
  const ended = run(end.signal);
  await until(() => clock.sleeping > 0);
  await clock.advance(10_000);
  expect(reopened).toEqual([]);
  settings.maxSizeBytes = 10;
  await clock.advance(10_000);
  await until(() => reopened.length === 1 && clock.sleeping > 0);
  end.abort();
  await ended;
});
