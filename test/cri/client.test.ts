import {describe, test} from 'vitest';
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
import {start} from '../fakes/started.js';

const C1 = containerId('c1');

describe('connecting', () => {
  test('nothing is opened before the first call, and both services share one connection', async ({
    expect,
  }) => {
    await using started = await start();
    const before = started.fake.connections.accepted;
    await Promise.all([
      started.cri.runtime.version(),
      started.cri.images.listImages(),
      started.cri.runtime.status(),
    ]);
    expect([before, started.fake.connections.accepted]).toEqual([0, 1]);
  });

  test('no call is made but those that were asked for', async ({expect}) => {
    await using started = await start();
    await started.cri.runtime.listContainers();
    expect(started.fake.calls.map(({method}) => method)).toEqual(['ListContainers']);
  });

  test('one signal may end any number of calls at once, which Node.js has no warning for', async ({
    expect,
  }) => {
    await using started = await start();
    const warnings: string[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning.name);
    process.on('warning', onWarning);
    const {signal} = new AbortController();
    await Promise.all(Array.from({length: 12}, async () => started.cri.runtime.version({}, {signal})));
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  test('images come from another endpoint when there is one', async ({expect}) => {
    await using runtime = await FakeRuntime.start();
    await using images = await FakeRuntime.start({images: []});
    using cri = connect(runtime.endpoint, {imageEndpoint: images.endpoint});
    await cri.runtime.version();
    expect((await cri.images.listImages()).images).toEqual([]);
    expect([runtime.calls.length, images.calls.length]).toEqual([1, 1]);
  });

  test('a bare path is an endpoint too', async ({expect}) => {
    await using fake = await FakeRuntime.start();
    using cri = connect(fake.socketPath);
    expect((await cri.runtime.version()).runtimeName).toBe('fake');
  });

  test.for([
    ['tcp://127.0.0.1:1', 'has the protocol "tcp"'],
    ['run/containerd.sock', 'is not an absolute path'],
    ['unix://run/containerd.sock', 'has a host where the path should begin'],
  ] as const)('%s is no endpoint', ([endpoint, text], {expect}) => {
    expect(() => connect(endpoint)).toThrow(text);
  });

  test('closing gives the connection back', async ({expect}) => {
    await using fake = await FakeRuntime.start();
    const cri = connect(fake.endpoint);
    await cri.runtime.version();
    cri.close();
    await expect.poll(() => fake.connections.open).toBe(0);
  });

  test('closing ends the calls that run', async ({expect}) => {
    await using started = await start();
    started.fake.injectDelay('Version', 60_000);
    const failing = expect(started.cri.runtime.version()).rejects.toMatchObject({grpcCode: 'CANCELLED'});
    await expect.poll(() => started.fake.calls.length).toBe(1);
    started.cri.close();
    await failing;
  });

  test('after a restart of the runtime the same connection object goes on', async ({expect}) => {
    await using started = await start();
    await started.cri.runtime.version();
    await started.fake.crash();
    await started.fake.restart();
    const version = () => started.cri.runtime.version().then(({runtimeName}) => runtimeName, String);
    await expect.poll(version, {timeout: 5000}).toBe('fake');
  });
});

describe('calls', () => {
  test('requests take what is given, and answers are whole and typed', async ({expect}) => {
    await using started = await start({
      containers: [aContainer({id: 'c1', createdAt: 1_777_000_000_123_456_789n})],
    });
    const {containers} = await started.cri.runtime.listContainers({
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
    // RUNNING is 1; CREATED, which is 0, is left out on the wire but the message around it is not.
    await started.cri.runtime.listContainers({filter: {state: {state: 'CONTAINER_CREATED'}}});
    expect(started.fake.calls.map(({request}) => request)).toEqual([
      {filter: {state: {state: 'CONTAINER_RUNNING'}}},
      {filter: {state: {}}},
    ]);
  });

  test('many calls at once use one connection and get their own answers', async ({expect}) => {
    await using started = await start();
    const names = Array.from({length: 100}, (_, index) => `pod-${index}`);
    const ids = await Promise.all(
      names.map(async (name) => {
        const metadata = {name, namespace: 'default', uid: podUid(name), attempt: 0};
        const {podSandboxId} = await started.cri.runtime.runPodSandbox({config: {metadata}});
        return (await started.cri.runtime.podSandboxStatus({podSandboxId})).status?.metadata?.name;
      }),
    );
    expect(ids).toEqual(names);
    expect(started.fake.connections.accepted).toBe(1);
  });

  test('an answer of 40 MiB arrives', async ({expect}) => {
    const stdout = 'x'.repeat(40 * 2 ** 20);
    await using started = await start({containers: [aContainer({id: 'c1'})], exec: () => ({stdout})});
    const response = await started.cri.runtime.execSync({containerId: C1, cmd: ['cat']});
    expect(response.stdout.length).toBe(40 * 2 ** 20);
  });

  test('a request of 20 MiB arrives', async ({expect}) => {
    await using started = await start({containers: [aContainer({id: 'c1'})]});
    const argument = 'x'.repeat(20 * 2 ** 20);
    await started.cri.runtime.execSync({containerId: C1, cmd: [argument]});
    expect((started.fake.calls[0]?.request['cmd'] as string[])[0]?.length).toBe(argument.length);
  });

  test('an answer beyond 128 MiB is RESOURCE_EXHAUSTED', async ({expect}) => {
    const stdout = 'x'.repeat(129 * 2 ** 20);
    await using started = await start({containers: [aContainer({id: 'c1'})], exec: () => ({stdout})});
    await expect(started.cri.runtime.execSync({containerId: C1, cmd: ['cat']})).rejects.toMatchObject({
      grpcCode: 'RESOURCE_EXHAUSTED',
    });
  });
});

describe('deadlines', () => {
  const seconds = (ms: number | undefined): number | undefined =>
    ms === undefined ? undefined : Math.round(ms / 1000);

  test.for<[what: string, expected: number | undefined, call: (cri: Connection) => Promise<unknown>]>([
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
    ['StopContainer at once', 120, ({runtime}) => runtime.stopContainer({})],
    ['ExecSync of 5 s', 125, ({runtime}) => runtime.execSync({timeout: 5n})],
    ['ExecSync without a timeout', undefined, ({runtime}) => runtime.execSync()],
    ['CheckpointContainer of 10 s', 130, ({runtime}) => runtime.checkpointContainer({timeout: 10n})],
    ['PullImage', undefined, ({images}) => images.pullImage()],
  ])('%s has %s seconds', async ([, expected, call], {expect}) => {
    await using started = await start();
    await call(started.cri).catch(() => undefined);
    expect(seconds(started.fake.calls[0]?.deadlineMs)).toBe(expected);
  });

  test('the base is the connection’s, and a call may have its own', async ({expect}) => {
    await using fake = await FakeRuntime.start();
    using cri = connect(fake.endpoint, {timeoutMs: 10_000});
    await cri.runtime.version();
    await cri.runtime.runPodSandbox().catch(() => undefined);
    await cri.runtime.version({}, {timeoutMs: 3000});
    await cri.runtime.version({}, {timeoutMs: Infinity});
    expect(fake.calls.map(({deadlineMs}) => seconds(deadlineMs))).toEqual([10, 20, 3, undefined]);
  });

  test('an answer that comes too late is DEADLINE_EXCEEDED', async ({expect}) => {
    await using started = await start();
    started.fake.injectDelay('Version', 60_000);
    await expect(started.cri.runtime.version({}, {timeoutMs: 50})).rejects.toMatchObject({
      grpcCode: 'DEADLINE_EXCEEDED',
      code: 'CRI_DEADLINE_EXCEEDED',
    });
  });
});

describe('aborting', () => {
  test('an aborted signal makes no call', async ({expect}) => {
    await using started = await start();
    const signal = AbortSignal.abort(new Error('changed my mind'));
    await expect(started.cri.runtime.version({}, {signal})).rejects.toThrow('changed my mind');
    expect(started.fake.connections.accepted).toBe(0);
  });

  test('aborting cancels the call at the runtime and rejects with the reason', async ({expect}) => {
    await using started = await start();
    started.fake.injectDelay('PullImage', 60_000);
    const abort = new AbortController();
    const pulling = started.cri.images.pullImage({image: {image: 'busybox'}}, {signal: abort.signal});
    await expect.poll(() => started.fake.calls.length).toBe(1);
    abort.abort(new Error('changed my mind'));
    await expect(pulling).rejects.toThrow('changed my mind');
    await expect.poll(() => started.fake.calls[0]?.code).toBe('Canceled');
  });

  test('a finished call leaves no listener on the signal', async ({expect}) => {
    await using started = await start();
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
    await started.cri.runtime.version({}, {signal});
    await started.cri.runtime.podSandboxStatus({}, {signal}).catch(() => undefined);
    for await (const page of started.cri.images.streamImages({}, {signal}))
      expect(page.images).toHaveLength(1);
    expect(added).toEqual([]);
  });
});

describe('streams', () => {
  test('a stream is opened when it is first read', async ({expect}) => {
    await using started = await start();
    const pages = started.cri.runtime.streamContainers();
    expect(started.fake.calls).toEqual([]);
    for await (const {containers} of pages) expect(containers).toEqual([]);
    expect(started.fake.callsTo('StreamContainers')).toHaveLength(1);
  });

  test('events arrive as they happen, and leaving the loop cancels the call', async ({expect}) => {
    await using started = await start({containers: [aContainer({id: 'c1'})]});
    void expect
      .poll(() => started.fake.state.events.listeners)
      .toBe(1)
      .then(() => {
        started.fake.exitContainer('c1', 3);
      });
    for await (const event of started.cri.runtime.getContainerEvents()) {
      expect(event).toMatchObject({containerId: 'c1', containerEventType: 'CONTAINER_STOPPED_EVENT'});
      expect(event.containersStatuses).toMatchObject([{id: 'c1', exitCode: 3}]);
      break;
    }
    await expect.poll(() => started.fake.state.events.listeners).toBe(0);
  });

  test('a stream has no deadline', async ({expect}) => {
    await using started = await start();
    for await (const page of started.cri.images.streamImages()) expect(page.images).toHaveLength(1);
    expect(started.fake.calls[0]?.deadlineMs).toBeUndefined();
  });

  test('aborting ends a waiting stream with the reason', async ({expect}) => {
    await using started = await start();
    const abort = new AbortController();
    const events = started.cri.runtime.getContainerEvents({}, {signal: abort.signal})[Symbol.asyncIterator]();
    const next = events.next();
    await expect.poll(() => started.fake.state.events.listeners).toBe(1);
    abort.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    await expect.poll(() => started.fake.state.events.listeners).toBe(0);
  });

  test('a crash of the runtime ends a waiting stream with an error', async ({expect}) => {
    await using started = await start();
    const events = started.cri.runtime.getContainerEvents()[Symbol.asyncIterator]();
    const next = events.next();
    await expect.poll(() => started.fake.state.events.listeners).toBe(1);
    const failing = expect(next).rejects.toSatisfy(isUnavailable);
    await started.fake.crash();
    await failing;
  });

  test('closing the connection ends a stream that is being opened', async ({expect}) => {
    await using started = await start();
    const next = started.cri.runtime.getContainerEvents()[Symbol.asyncIterator]().next();
    started.cri.close();
    await expect(next).rejects.toMatchObject({grpcCode: 'CANCELLED'});
    await expect.poll(() => started.fake.connections.open).toBe(0);
  });

  test('closing the connection ends a waiting stream', async ({expect}) => {
    await using started = await start();
    const next = started.cri.runtime.getContainerEvents()[Symbol.asyncIterator]().next();
    await expect.poll(() => started.fake.state.events.listeners).toBe(1);
    const failing = expect(next).rejects.toMatchObject({grpcCode: 'CANCELLED'});
    started.cri.close();
    await failing;
    await expect.poll(() => started.fake.state.events.listeners).toBe(0);
  });
});

describe('errors', () => {
  test('a refusal has crictl’s text, the method, the code and the endpoint', async ({expect}) => {
    await using started = await start();
    const error: unknown = await started.cri.runtime
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
      hint: '"kcri ps -a" lists what there is',
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
  ])('UNIMPLEMENTED with "$message" hints "$hint"', async ({message, hint}, {expect}) => {
    await using started = await start();
    started.fake.injectError('RuntimeConfig', {code: 'UNIMPLEMENTED', message});
    const error: unknown = await started.cri.runtime.runtimeConfig().catch((e: unknown) => e);
    expect(isUnimplemented(error)).toBe(true);
    expect((error as CriError).hint).toContain(hint);
  });

  test('a crash in the middle of a call is UNAVAILABLE', async ({expect}) => {
    await using started = await start();
    started.fake.injectCrash('RunPodSandbox', {afterEffect: true});
    await expect(
      started.cri.runtime.runPodSandbox({config: {metadata: {name: 'web', namespace: 'default'}}}),
    ).rejects.toSatisfy(isUnavailable);
    expect(started.fake.sandboxes).toHaveLength(1);
  });
});
