import {appendFile, mkdir, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {InterruptedError} from '../../../../src/cli/process/interrupt.js';
import {podSandboxId as sandboxId, podUid, type Connection} from '../../../../src/cri/index.js';
import {useOwnTemporaryDirectory} from '../../../base/own-temporary-directory.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {until} from '../../../base/until.js';
import {runKcri, type RunOptions} from '../../../cli/run-kcri.js';
import {FakeClock} from '../../../fakes/fake-clock.js';
import {BUSYBOX, FakeRuntime, aSandbox, anImage} from '../../../fakes/fake-runtime.js';
import {startRecorder} from '../recorder.js';

const UID = 'b4a7a1f0-1c6e-4b1e-9d52-0e6f7f3f0001';
const ROOT = '/var/lib/kubelet';

const startRuntime = () => FakeRuntime.start({images: [anImage({name: BUSYBOX})]});

/** Runs a pod like a kubelet would. */
async function runPod({runtime, images}: Connection) {
  const logDirectory = join(await temporaryDirectory(), `default_web_${UID}`);
  await mkdir(join(logDirectory, 'main'), {recursive: true});
  const config = {
    metadata: {name: 'web', namespace: 'default', uid: podUid(UID), attempt: 0},
    logDirectory,
    labels: {'io.kubernetes.pod.uid': UID},
    linux: {cgroupParent: `/kubepods/besteffort/pod${UID}`},
  };
  await runtime.version();
  const {image} = await images.imageStatus({image: {image: BUSYBOX}});
  const {podSandboxId} = await runtime.runPodSandbox({config});
  await runtime.podSandboxStatus({podSandboxId});
  const {containerId} = await runtime.createContainer({
    podSandboxId,
    config: {
      metadata: {name: 'main', attempt: 0},
      image: {image: image?.id ?? '', userSpecifiedImage: BUSYBOX},
      command: ['sleep', '3600'],
      envs: [{key: 'POD', value: Buffer.from(UID)}],
      mounts: [
        {containerPath: '/data', hostPath: `${ROOT}/pods/${UID}/volumes/data`},
        {containerPath: '/etc/hosts', hostPath: `${ROOT}/pods/${UID}/etc-hosts`},
      ],
      logPath: 'main/0.log',
    },
    sandboxConfig: config,
  });
  await runtime.startContainer({containerId});
  await Promise.all([runtime.containerStatus({containerId}), runtime.listContainers()]);
  await runtime.execSync({containerId, cmd: ['true']});
  await runtime.stopPodSandbox({podSandboxId});
  await runtime.removePodSandbox({podSandboxId});
}

/** Records a run on a new runtime, and returns the file. */
async function recordRun(run: (connection: Connection) => Promise<void> = runPod): Promise<string> {
  await using runtime = await startRuntime();
  const file = join(await temporaryDirectory(), 'calls.jsonl');
  const {connection, end} = await startRecorder(runtime, [`--file=${file}`, '--keep-output']);
  await run(connection);
  await end();
  return file;
}

const replay = (runtime: FakeRuntime, args: readonly string[], options: RunOptions = {}) =>
  runKcri(['replay', ...args], {endpoint: runtime.endpoint, ...options});

useOwnTemporaryDirectory();

/** Lists the directories of replays. */
const directories = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('kcri-replay-'));

