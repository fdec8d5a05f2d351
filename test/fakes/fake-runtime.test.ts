import {stat} from 'node:fs/promises';
import {describe, test} from 'vitest';
import {until} from '../base/until.js';
import {aContainer, FakeRuntime} from './fake-runtime.js';
import {runContainer, SANDBOX_CONFIG, startConnectedFakeRuntime} from './connected-fake-runtime.js';

describe('commands, stats and events', () => {
  test('ExecSync gives output and exit code', async ({expect}) => {
    await using started = await startConnectedFakeRuntime({
      containers: [aContainer({id: 'c1'})],
      exec: ([command]) => (command === 'cat' ? {stdout: 'page', stderr: 'note', exitCode: 4} : undefined),
    });
    const {stdout, stderr, exitCode} = await started.connection.runtime.execSync({
      containerId: 'c1' as never,
      cmd: ['cat'],
    });
    expect([Buffer.from(stdout).toString(), Buffer.from(stderr).toString(), exitCode]).toEqual([
      'page',
      'note',
      4,
    ]);
  });

  test('ExecSync beyond its timeout is DEADLINE_EXCEEDED', async ({expect}) => {
    await using started = await startConnectedFakeRuntime({containers: [aContainer({id: 'c1'})]});
    const request = {containerId: 'c1' as never, cmd: ['sleep', '30'], timeout: 1n};
    await expect(started.connection.runtime.execSync(request)).rejects.toMatchObject({
      grpcCode: 'DEADLINE_EXCEEDED',
      details: 'failed to exec in container: timeout 1s exceeded: context deadline exceeded',
    });
  });

  test('ExecSync ends with its container, as if killed', async ({expect}) => {
    await using started = await startConnectedFakeRuntime({containers: [aContainer({id: 'c1'})]});
    const exec = started.connection.runtime.execSync({containerId: 'c1' as never, cmd: ['sleep', '30']});
    await until(() => started.fake.callsTo('ExecSync').length > 0);
    await started.connection.runtime.stopContainer({containerId: 'c1' as never, timeout: 10n});
    expect((await exec).exitCode).toBe(137);
  });

  test('ExecSync in a container that does not run is refused', async ({expect}) => {
    await using started = await startConnectedFakeRuntime({
      containers: [aContainer({id: 'c1', state: 'CONTAINER_EXITED'})],
    });
    await expect(
      started.connection.runtime.execSync({containerId: 'c1' as never, cmd: ['true']}),
    ).rejects.toThrow('failed to exec in container: container is in CONTAINER_EXITED state');
  });

  test('streaming calls give a URL when there is a server for it, else UNIMPLEMENTED', async ({expect}) => {
    const containers = [aContainer({id: 'c1'})];
    await using without = await startConnectedFakeRuntime({containers});
    await using with_ = await startConnectedFakeRuntime({containers, streamingUrl: 'http://127.0.0.1:1'});
    const request = {containerId: 'c1' as never, cmd: ['sh'], stdout: true};
    await expect(without.connection.runtime.exec(request)).rejects.toMatchObject({grpcCode: 'UNIMPLEMENTED'});
    expect((await with_.connection.runtime.exec(request)).url).toMatch(
      /^http:\/\/127\.0\.0\.1:1\/exec\/[0-9a-f]{8}$/,
    );
  });

  test('stats exist for what runs', async ({expect}) => {
    const containers = [aContainer({name: 'a'}), aContainer({name: 'b', state: 'CONTAINER_EXITED'})];
    await using started = await startConnectedFakeRuntime({containers});
    const {stats} = await started.connection.runtime.listContainerStats();
    expect(stats.map((each) => each.attributes?.metadata?.name)).toEqual(['a']);
    const pods = await started.connection.runtime.listPodSandboxStats();
    expect(pods.stats[0]?.linux?.memory?.workingSetBytes?.value).toBe(10n * 2n ** 20n);
  });

  test('events tell a listener of the whole life of a pod', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const abort = new AbortController();
    const seen: string[] = [];
    const listening = (async () => {
      const events = started.connection.runtime.getContainerEvents({}, {signal: abort.signal});
      for await (const {containerEventType, podSandboxStatus} of events) {
        seen.push(`${containerEventType} ${podSandboxStatus?.state ?? 'gone'}`);
        if (seen.length === 8) break;
      }
    })();
    await expect.poll(() => started.fake.state.events.listeners).toBe(1);
    const {podSandboxId} = await runContainer(started);
    await started.connection.runtime.removePodSandbox({podSandboxId});
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
    await expect.poll(() => started.fake.state.events.listeners).toBe(0);
  });

  test('events tell of a sandbox that ends by itself, whose containers go on', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const {podSandboxId} = await runContainer(started);
    const abort = new AbortController();
    const events = started.connection.runtime
      .getContainerEvents({}, {signal: abort.signal})
      [Symbol.asyncIterator]();
    const first = events.next();
    await expect.poll(() => started.fake.state.events.listeners).toBe(1);
    started.fake.exitSandbox(podSandboxId);
    expect((await first).value).toMatchObject({
      containerEventType: 'CONTAINER_STOPPED_EVENT',
      containerId: podSandboxId,
      podSandboxStatus: {state: 'SANDBOX_NOTREADY'},
    });
    expect(started.fake.containers.map(({state}) => state)).toEqual(['CONTAINER_RUNNING']);
    abort.abort();
  });

  test('Stream… RPCs send pages that add up to the list', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    started.fake.fill({containers: 2500, pods: 10});
    const sizes: number[] = [];
    for await (const {containers} of started.connection.runtime.streamContainers())
      sizes.push(containers.length);
    expect(sizes).toEqual([1000, 1000, 500]);
  });
});

