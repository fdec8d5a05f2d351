import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {constants} from 'node:fs';
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {text} from 'node:stream/consumers';
import {setTimeout as delay} from 'node:timers/promises';
import {describe, expect, onTestFinished, test} from 'vitest';
import {aContainer, FakeRuntime} from '../../fakes/fake-runtime.js';
import {KCRI_COMMAND} from '../../kcri-command.js';

/** Makes its standard output non-blocking, as who shares the file may have done, and becomes another program. */
const NON_BLOCKING = 'fcntl(STDOUT, F_SETFL, O_NONBLOCK) or die; exec @ARGV';

const LINES = 4000;

const LIST = ['ps', '-a', '--quiet', '--no-trunc'];

/** A reader that begins late. */
const SLOWLY = '"$@" | { sleep 1; cat; }; exit ${PIPESTATUS[0]}';

/** The same through a FIFO, which the kernel opens in another way. */
const SLOWLY_FIFO =
  'f=$(mktemp -u); mkfifo "$f"; "$@" >"$f" & { sleep 1; cat; } <"$f"; wait $!; code=$?; rm "$f"; exit $code';

/** The program's output is what bash has, which is a socket. */
const HERE = 'exec "$@"';

test.each([
  ['a pipe', SLOWLY, []],
  ['a pipe that does not wait', SLOWLY, ['perl', '-MFcntl', '-e', NON_BLOCKING]],
  ['a FIFO', SLOWLY_FIFO, []],
  ['a socket', HERE, []],
])('what is written to %s comes whole, however late it is read', async (_, script, wrapper) => {
  await using runtime = await FakeRuntime.start();
  runtime.fill({containers: LINES, images: 1});
  const child = spawn('bash', ['-c', script, 'bash', ...wrapper, ...KCRI_COMMAND, ...LIST], {
    env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  await delay(1000);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect({exitCode: await ended, stderr}).toEqual({exitCode: [0, null], stderr: ''});
  const lines = stdout.trimEnd().split('\n');
  expect(new Set(lines).size).toBe(LINES);
  expect(lines.every((line) => line.length === 64)).toBe(true);
});

test.each([
  ['a list', LIST, 0, /^([0-9a-f]{64}\n){4000}$/],
  ['help', ['--help'], 0, /\n {2}version [^]*\nUse "kcri options" for a list of global flags\.\n$/],
  ['a usage error', ['ps', '--bogus'], 1, /^kcri: .*\nusage: .*\nhint: .*\n$/],
  ['an unknown command', ['verson'], 3, /^kcri: .*\nhint: .*\n$/],
])('a file takes all of %s', async (_, args, exitCode, all) => {
  await using runtime = await FakeRuntime.start();
  runtime.fill({containers: LINES, images: 1});
  const folder = await mkdtemp(join(tmpdir(), 'kcri-output-'));
  onTestFinished(() => rm(folder, {recursive: true}));
  const file = join(folder, 'output');
  const child = spawn('bash', ['-c', 'exec "$@" >"$0" 2>&1', file, ...KCRI_COMMAND, ...args], {
    env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
    stdio: 'ignore',
  });
  expect(await once(child, 'close')).toEqual([exitCode, null]);
  expect(await readFile(file, 'utf8')).toMatch(all);
});

/** A pipe that is full before the program begins, and whose reader begins late. */
const FULL =
  '{ head -c 65536 /dev/zero >&2; "$@"; } 2>&1 >/dev/null | { sleep 1; tr -d "\\0"; }; exit ${PIPESTATUS[0]}';

test.each([
  ['of a command', ['ps', '--bogus'], 1, /^kcri: .*\nusage: .*\nhint: .*\n$/],
  ['of no command', ['verson'], 3, /^kcri: .*\nhint: .*\n$/],
])('an error %s waits for the reader of standard error', async (_, args, exitCode, all) => {
  const child = spawn('bash', ['-c', FULL, 'bash', ...KCRI_COMMAND, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  expect(await text(child.stdout)).toMatch(all);
  expect(await ended).toEqual([exitCode, null]);
});

test('what a full device does not take is told', async () => {
  await using runtime = await FakeRuntime.start();
  runtime.fill({containers: LINES, images: 1});
  const child = spawn('bash', ['-c', 'exec "$@" >/dev/full', 'bash', ...KCRI_COMMAND, ...LIST], {
    env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'close');
  expect(await text(child.stderr)).toBe('kcri: writing to standard output: no space left on device\n');
  expect(await ended).toEqual([1, null]);
});

test.each([
  ['takes one line', 'head -c 65'],
  ['takes nothing', 'true'],
])('a reader that %s ends a list quietly', async (_, reader) => {
  await using runtime = await FakeRuntime.start();
  runtime.fill({containers: LINES, images: 1});
  const script = `"$@" | ${reader}; exit \${PIPESTATUS[0]}`;
  const child = spawn('bash', ['-c', script, 'bash', ...KCRI_COMMAND, ...LIST], {
    env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect({exitCode: await ended, stderr}).toEqual({exitCode: [0, null], stderr: ''});
  expect(stdout.split('\n')[0]).toHaveLength(reader === 'true' ? 0 : 64);
});

test.each([
  ['the disk is full', 'exec "$@" bogus 2>/dev/full'],
  ['nobody reads', '{ sleep 0.2; "$@" bogus; } 2>&1 | true; exit ${PIPESTATUS[0]}'],
])('an error that cannot be told since %s is one all the same', async (_, script) => {
  const child = spawn('bash', ['-c', script, 'bash', ...KCRI_COMMAND], {stdio: 'ignore'});
  expect(await once(child, 'close')).toEqual([3, null]);
});

test('what others write to the same FIFO still waits for its reader', async () => {
  await using runtime = await FakeRuntime.start();
  const script =
    'f=$(mktemp -u); mkfifo "$f"; exec 3<>"$f"; rm "$f"; "$@" >&3; grep ^flags /proc/$$/fdinfo/3';
  const child = spawn('bash', ['-c', script, 'bash', ...KCRI_COMMAND, 'version'], {
    env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  expect(parseInt(/\d+/.exec(await text(child.stdout))?.[0] ?? '', 8) & constants.O_NONBLOCK).toBe(0);
});

/** Lets nobody read what the program writes, and asks it to end. */
const UNREAD =
  'mkfifo "$0"; sleep 60 <"$0" & "$@" >"$0" & sleep 2; kill -TERM $!; wait $!; code=$?; kill %1; exit $code';

/** The same, where what it tells people is not read either. */
const ALL_UNREAD = UNREAD.replace('"$@" >"$0"', '"$@" >"$0" 2>&1');

describe('a reader that stands still does not keep SIGTERM from ending', () => {
  test.each([
    ['a list', UNREAD, ['ps', '-a', '--no-trunc']],
    ['a list whose errors go there too', ALL_UNREAD, ['ps', '-a', '--no-trunc']],
    ['a log', UNREAD, ['logs', 'chatty']],
  ])('%s', async (_, script, words) => {
    const folder = await mkdtemp(join(tmpdir(), 'kcri-output-'));
    onTestFinished(() => rm(folder, {recursive: true}));
    const logPath = join(folder, 'chatty.log');
    await writeFile(logPath, `2026-11-20T10:00:00Z stdout F ${'x'.repeat(90)}\n`.repeat(20_000));
    const chatty = aContainer({name: 'chatty', state: 'CONTAINER_EXITED', logPath});
    await using runtime = await FakeRuntime.start({containers: [chatty]});
    runtime.fill({containers: LINES, images: 1});
    const child = spawn('bash', ['-c', script, join(folder, 'fifo'), ...KCRI_COMMAND, ...words], {
      env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = once(child, 'close');
    const stderr = await text(child.stderr);
    expect({ended: await ended, stderr}).toEqual({
      ended: [143, null],
      stderr: script === UNREAD ? 'kcri: interrupted\n' : '',
    });
  });
});
