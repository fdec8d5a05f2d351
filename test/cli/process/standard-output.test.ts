import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {constants} from 'node:fs';
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {text} from 'node:stream/consumers';
import {setTimeout as delay} from 'node:timers/promises';
import {describe, expect, test} from 'vitest';
import {aContainer, FakeRuntime} from '../../fakes/fake-runtime.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

/** Sets O_NONBLOCK on its standard output, as a process that shares the file could, and executes another program. */
const NON_BLOCKING = 'fcntl(STDOUT, F_SETFL, O_NONBLOCK) or die; exec @ARGV';

const LINES = 4000;

const LIST = ['ps', '-a', '--quiet', '--no-trunc'];

/** A slow reader. */
const SLOW_READER = '"$@" | { sleep 1; cat; }; exit ${PIPESTATUS[0]}';

/** A slow reader of a FIFO, which the kernel opens differently. */
const SLOW_FIFO_READER =
  'f=$(mktemp -u); mkfifo "$f"; "$@" >"$f" & { sleep 1; cat; } <"$f"; wait $!; code=$?; rm "$f"; exit $code';

/** Uses the standard output of bash, a socket. */
const SOCKET = 'exec "$@"';

test.each([
  ['a pipe', SLOW_READER, []],
  ['a non-blocking pipe', SLOW_READER, ['perl', '-MFcntl', '-e', NON_BLOCKING]],
  ['a FIFO', SLOW_FIFO_READER, []],
  ['a socket', SOCKET, []],
])('output to %s is complete even for a slow reader', async (_, script, wrapper) => {
  await using runtime = await FakeRuntime.start();
  runtime.fill({containers: LINES, images: 1});
  const child = spawn('bash', ['-c', script, 'bash', ...wrapper, ...KCRI_COMMAND, ...LIST], {
    env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'close');
  await delay(1000);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect({exitCode: await exited, stderr}).toEqual({exitCode: [0, null], stderr: ''});
  const lines = stdout.trimEnd().split('\n');
  expect(new Set(lines).size).toBe(LINES);
  expect(lines.every((line) => line.length === 64)).toBe(true);
});

test.each([
  ['a list', LIST, 0, /^([0-9a-f]{64}\n){4000}$/],
  ['help', ['--help'], 0, /\n {2}version [^]*\nUse "kcri options" for a list of global flags\.\n$/],
  ['a usage error', ['ps', '--bogus'], 1, /^kcri: .*\nusage: .*\nhint: .*\n$/],
  ['an unknown command', ['verson'], 3, /^kcri: .*\nhint: .*\n$/],
])('a file receives all of %s', async (_, args, exitCode, all) => {
  await using runtime = await FakeRuntime.start();
  runtime.fill({containers: LINES, images: 1});
  const folder = await temporaryDirectory();
  const file = join(folder, 'output');
  const child = spawn('bash', ['-c', 'exec "$@" >"$0" 2>&1', file, ...KCRI_COMMAND, ...args], {
    env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
    stdio: 'ignore',
  });
  expect(await once(child, 'close')).toEqual([exitCode, null]);
  expect(await readFile(file, 'utf8')).toMatch(all);
});

/** A pipe that is full before the program starts, with a slow reader. */
const FULL_PIPE =
  '{ head -c 65536 /dev/zero >&2; "$@"; } 2>&1 >/dev/null | { sleep 1; tr -d "\\0"; }; exit ${PIPESTATUS[0]}';

test.each([
  ['of a command', ['ps', '--bogus'], 1, /^kcri: .*\nusage: .*\nhint: .*\n$/],
  ['about an unknown command', ['verson'], 3, /^kcri: .*\nhint: .*\n$/],
])('an error %s waits for the reader of standard error', async (_, args, exitCode, all) => {
  const child = spawn('bash', ['-c', FULL_PIPE, 'bash', ...KCRI_COMMAND, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'close');
  expect(await text(child.stdout)).toMatch(all);
  expect(await exited).toEqual([exitCode, null]);
});

test('a write error on a full device is reported', async () => {
  await using runtime = await FakeRuntime.start();
  runtime.fill({containers: LINES, images: 1});
  const child = spawn('bash', ['-c', 'exec "$@" >/dev/full', 'bash', ...KCRI_COMMAND, ...LIST], {
    env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'close');
  expect(await text(child.stderr)).toBe('kcri: writing to standard output: no space left on device\n');
  expect(await exited).toEqual([1, null]);
});

test.each([
  ['reads one line', 'head -c 65'],
  ['reads nothing', 'true'],
])('a list ends silently if its reader %s', async (_, reader) => {
  await using runtime = await FakeRuntime.start();
  runtime.fill({containers: LINES, images: 1});
  const script = `"$@" | ${reader}; exit \${PIPESTATUS[0]}`;
  const child = spawn('bash', ['-c', script, 'bash', ...KCRI_COMMAND, ...LIST], {
    env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect({exitCode: await exited, stderr}).toEqual({exitCode: [0, null], stderr: ''});
  expect(stdout.split('\n')[0]).toHaveLength(reader === 'true' ? 0 : 64);
});

test.each([
  ['the disk is full', 'exec "$@" bogus 2>/dev/full'],
  ['standard error is closed', '{ sleep 0.2; "$@" bogus; } 2>&1 | true; exit ${PIPESTATUS[0]}'],
])('the exit code of an error is kept even if %s', async (_, script) => {
  const child = spawn('bash', ['-c', script, 'bash', ...KCRI_COMMAND], {stdio: 'ignore'});
  expect(await once(child, 'close')).toEqual([3, null]);
});

// The executable has streams of its own.
if (KCRI_COMMAND.length > 1)
  test('a short output to a pipe loads no streams', async () => {
    const folder = await temporaryDirectory();
    const report = join(folder, 'report.cjs');
    const loaded = join(folder, 'loaded');
    const script = `process.on('exit', () => require('node:fs').writeFileSync('${loaded}', process.moduleLoadList.join('\\n')))`;
    await writeFile(report, script);
    const child = spawn('bash', ['-c', '"$@" --help | cat', 'bash', ...KCRI_COMMAND], {
      env: {...process.env, NODE_OPTIONS: `--require=${report}`},
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect(await text(child.stdout)).toContain('version');
    await once(child, 'close');
    expect((await readFile(loaded, 'utf8')).split('\n')).not.toContain('NativeModule net');
  });

test('a shared FIFO stays blocking for other writers', async () => {
  await using runtime = await FakeRuntime.start();
  const script =
    'f=$(mktemp -u); mkfifo "$f"; exec 3<>"$f"; rm "$f"; "$@" >&3; grep ^flags /proc/$$/fdinfo/3';
  const child = spawn('bash', ['-c', script, 'bash', ...KCRI_COMMAND, 'version'], {
    env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  expect(parseInt(/\d+/.exec(await text(child.stdout))?.[0] ?? '', 8) & constants.O_NONBLOCK).toBe(0);
});

/** Sends SIGTERM to a program whose output is not read. */
const UNREAD =
  'mkfifo "$0"; sleep 60 <"$0" & "$@" >"$0" & sleep 2; kill -TERM $!; wait $!; code=$?; kill %1; exit $code';

/** Sends SIGTERM to a program whose output and errors are not read. */
const ALL_UNREAD = UNREAD.replace('"$@" >"$0"', '"$@" >"$0" 2>&1');

describe('SIGTERM ends a program with a stalled reader:', () => {
  test.each([
    ['a list', UNREAD, ['ps', '-a', '--no-trunc']],
    ['a list with errors to the same reader', ALL_UNREAD, ['ps', '-a', '--no-trunc']],
    ['a log', UNREAD, ['logs', 'chatty']],
  ])('%s', async (_, script, words) => {
    const folder = await temporaryDirectory();
    const logPath = join(folder, 'chatty.log');
    await writeFile(logPath, `2026-11-20T10:00:00Z stdout F ${'x'.repeat(90)}\n`.repeat(20_000));
    const chatty = aContainer({name: 'chatty', state: 'CONTAINER_EXITED', logPath});
    await using runtime = await FakeRuntime.start({containers: [chatty]});
    runtime.fill({containers: LINES, images: 1});
    const child = spawn('bash', ['-c', script, join(folder, 'fifo'), ...KCRI_COMMAND, ...words], {
      env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const exited = once(child, 'close');
    const stderr = await text(child.stderr);
    expect({exited: await exited, stderr}).toEqual({
      exited: [143, null],
      stderr: script === UNREAD ? 'kcri: interrupted\n' : '',
    });
  });
});
