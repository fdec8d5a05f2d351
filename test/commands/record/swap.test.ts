import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {link, mkdir, readdir, readFile, rename, rm, stat, writeFile} from 'node:fs/promises';
import {createConnection, createServer} from 'node:net';
import {dirname, join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {connect} from '../../../src/cri/index.js';
import {countConnections} from '../../../src/features/record/swap-socket.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {until} from '../../base/until.js';
import {runKcri} from '../../cli/run-kcri.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {KCRI_COMMAND} from '../../kcri-command.js';
import {parseLines, startRecorder} from './recorder.js';

const inodeOf = async (path: string): Promise<number> => (await stat(path)).ino;

/** Returns what is in the directory of the runtime's socket. */
const filesOf = async ({socketPath}: FakeRuntime): Promise<readonly string[]> =>
  (await readdir(dirname(socketPath))).toSorted();

/** Calls the runtime on a new connection to its path. */
async function callVersion({endpoint}: FakeRuntime): Promise<void> {
  using connection = connect(endpoint);
  await connection.runtime.version();
}

describe('record --swap', () => {
  // Proves: record --swap
  test('records at the path of the runtime, and puts its socket back', async () => {
    await using runtime = await FakeRuntime.start();
    const own = await inodeOf(runtime.socketPath);
    const {end} = await startRecorder(runtime, ['--swap']);
    expect(await inodeOf(runtime.socketPath)).not.toBe(own);
    await callVersion(runtime);
    const {stdout, stderr, exitCode} = await end();
    expect({stderr, exitCode}).toMatchObject({exitCode: 0});
    expect(parseLines(stdout).slice(1)).toMatchObject([{method: 'Version', code: 'OK'}]);
    expect(await inodeOf(runtime.socketPath)).toBe(own);
    await until(async () => (await filesOf(runtime)).length === 1);
    await callVersion(runtime);
  });

  test('a call that runs at the end is completed, and the client connects to the runtime for the next', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await using runtime = await FakeRuntime.start({
      intercept: ({method}) => (method === 'Status' ? released : undefined),
    });
    const {end, stderr} = await startRecorder(runtime, ['--swap']);
    using client = connect(runtime.endpoint);
    const status = client.runtime.status();
    await until(() => runtime.callsTo('Status').length === 1);
    const ending = end();
    await until(async () => (await filesOf(runtime)).length === 1);
    await until(() => stderr().includes('waiting up to 10 seconds for the calls in progress'));
    release();
    expect((await status).status).toBeDefined();
    const {stdout} = await ending;
    expect(parseLines(stdout).slice(1)).toMatchObject([{method: 'Status', code: 'OK'}]);
    await client.runtime.version();
  });

  test('connections that exist before, which are not recorded, are counted', async () => {
    const path = join(await temporaryDirectory(), 'runtime.sock');
    const server = createServer().listen(path);
    await once(server, 'listening');
    const client = createConnection({path});
    await once(server, 'connection');
    expect(await countConnections(path)).toBe(1);
    client.destroy();
    server.close();
  });

  test.each([
    ['a recording that fails', ['/no/such/program'], 1],
    ['a program that fails', ['false'], 1],
  ])('the socket of the runtime is put back after %s', async (_, program, exitCode) => {
    await using runtime = await FakeRuntime.start();
    const own = await inodeOf(runtime.socketPath);
    const result = await runKcri(['record', '--swap', '--summary', '--', ...program], {
      endpoint: runtime.endpoint,
    });
    expect(result.exitCode).toBe(exitCode);
    expect(await inodeOf(runtime.socketPath)).toBe(own);
    expect(await filesOf(runtime)).toHaveLength(1);
    await callVersion(runtime);
  });

  test('a second recorder is refused', async () => {
    await using runtime = await FakeRuntime.start();
    const {end} = await startRecorder(runtime, ['--swap']);
    const {stderr, exitCode} = await runKcri(['record', '--swap'], {endpoint: runtime.endpoint});
    expect({stderr, exitCode}).toEqual({
      exitCode: 1,
      stderr: `kcri: cannot swap "${runtime.socketPath}": process ${process.pid} is recording it\nhint: end that recording first\n`,
    });
    expect((await end()).exitCode).toBe(0);
  });

  test('takes the path again when a restarted runtime has made a new socket', async () => {
    await using runtime = await FakeRuntime.start();
    const {end, stderr} = await startRecorder(runtime, ['--swap']);
    await runtime.crash();
    // A runtime removes what is at its path, and listens there.
    await runtime.restart();
    const fresh = await inodeOf(runtime.socketPath);
    await until(() => stderr().includes('the runtime has restarted'));
    await callVersion(runtime);
    const {stdout} = await end();
    expect(parseLines(stdout).slice(1)).toMatchObject([{method: 'Version', code: 'OK'}]);
    expect(await inodeOf(runtime.socketPath)).toBe(fresh);
  });

  test.each([false, true])(
    'ends with what is recorded when the runtime and its directory are removed, also if there is a new runtime (%s)',
    async (isReplaced) => {
      await using runtime = await FakeRuntime.start();
      const directory = await temporaryDirectory();
      const file = join(directory, 'calls.jsonl');
      const recording = runKcri(['record', '--swap', `--file=${file}`, '--summary'], {
        endpoint: runtime.endpoint,
      });
      await until(async () => (await filesOf(runtime)).includes('cri.sock.kcri-runtime'));
      await until(
        async () =>
          (await inodeOf(`${runtime.socketPath}.kcri-record`)) === (await inodeOf(runtime.socketPath)),
      );
      await callVersion(runtime);
      // As "kcri runtime down" does, and "kcri runtime up" after it.
      await runtime.crash();
      await rename(dirname(runtime.socketPath), join(directory, 'removed'));
      await mkdir(dirname(runtime.socketPath));
      if (isReplaced) await runtime.restart();
      const {stdout, stderr, exitCode} = await recording;
      expect(exitCode).toBe(1);
      const {socketPath} = runtime;
      expect(stderr).toContain(
        `kcri: cannot record "${socketPath}" any more: "${socketPath}.kcri-record" was removed\n` +
          'hint: "kcri runtime down" removes it with the runtime; run "kcri record --swap" again to record a new runtime\n' +
          `kcri: recorded 1 call to "${file}"\n`,
      );
      expect(stdout).toMatch(/^Version +1 /m);
      expect(parseLines(await readFile(file, 'utf8')).slice(1)).toMatchObject([{method: 'Version'}]);
      if (isReplaced) await callVersion(runtime);
      expect(await filesOf(runtime)).toEqual(isReplaced ? ['cri.sock'] : []);
    },
  );

  test('the removal of the runtime is reported at once, while a program goes on', async () => {
    await using runtime = await FakeRuntime.start();
    const directory = await temporaryDirectory();
    const [file, end] = [join(directory, 'calls.jsonl'), join(directory, 'end')];
    let stderr = '';
    const script = 'while [ -d "${1%/*}" ] && ! [ -e "$1" ]; do sleep 0.05; done';
    const recording = runKcri(['record', '--swap', `--file=${file}`, '--', 'sh', '-c', script, 'sh', end], {
      endpoint: runtime.endpoint,
      onStderr: (text) => {
        stderr += text;
      },
    });
    await until(async () => (await filesOf(runtime)).includes('cri.sock.kcri-runtime'));
    await until(
      async () =>
        (await inodeOf(`${runtime.socketPath}.kcri-record`)) === (await inodeOf(runtime.socketPath)),
    );
    await runtime.crash();
    await rename(dirname(runtime.socketPath), join(directory, 'removed'));
    await until(() => Promise.resolve(stderr.includes('was removed; "sh" goes on, but is not recorded\n')));
    await writeFile(end, '');
    expect((await recording).exitCode).toBe(1);
  });

  test('a guard puts the socket back if the recorder is killed', async () => {
    await using runtime = await FakeRuntime.start();
    const own = await inodeOf(runtime.socketPath);
    const recorder = await startProcess(runtime);
    recorder.kill('SIGKILL');
    await once(recorder, 'exit');
    await until(async () => (await filesOf(runtime)).length === 1);
    expect(await inodeOf(runtime.socketPath)).toBe(own);
    await callVersion(runtime);
  });

  test('nothing is left of a recorder that is killed before it has replaced the socket', async () => {
    await using runtime = await FakeRuntime.start();
    const own = await inodeOf(runtime.socketPath);
    const recorder = await startProcess(runtime);
    // As if it had been killed between the two steps of a swap.
    await link(`${runtime.socketPath}.kcri-record`, `${runtime.socketPath}.kcri-record.next`);
    await rename(`${runtime.socketPath}.kcri-runtime`, runtime.socketPath);
    recorder.kill('SIGKILL');
    await once(recorder, 'exit');
    await until(async () => (await filesOf(runtime)).length === 1);
    expect(await inodeOf(runtime.socketPath)).toBe(own);
  });

  test('the socket is put back if the name of the recorder was removed', async () => {
    await using runtime = await FakeRuntime.start();
    const own = await inodeOf(runtime.socketPath);
    const recorder = await startProcess(runtime);
    await rm(`${runtime.socketPath}.kcri-record`);
    process.kill(await guardOf(runtime.socketPath), 'SIGKILL');
    recorder.kill('SIGKILL');
    await once(recorder, 'exit');
    const next = await startProcess(runtime);
    await rm(`${runtime.socketPath}.kcri-record`);
    next.kill('SIGINT');
    expect(await once(next, 'exit')).toEqual([0, null]);
    expect(await inodeOf(runtime.socketPath)).toBe(own);
    const last = await startProcess(runtime);
    await rm(`${runtime.socketPath}.kcri-record`);
    last.kill('SIGKILL');
    await until(async () => (await filesOf(runtime)).length === 1);
    expect(await inodeOf(runtime.socketPath)).toBe(own);
  });

  test('the next recorder puts the socket back if the guard is killed, too', async () => {
    await using runtime = await FakeRuntime.start();
    const own = await inodeOf(runtime.socketPath);
    const recorder = await startProcess(runtime);
    const guard = await guardOf(runtime.socketPath);
    process.kill(guard, 'SIGKILL');
    recorder.kill('SIGKILL');
    await once(recorder, 'exit');
    for (const command of [
      ['ps'],
      ['images'],
      ['logs', 'main'],
      ['record', `--listen=${runtime.socketPath}.other`],
      ['replay', await anyRecording()],
    ])
      expect((await runKcri(command, {endpoint: runtime.endpoint})).stderr).toContain(
        `put it back with: mv ${runtime.socketPath}.kcri-runtime ${runtime.socketPath}`,
      );
    const {end, stderr} = await startRecorder(runtime, ['--swap']);
    expect(stderr()).toContain('which a recorder that was killed had replaced');
    expect((await end()).exitCode).toBe(0);
    expect(await inodeOf(runtime.socketPath)).toBe(own);
  });
});

/** Returns a recording of a call. */
async function anyRecording(): Promise<string> {
  await using runtime = await FakeRuntime.start();
  const file = join(await temporaryDirectory(), 'calls.jsonl');
  const {connection, end} = await startRecorder(runtime, [`--file=${file}`]);
  await connection.runtime.version();
  await end();
  return file;
}

/** Returns the PID of the guard of a swapped socket. */
async function guardOf(path: string): Promise<number> {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  for (const pid of processes) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes('kcri-record-guard') && line.includes(path)) return Number(pid);
  }
  throw new Error(`no guard of ${path}`);
}

/** Starts the built program as a recorder, and waits until it has replaced the socket. */
async function startProcess(runtime: FakeRuntime) {
  const [program, ...args] = KCRI_COMMAND;
  const child = spawn(program, [...args, '-r', runtime.endpoint, 'record', '--swap', '--summary'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await until(() => text.includes('recording calls'));
  return child;
}
