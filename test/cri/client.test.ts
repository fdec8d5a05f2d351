import {describe, test} from 'vitest';
import {systemClock} from '../../src/base/clock.js';
import {
  connect,
  containerId,
  CriError,
  isNotFound,
  isUnavailable,
  isUnimplemented,
  podUid,
  type Connection,
} from '../../src/cri/index.js';
import {aContainer, FakeRuntime} from '../fakes/fake-runtime.js';
import {startConnectedFakeRuntime} from '../fakes/connected-fake-runtime.js';

const C1 = containerId('c1');

describe('connecting', () => {
  test('the first call opens the connection, and both services share it', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const before = started.fake.connections.accepted;
    await Promise.all([
      started.connection.runtime.version(),
      started.connection.images.listImages(),
      started.connection.runtime.status(),
    ]);
    expect([before, started.fake.connections.accepted]).toEqual([0, 1]);
  });

  test('only requested calls are made', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    await started.connection.runtime.listContainers();
    expect(started.fake.calls.map(({method}) => method)).toEqual(['ListContainers']);
  });

  test('a signal shared by many calls causes no MaxListenersExceededWarning', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const warnings: string[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning.name);
    process.on('warning', onWarning);
    const {signal} = new AbortController();
    await Promise.all(Array.from({length: 12}, async () => started.connection.runtime.version({}, {signal})));
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  test('image calls use the image endpoint if it is set', async ({expect}) => {
    await using runtime = await FakeRuntime.start();
    await using images = await FakeRuntime.start({images: []});
    using cri = connect(runtime.endpoint, {imageEndpoint: images.endpoint});
    await cri.runtime.version();
    expect((await cri.images.listImages()).images).toEqual([]);
    expect([runtime.calls.length, images.calls.length]).toEqual([1, 1]);
  });

  test('an absolute path is accepted as an endpoint', async ({expect}) => {
    await using fake = await FakeRuntime.start();
    using cri = connect(fake.socketPath);
    expect((await cri.runtime.version()).runtimeName).toBe('fake');
  });

  test.for([
    ['tcp://127.0.0.1:1', 'has the unsupported protocol "tcp"'],
    ['run/containerd.sock', 'is not an absolute path'],
    ['unix://run/containerd.sock', 'must not contain a host'],
  ] as const)('the endpoint %s is rejected', ([endpoint, text], {expect}) => {
    expect(() => connect(endpoint)).toThrow(text);
  });

  test('closing closes the connection', async ({expect}) => {
    await using fake = await FakeRuntime.start();
    const cri = connect(fake.endpoint);
    await cri.runtime.version();
    cri.close();
    await expect.poll(() => fake.connections.open).toBe(0);
  });

  test('closing cancels running calls', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    started.fake.injectDelay('Version', 60_000);
    const failing = expect(started.connection.runtime.version()).rejects.toMatchObject({
      grpcCode: 'CANCELLED',
    });
    await expect.poll(() => started.fake.calls.length).toBe(1);
    started.connection.close();
    await failing;
  });

  test('a connection works again after a restart of the runtime', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    await started.connection.runtime.version();
    await started.fake.crash();
    await started.fake.restart();
    const version = () => started.connection.runtime.version().then(({runtimeName}) => runtimeName, String);
    await expect.poll(version).toBe('fake');
  });
});

