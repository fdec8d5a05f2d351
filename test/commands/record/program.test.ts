import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {readdir, readFile, rm, stat, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {InterruptedError} from '../../../src/cli/process/interrupt.js';
import {canonicalEndpoint, recorderLink, recorderTarget} from '../../../src/cri/endpoint.js';
import {programWithEndpoint} from '../../../src/features/record/run-program.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {runKcri} from '../../cli/run-kcri.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {parseLines, startRecorder} from './recorder.js';

/** Calls a method of the runtime, with nothing but Node.js: the answer to an invalid path is a status, too. */
const CLIENT = `
const http2 = require('node:http2');
const net = require('node:net');
const path = process.env.CONTAINER_RUNTIME_ENDPOINT.replace('unix://', '');
const session = http2.connect('http://localhost', {createConnection: () => net.connect(path)});
const stream = session.request({':method': 'POST', ':path': '/runtime.v1.RuntimeService/Version', 'content-type': 'application/grpc', te: 'trailers'});
stream.end(Buffer.from([0, 0, 0, 0, 0]));
stream.resume();
stream.on('close', () => { session.close(); process.exitCode = 7; });
`;

describe('record with a program', () => {
  test('records its calls and exits with its exit code', async () => {
    await using runtime = await FakeRuntime.start();
    const directory = await temporaryDirectory();
    const file = join(directory, 'calls.jsonl');
    const script = join(directory, 'client.cjs');
    await writeFile(script, CLIENT);
    const {exitCode} = await runKcri(['record', `--file=${file}`, '--', process.execPath, script], {
      endpoint: runtime.endpoint,
    });
    expect(exitCode).toBe(7);
    expect(parseLines(await readFile(file, 'utf8')).slice(1)).toMatchObject([
      {method: 'Version', code: 'OK'},
    ]);
    // Servers of grpc-js send a message with a success.
    expect(await readFile(file, 'utf8')).not.toContain('"error"');
  });

  test('pods that are created through a recorder are pods of its runtime', async () => {
    await using runtime = await FakeRuntime.start();
    const recorder = await startRecorder(runtime);
    expect(await canonicalEndpoint(recorder.endpoint)).toBe(await canonicalEndpoint(runtime.endpoint));
    const path = recorder.endpoint.replace('unix://', '');
    await recorder.end();
    expect(existsSync(recorderLink(path))).toBe(false);
    expect(await canonicalEndpoint(recorder.endpoint)).toBe(recorder.endpoint);
  });

  test('a link of a recorder that has ended is not followed', async () => {
    const path = join(await temporaryDirectory(), 'cri.sock');
    await writeFile(path, '');
    const {ino} = await stat(path);
    const own = await canonicalEndpoint(path);
    await symlink(recorderTarget(ino, '/run/runtime.sock'), recorderLink(path));
    expect(await canonicalEndpoint(path)).toBe('unix:///run/runtime.sock');
    await rm(recorderLink(path));
    await symlink(recorderTarget(ino + 1, '/run/runtime.sock'), recorderLink(path));
    expect(await canonicalEndpoint(path)).toBe(own);
  });

  test('an interruption is passed on to it', async () => {
    await using runtime = await FakeRuntime.start();
    const ready = join(await temporaryDirectory(), 'ready');
    const interrupt = new AbortController();
    const script = `trap 'exit 9' TERM; : > ${ready}; while :; do sleep 0.05; done`;
    const running = runKcri(['record', '--summary', '--', 'sh', '-c', script], {
      endpoint: runtime.endpoint,
      signal: interrupt.signal,
    });
    await until(async () => (await readFile(ready).catch(() => undefined)) !== undefined);
    interrupt.abort(new InterruptedError('SIGTERM'));
    expect((await running).exitCode).toBe(9);
  });

  test.each(['SIGINT', 'SIGHUP'] as const)(
    'a second signal (%s) ends it at once, and leaves no directory and no socket',
    async (second) => {
      await using runtime = await FakeRuntime.start();
      const directory = await temporaryDirectory();
      const script = `trap ': > ${directory}/interrupted' INT; echo $$ > ${directory}/pid; while :; do sleep 0.05; done`;
      const [program, ...args] = KCRI_COMMAND;
      const recorder = spawn(program, [...args, 'record', '--summary', '--', 'sh', '-c', script], {
        env: {...process.env, TMPDIR: directory, CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
        stdio: 'ignore',
      });
      const ended = once(recorder, 'exit');
      await until(async () => (await readFile(join(directory, 'pid')).catch(() => '')).length > 0);
      const pid = Number(await readFile(join(directory, 'pid'), 'utf8'));
      onTestFinished(() => {
        process.kill(pid, 'SIGKILL');
      });
      expect(await readdir(directory)).toContainEqual(expect.stringMatching(/^kcri-record-/));
      recorder.kill('SIGINT');
      await until(() => existsSync(join(directory, 'interrupted')));
      recorder.kill(second);
      await ended;
      expect((await readdir(directory)).toSorted()).toEqual(['interrupted', 'pid']);
    },
  );

  test('a program that does not exist is an error, and leaves no file in the way of the next try', async () => {
    await using runtime = await FakeRuntime.start();
    const file = join(await temporaryDirectory(), 'calls.jsonl');
    const {stderr, exitCode} = await runKcri(['record', `--file=${file}`, '--', 'no-such-program'], {
      endpoint: runtime.endpoint,
    });
    expect({stderr, exitCode, exists: existsSync(file)}).toEqual({
      exitCode: 1,
      stderr: 'kcri: starting "no-such-program": no such file or directory\n',
      exists: false,
    });
  });

  test('a misspelled subcommand is not taken for a program, but a program after "--" is', async () => {
    await using runtime = await FakeRuntime.start();
    const {stderr} = await runKcri(['record', 'dif', 'a', 'b'], {endpoint: runtime.endpoint});
    expect(stderr).toContain(
      'kcri: unknown command "record dif"\nhint: did you mean "kcri record diff"? A program comes after "--"\n',
    );
    const {stderr: started} = await runKcri(['record', '--summary', '--', 'dif'], {
      endpoint: runtime.endpoint,
    });
    expect(started).toContain('starting "dif"');
  });

  test.each([
    [['crictl', 'ps'], ['ps']],
    [['tool', '--to={endpoint}'], ['--to=unix:///r']],
    [
      ['/usr/bin/kubelet', '--v=2'],
      ['--container-runtime-endpoint=unix:///r', '--v=2'],
    ],
    [['kubelet', '--container-runtime-endpoint={endpoint}'], ['--container-runtime-endpoint=unix:///r']],
  ])('%j gets the arguments %j', (words, args) => {
    expect(programWithEndpoint(words, 'unix:///r')).toEqual({program: words[0], args});
  });
});
