import {stat} from 'node:fs/promises';
import {describe, test} from 'vitest';
import {until} from '../base/until.js';
import {aContainer, FakeRuntime} from './fake-runtime.js';
import {runContainer, SANDBOX_CONFIG, startConnectedFakeRuntime} from './connected-fake-runtime.js';

describe('commands, stats and events', () => {
  test('ExecSync returns output and exit code', async ({expect}) => {
    await using connected = await startConnectedFakeRuntime({
      containers: [aContainer({id: 'c1'})],
      exec: ([command]) => (command === 'cat' ? {stdout: 'page', stderr: 'note', exitCode: 4} : undefined),
    });
    const {stdout, stderr, exitCode} = await connected.connection.runtime.execSync({
      containerId: 'c1' as never,
      cmd: ['cat'],
    });
    expect([Buffer.from(stdout).toString(), Buffer.from(stderr).toString(), exitCode]).toEqual([
      'page',
      'note',
      4,
    ]);
  });

  test('ExecSync beyond its timeout fails with DEADLINE_EXCEEDED', async ({expect}) => {
    await using connected = await startConnectedFakeRuntime({
      containers: [aContainer({id: 'c1'})],
    });
    const request = {containerId: 'c1' as never, cmd: ['sleep', '30'], timeout: 1n};
    await expect(connected.connection.runtime.execSync(request)).rejects.toMatchObject({
      grpcCode: 'DEADLINE_EXCEEDED',
      details: 'failed to exec in container: timeout 1s exceeded: context deadline exceeded',
    });
  });

  test('ExecSync is killed when its container exits', async ({expect}) => {
    await using connected = await startConnectedFakeRuntime({
      containers: [aContainer({id: 'c1'})],
    });
    const exec = connected.connection.runtime.execSync({
      containerId: 'c1' as never,
      cmd: ['sleep', '30'],
    });
    await until(() => connected.fake.callsTo('ExecSync').length > 0);
    await connected.connection.runtime.stopContainer({
      containerId: 'c1' as never,
      timeout: 10n,
    });
    expect((await exec).exitCode).toBe(137);
  });

  test('ExecSync in an exited container is rejected', async ({expect}) => {
    await using connected = await startConnectedFakeRuntime({
      containers: [aContainer({id: 'c1', state: 'CONTAINER_EXITED'})],
    });
    await expect(
      connected.connection.runtime.execSync({containerId: 'c1' as never, cmd: ['true']}),
    ).rejects.toThrow('failed to exec in container: container is in CONTAINER_EXITED state');
  });

  test('streaming calls return a URL if there is a server, and fail with UNIMPLEMENTED otherwise', async ({
    expect,
  }) => {
    const containers = [aContainer({id: 'c1'})];
    await using without = await startConnectedFakeRuntime({containers});
    await using with_ = await startConnectedFakeRuntime({containers, streamingUrl: 'http://127.0.0.1:1'});
    const request = {containerId: 'c1' as never, cmd: ['sh'], stdout: true};
    await expect(without.connection.runtime.exec(request)).rejects.toMatchObject({grpcCode: 'UNIMPLEMENTED'});
    expect((await with_.connection.runtime.exec(request)).url).toMatch(
      /^http:\/\/127\.0\.0\.1:1\/exec\/[0-9a-f]{8}$/,
    );
  });

  test('stats contain running containers', async ({expect}) => {
    const containers = [aContainer({name: 'a'}), aContainer({name: 'b', state: 'CONTAINER_EXITED'})];
    await using connected = await startConnectedFakeRuntime({containers});
    const {stats} = await connected.connection.runtime.listContainerStats();
    expect(stats.map((each) => each.attributes?.metadata?.name)).toEqual(['a']);
    const pods = await connected.connection.runtime.listPodSandboxStats();
    expect(pods.stats[0]?.linux?.memory?.workingSetBytes?.value).toBe(10n * 2n ** 20n);
  });

  test('events cover the whole life of a pod', async ({expect}) => {
    await using connected = await startConnectedFakeRuntime();
    const abort = new AbortController();
    const seen: string[] = [];
    const listening = (async () => {
      const events = connected.connection.runtime.getContainerEvents({}, {signal: abort.signal});
      for await (const {containerEventType, podSandboxStatus} of events) {
        seen.push(`${containerEventType} ${podSandboxStatus?.state ?? 'gone'}`);
        if (seen.length === 8) break;
      }
    })();
    await expect.poll(() => connected.fake.state.events.listeners).toBe(1);
    const {podSandboxId} = await runContainer(connected);
    await connected.connection.runtime.removePodSandbox({podSandboxId});
    await listening;
    expect(seen).toEqual([
      'CONTAINER_CREATED_EVENT SANDBOX_READY',
      'CONTAINER_STARTED_EVENT SANDBOX_READY',
      'CONTAINER_CREATED_EVENT SANDBOX_READY',
      'CONTAINER_STARTED_EVENT SANDBOX_READY',
      'CONTAINER_STOPPED_EVENT SANDBOX_READY',
      'CONTAINER_STOPPED_EVENT SANDBOX_NOTREADY',
      'CONTAINER_DELETED_EVENT SANDBOX_NOTREADY',
      'CONTAINER_DELETED_EVENT gone',
    ]);
    await expect.poll(() => connected.fake.state.events.listeners).toBe(0);
  });

  test('events report a sandbox that exits by itself, while its containers keep running', async ({
    expect,
  }) => {
    await using connected = await startConnectedFakeRuntime();
    const {podSandboxId} = await runContainer(connected);
    const abort = new AbortController();
    const events = connected.connection.runtime
      .getContainerEvents({}, {signal: abort.signal})
      [Symbol.asyncIterator]();
    const first = events.next();
    await expect.poll(() => connected.fake.state.events.listeners).toBe(1);
    connected.fake.exitSandbox(podSandboxId);
    expect((await first).value).toMatchObject({
      containerEventType: 'CONTAINER_STOPPED_EVENT',
      containerId: podSandboxId,
      podSandboxStatus: {state: 'SANDBOX_NOTREADY'},
    });
    expect(connected.fake.containers.map(({state}) => state)).toEqual(['CONTAINER_RUNNING']);
    abort.abort();
  });

  test('streaming list RPCs send pages of the whole list', async ({expect}) => {
    await using connected = await startConnectedFakeRuntime();
    connected.fake.fill({containers: 2500, pods: 10});
    const sizes: number[] = [];
    for await (const {containers} of connected.connection.runtime.streamContainers())
      sizes.push(containers.length);
    expect(sizes).toEqual([1000, 1000, 500]);
  });
});