describe('calls', () => {
  test('requests contain the given fields, and responses are complete and typed', async ({expect}) => {
    await using started = await startConnectedFakeRuntime({
      containers: [aContainer({id: 'c1', createdAt: 1_777_000_000_123_456_789n})],
    });
    const {containers} = await started.connection.runtime.listContainers({
      filter: {state: {state: 'CONTAINER_RUNNING'}},
    });
    expect(containers).toMatchObject([
      {
        id: 'c1',
        state: 'CONTAINER_RUNNING',
        createdAt: 1_777_000_000_123_456_789n,
        annotations: {},
        metadata: {name: 'main', attempt: 0},
      },
    ]);
    // CONTAINER_CREATED is 0 and omitted on the wire, but the message around it is sent.
    await started.connection.runtime.listContainers({filter: {state: {state: 'CONTAINER_CREATED'}}});
    expect(started.fake.calls.map(({request}) => request)).toEqual([
      {filter: {state: {state: 'CONTAINER_RUNNING'}}},
      {filter: {state: {}}},
    ]);
  });

  test('concurrent calls share one connection and receive their own responses', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const names = Array.from({length: 100}, (_, index) => `pod-${index}`);
    const ids = await Promise.all(
      names.map(async (name) => {
        const metadata = {name, namespace: 'default', uid: podUid(name), attempt: 0};
        const {podSandboxId} = await started.connection.runtime.runPodSandbox({config: {metadata}});
        return (await started.connection.runtime.podSandboxStatus({podSandboxId})).status?.metadata?.name;
      }),
    );
    expect(ids).toEqual(names);
    expect(started.fake.connections.accepted).toBe(1);
  });

  test('a response of 40 MiB is received', async ({expect}) => {
    const stdout = 'x'.repeat(40 * 2 ** 20);
    await using started = await startConnectedFakeRuntime({
      containers: [aContainer({id: 'c1'})],
      exec: () => ({stdout}),
    });
    const response = await started.connection.runtime.execSync({containerId: C1, cmd: ['cat']});
    expect(response.stdout.length).toBe(40 * 2 ** 20);
  });

  test('a request of 20 MiB is received', async ({expect}) => {
    await using started = await startConnectedFakeRuntime({containers: [aContainer({id: 'c1'})]});
    const argument = 'x'.repeat(20 * 2 ** 20);
    await started.connection.runtime.execSync({containerId: C1, cmd: [argument]});
    expect((started.fake.calls[0]!.request['cmd'] as string[])[0]?.length).toBe(argument.length);
  });

  test('a response of more than 128 MiB fails with RESOURCE_EXHAUSTED', async ({expect}) => {
    const stdout = 'x'.repeat(129 * 2 ** 20);
    await using started = await startConnectedFakeRuntime({
      containers: [aContainer({id: 'c1'})],
      exec: () => ({stdout}),
    });
    await expect(started.connection.runtime.execSync({containerId: C1, cmd: ['cat']})).rejects.toMatchObject({
      grpcCode: 'RESOURCE_EXHAUSTED',
    });
  });
});

