import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {text} from 'node:stream/consumers';
import {expect, onTestFinished, test} from 'vitest';
import {FakeRuntime} from '../fakes/fake-runtime.js';
import {KCRI_COMMAND} from '../kcri-command.js';

/** Makes its standard output non-blocking, as who shares the file may have done, and becomes another program. */
const NON_BLOCKING = 'fcntl(STDOUT, F_SETFL, O_NONBLOCK) or die; exec @ARGV';

const LINES = 4000;

/** A reader that begins late. */
const SLOWLY = '"$@" | { sleep 1; cat; }; exit ${PIPESTATUS[0]}';

test('what is written to a file that takes no more at once comes whole', async () => {
  await using runtime = await FakeRuntime.start();
  runtime.fill({containers: LINES, images: 1});
  const kcri = ['perl', '-MFcntl', '-e', NON_BLOCKING, ...KCRI_COMMAND, 'ps', '-a', '--quiet', '--no-trunc'];
  const child = spawn('bash', ['-c', SLOWLY, 'bash', ...kcri], {
    env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect({exitCode: await ended, stderr}).toEqual({exitCode: [0, null], stderr: ''});
  const lines = stdout.trimEnd().split('\n');
  expect(new Set(lines).size).toBe(LINES);
  expect(lines.every((line) => line.length === 64)).toBe(true);
});

/** Lets nobody read what the program writes, asks it to end, and insists. */
const UNREAD =
  'mkfifo "$0"; sleep 60 <"$0" & "$@" >"$0" & sleep 2; kill $!; sleep 0.5; kill $!; wait $!; code=$?; kill %1; exit $code';

test('a reader that stands still does not keep the second SIGTERM from ending the command', async () => {
  await using runtime = await FakeRuntime.start();
  runtime.fill({containers: LINES, images: 1});
  const folder = await mkdtemp(join(tmpdir(), 'kcri-output-'));
  onTestFinished(() => rm(folder, {recursive: true}));
  const child = spawn(
    'bash',
    ['-c', UNREAD, join(folder, 'fifo'), ...KCRI_COMMAND, 'ps', '-a', '--no-trunc'],
    {
      env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
      stdio: 'ignore',
    },
  );
  expect(await once(child, 'close')).toEqual([143, null]);
});
