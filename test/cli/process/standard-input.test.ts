import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {text} from 'node:stream/consumers';
import {describe, expect, test} from 'vitest';
import {startStreamingRuntime} from '../../fakes/streaming/start-streaming-runtime.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';

/** Writes which of these modules Node.js has loaded when it exits. */
const reportLoaded = (file: string): string => `process.on('exit', () => {
  const loaded = process.moduleLoadList.filter((name) => / (net|tty|internal.fs.streams|internal.fs.promises)$/.test(name));
  require('fs').writeFileSync('${file}', loaded.join());
});`;

/** Runs `exec -i` on a runtime whose commands return their input. `script` connects the input of `"$@"`. */
async function echo(script: string, before: readonly string[] = []) {
  const runtime = await startStreamingRuntime(async (session) => {
    const stdin = session.stream('stdin');
    await stdin.waitUntil((_, {isEnded}) => isEnded);
    session.stream('stdout').send(stdin.received);
    session.sendExitCode(0);
  });
  const [program, ...words] = KCRI_COMMAND;
  const command = [program, ...before, ...words, 'exec', '-i', 'main', 'cat'];
  const child = spawn('bash', ['-c', script, 'bash', ...command], {
    env: {...process.env, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return {exitCode: (await exited)[0] as unknown, stdout, stderr};
}

describe('standard input of exec', () => {
  const LONG = 'seq 100000';
  test.each([
    ['a file', 'exec "$@" <"$FILE"', 'one\ntwo\n'],
    ['a file from its position', '{ read -r _; exec "$@"; } <"$FILE"', 'two\n'],
    ['/dev/null', 'exec "$@" </dev/null', ''],
    ['a pipe', 'printf "a\\nb" | "$@"', 'a\nb'],
    ['an empty pipe', 'true | "$@"', ''],
    ['a slow pipe', '{ printf a; sleep 0.3; printf b; } | "$@"', 'ab'],
    ['a long pipe', `${LONG} | "$@"`, Array.from({length: 100_000}, (_, index) => `${index + 1}\n`).join('')],
    ['a FIFO', 'f=$(mktemp -u); mkfifo "$f"; printf x >"$f" & "$@" <"$f"; rm "$f"', 'x'],
  ])('is %s', async (_, script, expected) => {
    const file = join(await temporaryDirectory(), 'input');
    await writeFile(file, 'one\ntwo\n');
    const result = await echo(`FILE=${file}; ${script}`);
    expect(result).toEqual({exitCode: 0, stdout: expected, stderr: ''});
  });

  test('that is a pipe stays blocking for other readers', async () => {
    const {exitCode, stdout} = await echo('{ printf a; sleep 0.5; printf b; } | { "$@" <&0; cat; }');
    expect([exitCode, stdout]).toEqual([0, 'ab']);
  });

  // Bun reports no modules.
  test.skipIf(process.env['KCRI_TEST_PROGRAM'] !== undefined).each([
    ['a file', '"$@" </etc/hostname >/dev/null'],
    ['a pipe', 'printf a | "$@" | cat'],
  ])('that is %s loads no socket and no file stream of Node.js', async (_, script) => {
    const folder = await temporaryDirectory();
    const [report, loaded] = ['report.cjs', 'loaded'].map((name) => join(folder, name)) as [string, string];
    await writeFile(report, reportLoaded(loaded));
    // Standard error is a socket, which is opened for output only.
    expect(await echo(script, ['-r', report])).toMatchObject({exitCode: 0, stderr: ''});
    expect(await readFile(loaded, 'utf8')).toBe('');
  });
});