describe('the runtime itself', () => {
  test('returns its name, version and conditions', async ({expect}) => {
    await using connected = await startConnectedFakeRuntime({
      runtimeName: 'containerd',
      runtimeVersion: '2.1.9',
    });
    expect(await connected.connection.runtime.version()).toEqual({
      version: '0.1.0',
      runtimeName: 'containerd',
      runtimeVersion: '2.1.9',
      runtimeApiVersion: 'v1',
    });
    const {status} = await connected.connection.runtime.status({verbose: true});
    expect(status?.conditions.map(({type, status: on}) => `${type}=${String(on)}`)).toEqual([
      'RuntimeReady=true',
      'NetworkReady=true',
    ]);
  });

  test('calls are recorded in the format of the kubelet recordings', async ({expect}) => {
    await using connected = await startConnectedFakeRuntime();
    await connected.connection.runtime.stopContainer({
      containerId: 'gone' as never,
      timeout: 30n,
    });
    await connected.connection.runtime
      .createContainer({
        podSandboxId: 'gone' as never,
        config: {
          envs: [{key: 'A', value: Buffer.from('b')}],
          linux: {resources: {cpuShares: 2n}},
          tty: false,
        },
      })
      .catch(() => undefined);
    expect(connected.fake.calls).toMatchObject([
      {method: 'StopContainer', request: {container_id: 'gone', timeout: '30'}, code: 'OK'},
      {
        method: 'CreateContainer',
        request: {
          pod_sandbox_id: 'gone',
          config: {envs: [{key: 'A', value: 'Yg=='}], linux: {resources: {cpu_shares: '2'}}},
        },
        code: 'NotFound',
      },
    ]);
    expect(connected.fake.calls[1]?.request).not.toHaveProperty('config.tty');
  });

  test('10,000 containers are listed in one response', async ({expect}) => {
    await using connected = await startConnectedFakeRuntime();
    connected.fake.fill({containers: 10_000});
    const {containers} = await connected.connection.runtime.listContainers();
    expect(new Set(containers.map(({id}) => id)).size).toBe(10_000);
  });

  test('concurrent calls receive their own responses', async ({expect}) => {
    await using connected = await startConnectedFakeRuntime();
    const runs = Array.from({length: 50}, (_, index) =>
      connected.connection.runtime.runPodSandbox({
        config: {metadata: {...SANDBOX_CONFIG.metadata, name: `pod-${index}`}},
      }),
    );
    const ids = (await Promise.all(runs)).map(({podSandboxId}) => podSandboxId);
    expect(new Set(ids).size).toBe(50);
    expect(connected.fake.connections).toEqual({accepted: 1, open: 1});
  });
});