describe('deadlines', () => {
  /**
   * Performs calls, of which the runtime sees the time until the deadline when they arrive. Returns that time in whole
   * seconds, or the expected one if only the duration of the calls is missing.
   */
  async function deadlinesOf(
    fake: FakeRuntime,
    calls: () => Promise<unknown>,
    expected: readonly (number | undefined)[],
  ): Promise<readonly (number | undefined)[]> {
    const startedAt = systemClock.now();
    await calls();
    const maxElapsedMs = systemClock.now() - startedAt;
    return fake.calls.map(({deadlineMs}, index) => {
      if (deadlineMs === undefined) return undefined;
      const missingMs = (expected[index] ?? 0) * 1000 - deadlineMs;
      return missingMs > -1000 && missingMs <= maxElapsedMs + 1000 ? expected[index] : deadlineMs / 1000;
    });
  }

  test.for<[call: string, expected: number | undefined, run: (cri: Connection) => Promise<unknown>]>([
    ['Version', 120, ({runtime}) => runtime.version()],
    ['ListContainers', 120, ({runtime}) => runtime.listContainers()],
    ['ImageStatus', 120, ({images}) => images.imageStatus()],
    ['RunPodSandbox', 240, ({runtime}) => runtime.runPodSandbox()],
    ['StopPodSandbox', 120, ({runtime}) => runtime.stopPodSandbox()],
    ['StopContainer of 30 s', 150, ({runtime}) => runtime.stopContainer({timeout: 30n})],
    [
      'StopContainer of 400,000,000,000 s',
      undefined,
      ({runtime}) => runtime.stopContainer({timeout: 400_000_000_000n}),
    ],
    ['StopContainer without a grace period', 120, ({runtime}) => runtime.stopContainer({})],
    ['ExecSync of 5 s', 125, ({runtime}) => runtime.execSync({timeout: 5n})],
    ['ExecSync without a timeout', undefined, ({runtime}) => runtime.execSync()],
    ['CheckpointContainer of 10 s', 130, ({runtime}) => runtime.checkpointContainer({timeout: 10n})],
    ['PullImage', undefined, ({images}) => images.pullImage()],
  ])('%s has a deadline of %s seconds', async ([, expected, call], {expect}) => {
    await using started = await startConnectedFakeRuntime();
    const found = await deadlinesOf(
      started.fake,
      async () => call(started.connection).catch(() => undefined),
      [expected],
    );
    expect(found.slice(0, 1)).toEqual([expected]);
  });

  test('the base deadline is the connection’s, and a call may override it', async ({expect}) => {
    await using fake = await FakeRuntime.start();
    using cri = connect(fake.endpoint, {timeoutMs: 1_000_000});
    const expected = [1000, 2000, 300, undefined];
    const calls = async (): Promise<void> => {
      await cri.runtime.version();
      await cri.runtime.runPodSandbox().catch(() => undefined);
      await cri.runtime.version({}, {timeoutMs: 300_000});
      await cri.runtime.version({}, {timeoutMs: Infinity});
    };
    expect(await deadlinesOf(fake, calls, expected)).toEqual(expected);
  });

  test('a late response fails with DEADLINE_EXCEEDED', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    started.fake.injectDelay('Version', 60_000);
    await expect(started.connection.runtime.version({}, {timeoutMs: 50})).rejects.toMatchObject({
      grpcCode: 'DEADLINE_EXCEEDED',
      code: 'CRI_DEADLINE_EXCEEDED',
    });
  });
});

describe('aborting', () => {
  test('an aborted signal prevents the call', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const signal = AbortSignal.abort(new Error('changed my mind'));
    await expect(started.connection.runtime.version({}, {signal})).rejects.toThrow('changed my mind');
    expect(started.fake.connections.accepted).toBe(0);
  });

  test('aborting cancels the call at the runtime and rejects with the reason', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    started.fake.injectDelay('PullImage', 60_000);
    const abort = new AbortController();
    const pulling = started.connection.images.pullImage({image: {image: 'busybox'}}, {signal: abort.signal});
    await expect.poll(() => started.fake.calls.length).toBe(1);
    abort.abort(new Error('changed my mind'));
    await expect(pulling).rejects.toThrow('changed my mind');
    await expect.poll(() => started.fake.calls[0]?.code).toBe('Canceled');
  });

  test('a finished call removes its listener from the signal', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const abort = new AbortController();
    const added: string[] = [];
    const {signal} = abort;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      added.push(args[0]);
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      added.pop();
      remove(...args);
    };
    await started.connection.runtime.version({}, {signal});
    await started.connection.runtime.podSandboxStatus({}, {signal}).catch(() => undefined);
    for await (const page of started.connection.images.streamImages({}, {signal}))
      expect(page.images).toHaveLength(1);
    expect(added).toEqual([]);
  });
});