describe('replay', () => {
  // Proves: replay
  test('a runtime that answers like the recorded one is the same, and keeps nothing', async () => {
    const file = await recordRun();
    await using runtime = await startRuntime();
    const {stdout, stderr, exitCode} = await replay(runtime, [file]);
    expect({stdout, stderr, exitCode}).toEqual({
      stdout: '',
      stderr: expect.stringMatching(
        /^kcri: note: replayed 11 calls of ".*" on fake v1\.0\.0: all answered as recorded\n$/,
      ) as string,
      exitCode: 0,
    });
    expect(runtime.sandboxes).toEqual([]);
    const text = JSON.stringify(runtime.callsTo('CreateContainer'));
    expect(text).not.toContain(UID);
    expect(text).not.toContain(ROOT);
    expect(await directories()).toEqual([]);
  });

  test('the recorded pod, which is still on this runtime, is no difference', async () => {
    await using runtime = await startRuntime();
    const {connection, end} = await startRecorder(runtime, ['--file', join(tmpdir(), 'same.jsonl')]);
    await connection.runtime.listContainers();
    await runPod(connection);
    await end();
    const {stdout, exitCode} = await replay(runtime, [join(tmpdir(), 'same.jsonl')]);
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 0});
  });

  // Proves: replay --output
  test('another status and another field of an answer are differences', async () => {
    const file = await recordRun();
    const recorded = await readFile(file, 'utf8');
    await writeFile(file, recorded.replace('"state":"CONTAINER_RUNNING"', '"state":"CONTAINER_EXITED"'));
    await using runtime = await startRuntime();
    runtime.injectError('ExecSync', {code: 'DEADLINE_EXCEEDED', message: 'too slow'});
    const {stdout, stderr, exitCode} = await replay(runtime, [file, '-o', 'json']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('2 answered differently');
    expect(JSON.parse(stdout)).toMatchObject({
      runtime: {name: 'fake', version: 'v1.0.0'},
      pace: 'fast',
      replayed: 11,
      differences: [
        {
          method: 'ContainerStatus',
          object: '<C:web/main/0>',
          fields: [{path: 'resp.status.state', a: 'CONTAINER_EXITED', b: 'CONTAINER_RUNNING'}],
        },
        {
          method: 'ExecSync',
          pod: 'web',
          fields: [
            {path: 'code', a: 'OK', b: 'DEADLINE_EXCEEDED'},
            {path: 'resp.error', b: 'too slow'},
          ],
        },
      ],
      notReplayed: [],
    });
    expect(runtime.sandboxes).toEqual([]);
  });

  // Proves: replay --format, replay --template, replay --no-headers
  test.each([
    ['--format={{.replayed}}'],
    ['--template={{.replayed}}'],
    ['--output=custom-columns=CALLS:.replayed', '--no-headers'],
  ])('%s formats the report', async (...flags) => {
    const file = await recordRun();
    await using runtime = await startRuntime();
    expect((await replay(runtime, [file, ...flags])).stdout.trim()).toBe('11');
  });

  test.each([
    ['no recording', 'hello\n', /not a line of a recording/],
    ['a recording without calls', '{"recording":{"version":1}}\n', /has no calls to replay/],
  ])('%s is an error with exit code 2', async (_, text, message) => {
    const file = join(await temporaryDirectory(), 'file.jsonl');
    await writeFile(file, text);
    await using runtime = await startRuntime();
    const {stderr, exitCode} = await replay(runtime, [file]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(message);
    expect(runtime.calls).toEqual([]);
  });

  test('a recording of calls that are all left out is an error that says why', async () => {
    const file = await recordRun(async ({runtime}) => {
      const others = runtime.podSandboxStatus({podSandboxId: sandboxId('f'.repeat(64))});
      await expect(others).rejects.toThrow('NotFound');
    });
    await using runtime = await startRuntime();
    const {stderr, exitCode} = await replay(runtime, [file]);
    expect(stderr).toContain(
      '1 call not replayed (PodSandboxStatus): its pod was created before the recording',
    );
    expect(stderr).toMatch(/has no calls to replay/);
    expect(exitCode).toBe(2);
  });

  test('a read may take a while until it answers as recorded', async () => {
    const file = await recordRun();
    await using runtime = await startRuntime();
    runtime.injectError('ContainerStatus', {code: 'UNAVAILABLE', message: 'not yet', times: 2});
    expect((await replay(runtime, [file])).exitCode).toBe(0);
    expect(runtime.callsTo('ContainerStatus')).toHaveLength(3);
  });

  test('a runtime that starts containers more slowly than the recorded one has more time', async () => {
    const file = await recordRun();
    await using runtime = await startRuntime();
    const clock = new FakeClock();
    runtime.injectAction('StartContainer', () => clock.advance(10_000));
    runtime.injectError('ContainerStatus', {code: 'UNAVAILABLE', message: 'not yet', times: 100});
    let isDone = false;
    const running = replay(runtime, [file], {clock}).finally(() => {
      isDone = true;
    });
    await until(async () => {
      if (clock.untilNextMs !== undefined) await clock.advance(clock.untilNextMs);
      return isDone;
    });
    expect(await running).toMatchObject({stdout: '', exitCode: 0});
  });

  test('a replay that makes no call does not report equal answers', async () => {
    const file = await recordRun(async ({images}) => {
      await images.removeImage({image: {image: BUSYBOX}});
    });
    await using runtime = await startRuntime();
    const {stderr, exitCode} = await replay(runtime, [file]);
    expect(stderr).toMatch(/replayed 0 calls of ".*" on fake v1\.0\.0: no answer was compared\n$/);
    expect(exitCode).toBe(2);
  });

  test('calls that depend on one that fails are not made, and count as not replayed', async () => {
    const file = await recordRun();
    await using runtime = await startRuntime();
    runtime.injectError('CreateContainer', {code: 'INTERNAL', message: 'broken'});
    const {stdout, stderr, exitCode} = await replay(runtime, [file]);
    expect({stdout, exitCode}).toEqual({
      stdout: expect.stringMatching(
        /^~ web CreateContainer .*\(call 5\)\n {4}code\n {6}- "OK"\n {6}\+ "INTERNAL"\n/,
      ) as string,
      exitCode: 1,
    });
    expect(stderr).toContain(
      '3 calls not replayed (StartContainer, ContainerStatus, ExecSync): its pod or container',
    );
    expect(runtime.sandboxes).toEqual([]);
  });

  test('damaged lines, streams and pods of others are left out, and said', async () => {
    const file = await recordRun(async (connection) => {
      await runPod(connection);
      const others = connection.runtime.podSandboxStatus({podSandboxId: sandboxId('f'.repeat(64))});
      await expect(others).rejects.toThrow('NotFound');
    });
    const call = {time: '2026-11-28T00:00:00.000000Z', code: 'OK', durationMs: 1, call: 90};
    const service = 'runtime.v1.RuntimeService';
    const more = [
      {...call, service, method: 'GetContainerEvents', request: {}},
      {...call, service, method: 'UpdateRuntimeConfig', request: {}},
      {...call, service, method: 'ListContainers', request: {filter: {state: 7}}, response: 'none'},
      {...call, service: 'containerd.v1', method: 'Get'},
      {...call, service, method: 'Status', request: {verbose: {}}},
      {...call, service, method: 'Status', time: 'never', request: {}},
      {...call, service: 5, method: null, call: 'a', request: []},
    ];
    await appendFile(file, `${more.map((line) => JSON.stringify(line)).join('\n')}\n[1]\n{"service":"ru`);
    await using runtime = await FakeRuntime.start({
      images: [anImage({name: BUSYBOX})],
      sandboxes: [aSandbox({id: 'd'.repeat(64), name: 'other'})],
    });
    const {stderr, exitCode} = await replay(runtime, [file]);
    expect(runtime.sandboxes.map(({id}) => id)).toEqual(['d'.repeat(64)]);
    expect(stderr.split('\n').toSorted()).toEqual([
      '',
      expect.stringMatching(/all answered as recorded/) as string,
      ...[
        '1 call not replayed (Get): it is not a call of the CRI',
        '1 call not replayed (GetContainerEvents): streams are not replayed',
        '1 call not replayed (ListContainers): its request is damaged: filter.state: must be an object, not 7',
        '1 call not replayed (PodSandboxStatus): its pod was created before the recording',
        '1 call not replayed (Status): its request is damaged: verbose: must be true or false, not an object',
        '1 call not replayed (UpdateRuntimeConfig): it changes the configuration of the runtime',
        '2 calls not replayed (unknown, Status): its line is damaged',
        '2 damaged lines of the recording skipped',
      ].map((text) => `kcri: warning: ${text}`),
    ]);
    expect(exitCode).toBe(0);
  });

  test('a call that changes something and is not recorded in full makes the replay incomplete', async () => {
    const file = await recordRun();
    const lines = (await readFile(file, 'utf8')).split('\n');
    const without = lines.map((line) =>
      line.includes('"ExecSync"')
        ? line.replace(/"request":\{.*?\},"response"/, '"requestOmitted":"too large","response"')
        : line,
    );
    await writeFile(file, without.join('\n'));
    await using runtime = await startRuntime();
    const {stderr, exitCode} = await replay(runtime, [file]);
    expect(stderr).toContain('1 call not replayed (ExecSync): its request is not recorded: too large');
    expect(exitCode).toBe(2);
  });

  test('masked values of variables are counted in a warning', async () => {
    const file = await recordRun(async ({runtime}) => {
      const config = {metadata: {name: 'web', namespace: 'default', uid: podUid(UID), attempt: 0}};
      const {podSandboxId} = await runtime.runPodSandbox({config});
      await runtime.createContainer({
        podSandboxId,
        config: {
          metadata: {name: 'main', attempt: 0},
          image: {image: BUSYBOX},
          envs: [{key: 'DB_PASSWORD', value: Buffer.from('hidden')}],
        },
        sandboxConfig: config,
      });
    });
    await using runtime = await startRuntime();
    const {stderr} = await replay(runtime, [file]);
    expect(stderr).toContain('kcri: warning: 1 value masked in the recording: "***" is used instead\n');
  });

  // Proves: replay --keep
  test('--keep leaves the pods and directories', async () => {
    const file = await recordRun(async (connection) => {
      await connection.runtime.runPodSandbox({config: {metadata: {name: 'web', namespace: 'default'}}});
    });
    await using runtime = await startRuntime();
    const {stderr, exitCode} = await replay(runtime, [file, '--keep']);
    expect(exitCode).toBe(0);
    expect(runtime.sandboxes).toHaveLength(1);
    const [, kept = ''] = /kept the pods .* and "(.*)"/.exec(stderr) ?? [];
    expect(await directories()).toEqual([kept.replace(`${tmpdir()}/`, '')]);
    await rm(kept, {recursive: true});
  });

  // Proves: replay --pace
  test('--pace=original keeps the recorded pauses', async () => {
    const file = await recordRun(async ({runtime}) => {
      await runtime.version();
      await runtime.status();
    });
    const lines = (await readFile(file, 'utf8')).split('\n');
    const moved = lines.map((line) => (line.includes('"Status"') ? later(line, 3_600_000) : line));
    await writeFile(file, moved.join('\n'));
    await using runtime = await startRuntime();
    const clock = new FakeClock();
    const running = replay(runtime, [file, '--pace=original'], {clock});
    await until(async () => {
      if ((clock.untilNextMs ?? 0) > 3_500_000) return true;
      await clock.advance(1);
      return false;
    });
    expect(runtime.callsTo('Status')).toEqual([]);
    await clock.advance(clock.untilNextMs ?? 0);
    expect((await running).exitCode).toBe(0);
    expect(runtime.callsTo('Status')).toHaveLength(1);
  });

  test('on a terminal it says how far a long replay is, and erases that at the end', async () => {
    const file = await recordRun();
    await using runtime = await startRuntime();
    const clock = new FakeClock();
    runtime.injectAction('ExecSync', () => clock.advance(1000));
    const options = {clock, errorTerminal: true, env: {TERM: 'xterm'}};
    const {stderr} = await replay(runtime, [file], options);
    expect(stderr).toMatch(/replaying: 8 of 11 calls/);
    expect(stderr).toMatch(/\r\x1b\[Kkcri: note: replayed 11 calls/);
  });

  test('Ctrl-C ends the replay and removes what it made', async () => {
    const file = await recordRun();
    await using runtime = await startRuntime();
    const interrupt = new AbortController();
    runtime.injectAction('ExecSync', async () => {
      interrupt.abort(new InterruptedError('SIGINT'));
      await new Promise(() => undefined);
    });
    const {exitCode} = await replay(runtime, [file], {signal: interrupt.signal});
    expect(exitCode).toBe(130);
    expect(runtime.sandboxes).toEqual([]);
    expect(await directories()).toEqual([]);
  });
});

/** Returns the line of a call with a start that is later by `ms`. */
function later(line: string, ms: number): string {
  const call = JSON.parse(line) as {time: string};
  return JSON.stringify({...call, time: new Date(Date.parse(call.time) + ms).toISOString()});
}