describe('faults', () => {
  test('an injected error affects the selected calls, without side effects', async ({expect}) => {
    await using connected = await startConnectedFakeRuntime();
    connected.fake.injectError('RunPodSandbox', {
      code: 'UNAVAILABLE',
      message: 'no',
      times: 1,
      skip: 1,
    });
    const run = (name: string) =>
      connected.connection.runtime
        .runPodSandbox({config: {metadata: {...SANDBOX_CONFIG.metadata, name}}})
        .then(
          () => 'ok',
          (error: unknown) => String(error),
        );
    expect([await run('a'), await run('b'), await run('c')]).toEqual([
      'ok',
      'CriError: rpc error: code = Unavailable desc = no',
      'ok',
    ]);
    expect(connected.fake.sandboxes).toHaveLength(2);
  });

  test('an error after the effect only loses the response', async ({expect}) => {
    await using connected = await startConnectedFakeRuntime();
    connected.fake.injectError('RunPodSandbox', {
      code: 'DEADLINE_EXCEEDED',
      message: 'late',
      afterEffect: true,
    });
    await expect(connected.connection.runtime.runPodSandbox({config: SANDBOX_CONFIG})).rejects.toThrow(
      'late',
    );
    expect(connected.fake.sandboxes).toHaveLength(1);
  });

  test('a match function selects requests', async ({expect}) => {
    await using connected = await startConnectedFakeRuntime();
    const match = ({container_id: id}: Readonly<Record<string, unknown>>) => id === 'b';
    connected.fake.injectError('StopContainer', {code: 'INTERNAL', message: 'no', match});
    const stop = (id: string) => connected.connection.runtime.stopContainer({containerId: id as never});
    await expect(stop('a')).resolves.toEqual({});
    await expect(stop('b')).rejects.toThrow('no');
  });

  test('a delay ends when the call is cancelled', async ({expect}) => {
    await using connected = await startConnectedFakeRuntime();
    connected.fake.injectDelay('Version', 60_000);
    await expect(connected.connection.runtime.version({}, {timeoutMs: 50})).rejects.toMatchObject({
      grpcCode: 'DEADLINE_EXCEEDED',
    });
    await expect.poll(() => connected.fake.callsTo('Version')[0]?.code).toBe('Canceled');
  });

  test('a crash closes connections and leaves the socket file, and a restart preserves the state', async ({
    expect,
  }) => {
    await using connected = await startConnectedFakeRuntime();
    await runContainer(connected);
    connected.fake.injectCrash('Version');
    await expect(connected.connection.runtime.version()).rejects.toMatchObject({
      grpcCode: 'UNAVAILABLE',
    });
    await expect(connected.connection.runtime.status()).rejects.toThrow('connection refused');
    await connected.fake.restart();
    await expect
      .poll(() =>
        connected.connection.runtime.listContainers().then(({containers}) => containers[0]?.state, String),
      )
      .toBe('CONTAINER_RUNNING');
  });

  test('unsupported RPCs fail with UNIMPLEMENTED, streams at their first message', async ({expect}) => {
    await using connected = await startConnectedFakeRuntime({
      unimplemented: ['RuntimeConfig', 'GetContainerEvents'],
    });
    await expect(connected.connection.runtime.runtimeConfig()).rejects.toMatchObject({
      grpcCode: 'UNIMPLEMENTED',
    });
    const events = connected.connection.runtime.getContainerEvents()[Symbol.asyncIterator]();
    await expect(events.next()).rejects.toMatchObject({grpcCode: 'UNIMPLEMENTED'});
    await expect(connected.connection.runtime.checkpointPod()).rejects.toMatchObject({
      grpcCode: 'UNIMPLEMENTED',
    });
  });

  test('stopping removes the socket', async ({expect}) => {
    const fake = await FakeRuntime.start();
    await fake.stop();
    await expect(stat(fake.socketPath)).rejects.toThrow('ENOENT');
  });
});