describe('the runtime itself', () => {
  test('it says who it is and that it is ready', async ({expect}) => {
    await using started = await startConnectedFakeRuntime({
      runtimeName: 'containerd',
      runtimeVersion: '2.1.9',
    });
    expect(await started.connection.runtime.version()).toEqual({
      version: '0.1.0',
      runtimeName: 'containerd',
      runtimeVersion: '2.1.9',
      runtimeApiVersion: 'v1',
    });
    const {status} = await started.connection.runtime.status({verbose: true});
    expect(status?.conditions.map(({type, status: on}) => `${type}=${String(on)}`)).toEqual([
      'RuntimeReady=true',
      'NetworkReady=true',
    ]);
  });

  test('calls are recorded in the form of the kubelet recordings', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    await started.connection.runtime.stopContainer({containerId: 'gone' as never, timeout: 30n});
    await started.connection.runtime
      .createContainer({
        podSandboxId: 'gone' as never,
        config: {
          envs: [{key: 'A', value: Buffer.from('b')}],
          linux: {resources: {cpuShares: 2n}},
          tty: false,
        },
      })
      .catch(() => undefined);
    expect(started.fake.calls).toMatchObject([
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
    expect(started.fake.calls[1]?.request).not.toHaveProperty('config.tty');
  });

  test('10,000 containers are listed in one answer', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    started.fake.fill({containers: 10_000});
    const {containers} = await started.connection.runtime.listContainers();
    expect(new Set(containers.map(({id}) => id)).size).toBe(10_000);
  });

  test('concurrent calls keep their answers apart', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const runs = Array.from({length: 50}, (_, index) =>
      started.connection.runtime.runPodSandbox({
        config: {metadata: {...SANDBOX_CONFIG.metadata, name: `pod-${index}`}},
      }),
    );
    const ids = (await Promise.all(runs)).map(({podSandboxId}) => podSandboxId);
    expect(new Set(ids).size).toBe(50);
    expect(started.fake.connections).toEqual({accepted: 1, open: 1});
  });
});

describe('faults', () => {
  test('an injected error hits the calls it is meant for, and has no effect', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    started.fake.injectError('RunPodSandbox', {code: 'UNAVAILABLE', message: 'no', times: 1, skip: 1});
    const run = (name: string) =>
      started.connection.runtime.runPodSandbox({config: {metadata: {...SANDBOX_CONFIG.metadata, name}}}).then(
        () => 'ok',
        (error: unknown) => String(error),
      );
    expect([await run('a'), await run('b'), await run('c')]).toEqual([
      'ok',
      'CriError: rpc error: code = Unavailable desc = no',
      'ok',
    ]);
    expect(started.fake.sandboxes).toHaveLength(2);
  });

  test('an error after the effect loses the answer only', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    started.fake.injectError('RunPodSandbox', {
      code: 'DEADLINE_EXCEEDED',
      message: 'late',
      afterEffect: true,
    });
    await expect(started.connection.runtime.runPodSandbox({config: SANDBOX_CONFIG})).rejects.toThrow('late');
    expect(started.fake.sandboxes).toHaveLength(1);
  });

  test('a matching function chooses the request', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const match = ({container_id: id}: Readonly<Record<string, unknown>>) => id === 'b';
    started.fake.injectError('StopContainer', {code: 'INTERNAL', message: 'no', match});
    const stop = (id: string) => started.connection.runtime.stopContainer({containerId: id as never});
    await expect(stop('a')).resolves.toEqual({});
    await expect(stop('b')).rejects.toThrow('no');
  });

  test('a delay ends with the call', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    started.fake.injectDelay('Version', 60_000);
    await expect(started.connection.runtime.version({}, {timeoutMs: 50})).rejects.toMatchObject({
      grpcCode: 'DEADLINE_EXCEEDED',
    });
    await expect.poll(() => started.fake.callsTo('Version')[0]?.code).toBe('Canceled');
  });

  test('a crash cuts calls, leaves a dead socket, and a restart knows everything still', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    await runContainer(started);
    started.fake.injectCrash('Version');
    await expect(started.connection.runtime.version()).rejects.toMatchObject({grpcCode: 'UNAVAILABLE'});
    await expect(started.connection.runtime.status()).rejects.toThrow('connection refused');
    await started.fake.restart();
    await expect
      .poll(() =>
        started.connection.runtime.listContainers().then(({containers}) => containers[0]?.state, String),
      )
      .toBe('CONTAINER_RUNNING');
  });

  test('RPCs that the runtime lacks are UNIMPLEMENTED, streams at their first message', async ({expect}) => {
    await using started = await startConnectedFakeRuntime({
      unimplemented: ['RuntimeConfig', 'GetContainerEvents'],
    });
    await expect(started.connection.runtime.runtimeConfig()).rejects.toMatchObject({
      grpcCode: 'UNIMPLEMENTED',
    });
    const events = started.connection.runtime.getContainerEvents()[Symbol.asyncIterator]();
    await expect(events.next()).rejects.toMatchObject({grpcCode: 'UNIMPLEMENTED'});
    await expect(started.connection.runtime.checkpointPod()).rejects.toMatchObject({
      grpcCode: 'UNIMPLEMENTED',
    });
  });

  test('stopping removes the socket', async ({expect}) => {
    const fake = await FakeRuntime.start();
    await fake.stop();
    await expect(stat(fake.socketPath)).rejects.toThrow('ENOENT');
  });
});