describe('streams', () => {
  test('the first read opens a stream', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const pages = started.connection.runtime.streamContainers();
    expect(started.fake.calls).toEqual([]);
    for await (const {containers} of pages) expect(containers).toEqual([]);
    expect(started.fake.callsTo('StreamContainers')).toHaveLength(1);
  });

  test('events arrive immediately, and leaving the loop cancels the call', async ({expect}) => {
    await using started = await startConnectedFakeRuntime({containers: [aContainer({id: 'c1'})]});
    void expect
      .poll(() => started.fake.state.events.listeners)
      .toBe(1)
      .then(() => {
        started.fake.exitContainer('c1', 3);
      });
    for await (const event of started.connection.runtime.getContainerEvents()) {
      expect(event).toMatchObject({containerId: 'c1', containerEventType: 'CONTAINER_STOPPED_EVENT'});
      expect(event.containersStatuses).toMatchObject([{id: 'c1', exitCode: 3}]);
      break;
    }
    await expect.poll(() => started.fake.state.events.listeners).toBe(0);
  });

  test('a stream has no deadline', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    for await (const page of started.connection.images.streamImages()) expect(page.images).toHaveLength(1);
    expect(started.fake.calls[0]?.deadlineMs).toBeUndefined();
  });

  test('aborting rejects a waiting stream with the reason', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const abort = new AbortController();
    const events = started.connection.runtime
      .getContainerEvents({}, {signal: abort.signal})
      [Symbol.asyncIterator]();
    const next = events.next();
    await expect.poll(() => started.fake.state.events.listeners).toBe(1);
    abort.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    await expect.poll(() => started.fake.state.events.listeners).toBe(0);
  });

  test('a crash of the runtime rejects a waiting stream', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const events = started.connection.runtime.getContainerEvents()[Symbol.asyncIterator]();
    const next = events.next();
    await expect.poll(() => started.fake.state.events.listeners).toBe(1);
    const failing = expect(next).rejects.toSatisfy(isUnavailable);
    await started.fake.crash();
    await failing;
  });

  test('closing the connection cancels a stream that is being opened', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const next = started.connection.runtime.getContainerEvents()[Symbol.asyncIterator]().next();
    started.connection.close();
    await expect(next).rejects.toMatchObject({grpcCode: 'CANCELLED'});
    await expect.poll(() => started.fake.connections.open).toBe(0);
  });

  test('closing the connection cancels a waiting stream', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const next = started.connection.runtime.getContainerEvents()[Symbol.asyncIterator]().next();
    await expect.poll(() => started.fake.state.events.listeners).toBe(1);
    const failing = expect(next).rejects.toMatchObject({grpcCode: 'CANCELLED'});
    started.connection.close();
    await failing;
    await expect.poll(() => started.fake.state.events.listeners).toBe(0);
  });
});

describe('errors', () => {
  test('an error has crictl’s text, the method, the code and the endpoint', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    const error: unknown = await started.connection.runtime
      .containerStatus({containerId: C1})
      .catch((e: unknown) => e);
    expect(error).toBeInstanceOf(CriError);
    expect(error).toMatchObject({
      message:
        'rpc error: code = NotFound desc = an error occurred when try to find container "c1": not found',
      method: 'ContainerStatus',
      grpcCode: 'NOT_FOUND',
      code: 'CRI_NOT_FOUND',
      endpoint: started.fake.endpoint,
      hint: 'run "kcri ps -a" to list containers',
      plainMessage: 'no such container "c1"',
    });
    expect([isNotFound(error), isUnimplemented(error), isUnavailable(error)]).toEqual([true, false, false]);
  });

  test.for([
    {message: 'method RuntimeConfig not implemented', hint: 'this runtime does not implement RuntimeConfig'},
    {
      message: 'unknown method RuntimeConfig for service runtime.v1.RuntimeService',
      hint: 'this runtime does not implement RuntimeConfig',
    },
    {message: 'unknown service runtime.v1.RuntimeService', hint: 'is not a CRI runtime'},
  ])('UNIMPLEMENTED with "$message" has the hint "$hint"', async ({message, hint}, {expect}) => {
    await using started = await startConnectedFakeRuntime();
    started.fake.injectError('RuntimeConfig', {code: 'UNIMPLEMENTED', message});
    const error: unknown = await started.connection.runtime.runtimeConfig().catch((e: unknown) => e);
    expect(isUnimplemented(error)).toBe(true);
    expect((error as CriError).hint).toContain(hint);
  });

  test('a crash during a call fails it with UNAVAILABLE', async ({expect}) => {
    await using started = await startConnectedFakeRuntime();
    started.fake.injectCrash('RunPodSandbox', {afterEffect: true});
    await expect(
      started.connection.runtime.runPodSandbox({config: {metadata: {name: 'web', namespace: 'default'}}}),
    ).rejects.toSatisfy(isUnavailable);
    expect(started.fake.sandboxes).toHaveLength(1);
  });
});
