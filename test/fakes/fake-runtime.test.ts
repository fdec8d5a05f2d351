import {mkdir, mkdtemp, readFile, rm, stat} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {describe, test} from 'vitest';
import {
  connect,
  type ContainerConfig,
  type Connection,
  type Init,
  type PodSandboxConfig,
} from '../../src/cri/index.js';
import type {ContainerBehaviour} from './behaviour.js';
import {
  aContainer,
  anImage,
  aSandbox,
  BUSYBOX,
  FakeRuntime,
  type FakeRuntimeOptions,
} from './fake-runtime.js';

const SANDBOX: Init<PodSandboxConfig> = {
  metadata: {name: 'web', namespace: 'default', uid: 'u1' as never, attempt: 0},
};

function config(overrides: Init<ContainerConfig> = {}): Init<ContainerConfig> {
  return {
    metadata: {name: 'main', attempt: 0},
    image: {image: BUSYBOX},
    command: ['sleep', '3600'],
    ...overrides,
  };
}

interface Started extends AsyncDisposable {
  readonly fake: FakeRuntime;
  readonly cri: Connection;
}

async function start(options: FakeRuntimeOptions = {}): Promise<Started> {
  const fake = await FakeRuntime.start(options);
  const cri = connect(fake.endpoint);
  return {
    fake,
    cri,
    [Symbol.asyncDispose]: async () => {
      cri.close();
      await fake.stop();
    },
  };
}

/** A pod with one container, which `behaviour` rules. */
async function runOne({cri}: Started, overrides: Init<ContainerConfig> = {}) {
  const {podSandboxId} = await cri.runtime.runPodSandbox({config: SANDBOX});
  const {containerId} = await cri.runtime.createContainer({
    podSandboxId,
    config: config(overrides),
    sandboxConfig: SANDBOX,
  });
  await cri.runtime.startContainer({containerId});
  return {podSandboxId, containerId};
}

describe('sandboxes', () => {
  test('a sandbox gets a 64-hex id, an address and the state READY', async ({expect}) => {
    await using started = await start();
    const {podSandboxId} = await started.cri.runtime.runPodSandbox({config: SANDBOX});
    const {status} = await started.cri.runtime.podSandboxStatus({podSandboxId});
    expect(podSandboxId).toMatch(/^[0-9a-f]{64}$/);
    expect(status).toMatchObject({id: podSandboxId, state: 'SANDBOX_READY', network: {ip: '10.244.0.2'}});
  });

  test('a sandbox in the host network has no address', async ({expect}) => {
    await using started = await start();
    const linux = {securityContext: {namespaceOptions: {network: 'NODE'}}} as const;
    const {podSandboxId} = await started.cri.runtime.runPodSandbox({config: {...SANDBOX, linux}});
    const {status} = await started.cri.runtime.podSandboxStatus({podSandboxId});
    expect(status?.network?.ip).toBe('');
  });

  test('the same pod and attempt twice is refused, the next attempt is not', async ({expect}) => {
    await using started = await start();
    const {podSandboxId} = await started.cri.runtime.runPodSandbox({config: SANDBOX});
    await expect(started.cri.runtime.runPodSandbox({config: SANDBOX})).rejects.toThrow(
      `failed to reserve sandbox name "web_default_u1_0": name "web_default_u1_0" is reserved for "${podSandboxId}"`,
    );
    const next = {...SANDBOX, metadata: {...SANDBOX.metadata, attempt: 1}};
    await expect(started.cri.runtime.runPodSandbox({config: next})).resolves.toHaveProperty('podSandboxId');
  });

  test.for([
    {what: 'no metadata', request: {config: {}}, text: 'sandbox config must include metadata'},
    {
      what: 'an unknown handler',
      request: {config: SANDBOX, runtimeHandler: 'kata'},
      text: 'no runtime for "kata" is configured',
    },
  ])('RunPodSandbox with $what is refused', async ({request, text}, {expect}) => {
    await using started = await start();
    await expect(started.cri.runtime.runPodSandbox(request)).rejects.toThrow(text);
    expect(started.fake.sandboxes).toEqual([]);
  });

  test('no sandbox starts while the network is not ready', async ({expect}) => {
    await using started = await start();
    started.fake.setCondition('NetworkReady', false, {reason: 'NetworkPluginNotReady'});
    await expect(started.cri.runtime.runPodSandbox({config: SANDBOX})).rejects.toThrow(
      'cni config not initialized',
    );
  });

  test('stopping ends the containers and the network, and stopping again succeeds', async ({expect}) => {
    await using started = await start();
    const {podSandboxId} = await runOne(started);
    await started.cri.runtime.stopPodSandbox({podSandboxId});
    await started.cri.runtime.stopPodSandbox({podSandboxId});
    expect(started.fake.sandboxes).toMatchObject([{state: 'SANDBOX_NOTREADY', ips: []}]);
    expect(started.fake.containers).toMatchObject([{state: 'CONTAINER_EXITED', exitCode: 137}]);
  });

  test('removing takes the containers along', async ({expect}) => {
    await using started = await start();
    const {podSandboxId} = await runOne(started);
    await started.cri.runtime.removePodSandbox({podSandboxId});
    expect(started.fake.sandboxes).toEqual([]);
    expect(started.fake.containers).toEqual([]);
  });

  test('stop and remove of what is unknown succeed, status does not', async ({expect}) => {
    await using started = await start();
    const podSandboxId = 'gone' as never;
    await started.cri.runtime.stopPodSandbox({podSandboxId});
    await started.cri.runtime.removePodSandbox({podSandboxId});
    await expect(started.cri.runtime.podSandboxStatus({podSandboxId})).rejects.toMatchObject({
      grpcCode: 'NOT_FOUND',
      details: 'an error occurred when try to find sandbox: not found',
    });
  });

  test.for([
    {filter: {}, names: ['a', 'b', 'c']},
    {filter: {state: {state: 'SANDBOX_READY'}}, names: ['a', 'b']},
    {filter: {labelSelector: {tier: 'front'}}, names: ['a']},
    {filter: {id: 'aa'}, names: ['a']},
    {filter: {id: 'a'}, names: []},
  ] as const)('ListPodSandbox with $filter gives $names', async ({filter, names}, {expect}) => {
    const sandboxes = [
      aSandbox({id: 'aa1', name: 'a', labels: {tier: 'front'}}),
      aSandbox({id: 'ab1', name: 'b'}),
      aSandbox({id: 'ab2', name: 'c', state: 'SANDBOX_NOTREADY'}),
    ];
    await using started = await start({sandboxes});
    const {items} = await started.cri.runtime.listPodSandbox({filter: filter as never});
    expect(items.map((item) => item.metadata?.name)).toEqual(names);
  });
});

describe('containers', () => {
  test('a container is created, runs, is stopped and removed', async ({expect}) => {
    await using started = await start();
    const {runtime} = started.cri;
    const {podSandboxId} = await runtime.runPodSandbox({config: SANDBOX});
    const {containerId} = await runtime.createContainer({
      podSandboxId,
      config: config(),
      sandboxConfig: SANDBOX,
    });
    const state = async () => (await runtime.containerStatus({containerId})).status?.state;
    const seen = [await state()];
    await runtime.startContainer({containerId});
    seen.push(await state());
    await runtime.stopContainer({containerId, timeout: 10n});
    seen.push(await state());
    await runtime.removeContainer({containerId});
    expect(seen).toEqual(['CONTAINER_CREATED', 'CONTAINER_RUNNING', 'CONTAINER_EXITED']);
    await expect(state()).rejects.toMatchObject({
      grpcCode: 'NOT_FOUND',
      details: `an error occurred when try to find container "${containerId}": not found`,
    });
  });

  test.for([
    {command: ['true'], exitCode: 0, reason: 'Completed'},
    {command: ['/bin/false'], exitCode: 1, reason: 'Error'},
    {command: ['sh', '-c', 'echo hello; exit 3'], exitCode: 3, reason: 'Error'},
  ])(
    '$command has exited with $exitCode when StartContainer answers',
    async ({command, exitCode, reason}, {expect}) => {
      await using started = await start();
      const {containerId} = await runOne(started, {command});
      const {status} = await started.cri.runtime.containerStatus({containerId});
      expect(status).toMatchObject({state: 'CONTAINER_EXITED', exitCode, reason});
      expect(status!.finishedAt).toBeGreaterThan(status!.startedAt);
    },
  );

  test.for([[['sleep', 'infinity']], [['httpd', '-f']], [['sh', '-c', 'while true; do date; done']]])(
    '%j keeps running',
    async ([command], {expect}) => {
      await using started = await start();
      await runOne(started, {command});
      expect(started.fake.containers).toMatchObject([{state: 'CONTAINER_RUNNING'}]);
    },
  );

  test('a behaviour overrules the command line', async ({expect}) => {
    await using started = await start({
      behaviour: ({metadata}) => ({exitCode: metadata?.name === 'main' ? 7 : 0}),
    });
    await runOne(started, {command: ['true']});
    expect(started.fake.containers).toMatchObject([{exitCode: 7}]);
  });

  test('a container that runs for a while exits by itself', async ({expect}) => {
    await using started = await start({behaviour: () => ({exitCode: 2, runForMs: 20})});
    await runOne(started);
    await expect.poll(() => started.fake.containers[0]?.exitCode).toBe(2);
  });

  test('a process that cannot start leaves a container with exit code 128', async ({expect}) => {
    const startError = 'OCI runtime create failed: exec: "/nosuch": no such file or directory';
    await using started = await start({behaviour: (): ContainerBehaviour => ({startError})});
    await expect(runOne(started)).rejects.toThrow(startError);
    expect(started.fake.containers).toMatchObject([
      {state: 'CONTAINER_EXITED', exitCode: 128, reason: 'StartError'},
    ]);
  });

  test.for([
    {timeout: 10n, ignoresStop: false, exitCode: 143},
    {timeout: 0n, ignoresStop: false, exitCode: 137},
    {timeout: 1n, ignoresStop: true, exitCode: 137},
  ])(
    'stop within $timeout s (ignored: $ignoresStop) ends with $exitCode',
    async ({timeout, ignoresStop, exitCode}, {expect}) => {
      await using started = await start({containers: [aContainer({id: 'c1', ignoresStop})]});
      await started.cri.runtime.stopContainer({containerId: 'c1' as never, timeout});
      expect(started.fake.containers).toMatchObject([{state: 'CONTAINER_EXITED', exitCode}]);
    },
  );

  test('stop and remove of what is unknown succeed', async ({expect}) => {
    await using started = await start();
    const containerId = 'gone' as never;
    await expect(started.cri.runtime.stopContainer({containerId})).resolves.toEqual({});
    await expect(started.cri.runtime.removeContainer({containerId})).resolves.toEqual({});
  });

  test('a running container is removed by force', async ({expect}) => {
    await using started = await start({containers: [aContainer({id: 'c1'})]});
    await started.cri.runtime.removeContainer({containerId: 'c1' as never});
    expect(started.fake.containers).toEqual([]);
  });

  test('an id prefix finds its container, unless two begin with it', async ({expect}) => {
    const containers = [aContainer({id: 'ab1', name: 'a'}), aContainer({id: 'ab2', name: 'b'})];
    await using started = await start({containers});
    const one = await started.cri.runtime.containerStatus({containerId: 'ab1' as never});
    expect(one.status?.metadata?.name).toBe('a');
    await expect(started.cri.runtime.containerStatus({containerId: 'ab' as never})).rejects.toThrow(
      'an error occurred when try to find container "ab": Multiple IDs found with provided prefix: ab',
    );
  });

  test.for([
    {
      what: 'an unknown sandbox',
      change: {podSandboxId: 'gone'},
      code: 'NOT_FOUND',
      text: 'failed to find sandbox id "gone": not found',
    },
    {
      what: 'no metadata',
      change: {config: {image: {image: BUSYBOX}}},
      code: 'UNKNOWN',
      text: 'container config must include metadata',
    },
    {
      what: 'no sandbox config',
      change: {sandboxConfig: undefined},
      code: 'UNKNOWN',
      text: 'pod sandbox config must include metadata',
    },
    {
      what: 'an absent image',
      change: {config: config({image: {image: 'nosuch:1'}})},
      code: 'NOT_FOUND',
      text: 'failed to resolve image "nosuch:1": not found',
    },
    {
      what: 'a privileged container in a plain sandbox',
      change: {config: config({linux: {securityContext: {privileged: true}}})},
      code: 'UNKNOWN',
      text: 'no privileged container allowed in sandbox',
    },
  ])('CreateContainer with $what is refused', async ({change, code, text}, {expect}) => {
    await using started = await start();
    const {podSandboxId} = await started.cri.runtime.runPodSandbox({config: SANDBOX});
    const request = {podSandboxId, config: config(), sandboxConfig: SANDBOX, ...(change as object)};
    await expect(started.cri.runtime.createContainer(request)).rejects.toMatchObject({
      grpcCode: code,
      details: expect.stringContaining(text) as string,
    });
    expect(started.fake.containers).toEqual([]);
  });

  test('a name is taken until its container is removed', async ({expect}) => {
    await using started = await start();
    const {podSandboxId, containerId} = await runOne(started);
    const request = {podSandboxId, config: config(), sandboxConfig: SANDBOX};
    await expect(started.cri.runtime.createContainer(request)).rejects.toThrow(
      `is reserved for "${containerId}"`,
    );
    await started.cri.runtime.removeContainer({containerId});
    await expect(started.cri.runtime.createContainer(request)).resolves.toHaveProperty('containerId');
  });

  test('an image without a command needs one', async ({expect}) => {
    await using started = await start({images: [anImage({cmd: []})]});
    await expect(runOne(started, {command: []})).rejects.toThrow('no command specified');
  });

  test.for([
    {state: 'CONTAINER_RUNNING', text: 'container is in CONTAINER_RUNNING state'},
    {state: 'CONTAINER_EXITED', text: 'container is in CONTAINER_EXITED state'},
  ] as const)('a container in state $state is not started again', async ({state, text}, {expect}) => {
    await using started = await start({containers: [aContainer({id: 'c1', state})]});
    await expect(started.cri.runtime.startContainer({containerId: 'c1' as never})).rejects.toThrow(text);
  });

  test('ListContainers filters by sandbox, state and label', async ({expect}) => {
    const sandbox = aSandbox({id: 'f00d', name: 'db'});
    const containers = [
      aContainer({sandbox, name: 'one', labels: {app: 'x'}}),
      aContainer({sandbox, name: 'two', state: 'CONTAINER_EXITED', labels: {app: 'x'}}),
      aContainer({name: 'three', labels: {app: 'x'}}),
    ];
    await using started = await start({containers});
    const {containers: listed} = await started.cri.runtime.listContainers({
      filter: {podSandboxId: 'f0' as never, state: {state: 'CONTAINER_RUNNING'}, labelSelector: {app: 'x'}},
    });
    expect(listed.map((each) => each.metadata?.name)).toEqual(['one']);
  });

  test('UpdateContainerResources changes what it names and keeps the rest', async ({expect}) => {
    await using started = await start();
    const {containerId} = await runOne(started, {linux: {resources: {cpuShares: 2n, cpuQuota: 100n}}});
    await started.cri.runtime.updateContainerResources({containerId, linux: {cpuShares: 512n}});
    const {status} = await started.cri.runtime.containerStatus({containerId});
    expect(status?.resources?.linux).toMatchObject({cpuShares: 512n, cpuQuota: 100n});
  });
});

describe('logs', () => {
  test('output is written to the log file in the CRI format', async ({expect}) => {
    const logDirectory = await mkdtemp(join(tmpdir(), 'kcri-log-'));
    await mkdir(join(logDirectory, 'main'));
    await using started = await start({
      behaviour: () => ({exitCode: 0, stdout: 'one\ntwo\nrest', stderr: 'oops\n'}),
    });
    const sandboxConfig = {...SANDBOX, logDirectory};
    const {podSandboxId} = await started.cri.runtime.runPodSandbox({config: sandboxConfig});
    const request = {podSandboxId, config: config({logPath: 'main/0.log'}), sandboxConfig};
    const {containerId} = await started.cri.runtime.createContainer(request);
    await started.cri.runtime.startContainer({containerId});
    const log = await readFile(join(logDirectory, 'main/0.log'), 'utf8');
    await rm(logDirectory, {recursive: true});
    const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z`;
    expect(log).toMatch(
      new RegExp(
        `^${time} stdout F one\n${time} stdout F two\n${time} stdout P rest\n${time} stderr F oops\n$`,
      ),
    );
  });

  test('a log directory that is not there fails the start', async ({expect}) => {
    await using started = await start();
    const sandboxConfig = {...SANDBOX, logDirectory: join(tmpdir(), 'kcri-no-such-directory')};
    const {podSandboxId} = await started.cri.runtime.runPodSandbox({config: sandboxConfig});
    const request = {podSandboxId, config: config({logPath: '0.log'}), sandboxConfig};
    const {containerId} = await started.cri.runtime.createContainer(request);
    await expect(started.cri.runtime.startContainer({containerId})).rejects.toThrow(
      'failed to create and open log file',
    );
  });
});

describe('images', () => {
  test('a published image is pulled, an unpublished one is not found', async ({expect}) => {
    await using started = await start({images: [], registry: [anImage({name: 'nginx'})]});
    const {imageRef} = await started.cri.images.pullImage({image: {image: 'docker.io/library/nginx:latest'}});
    expect(started.fake.images).toMatchObject([{id: imageRef, repoTags: ['docker.io/library/nginx:latest']}]);
    await expect(started.cri.images.pullImage({image: {image: 'nosuch'}})).rejects.toMatchObject({
      grpcCode: 'NOT_FOUND',
      details: `failed to pull and unpack image "docker.io/library/nosuch:latest": failed to resolve image: docker.io/library/nosuch:latest: not found`,
    });
  });

  test.for([
    {reference: BUSYBOX, found: true},
    {reference: anImage().id, found: true},
    {reference: anImage().id.slice(7, 19), found: true},
    {reference: anImage().repoDigests[0]!, found: true},
    {reference: 'localhost:5000/busybox', found: false},
    {reference: 'nosuch', found: false},
  ])('ImageStatus of $reference finds an image: $found', async ({reference, found}, {expect}) => {
    await using started = await start();
    const {image} = await started.cri.images.imageStatus({image: {image: reference}});
    expect(image !== undefined).toBe(found);
  });

  test('a name with capitals is no reference', async ({expect}) => {
    await using started = await start();
    await expect(started.cri.images.pullImage({image: {image: 'localhost:5000/UPPER:1'}})).rejects.toThrow(
      'invalid reference format: repository name (UPPER) must be lowercase',
    );
  });

  test('removing an image twice succeeds', async ({expect}) => {
    await using started = await start();
    await started.cri.images.removeImage({image: {image: BUSYBOX}});
    await started.cri.images.removeImage({image: {image: BUSYBOX}});
    expect((await started.cri.images.listImages()).images).toEqual([]);
  });

  test.for([
    {user: '1000:1000', uid: {value: 1000n}, username: ''},
    {user: 'nobody', uid: undefined, username: 'nobody'},
  ])(
    'an image of user $user has uid $uid.value and username "$username"',
    async ({user, uid, username}, {expect}) => {
      await using started = await start({images: [anImage({user})]});
      const {images} = await started.cri.images.listImages();
      expect(images[0]).toMatchObject({uid, username});
    },
  );
});

describe('commands, stats and events', () => {
  test('ExecSync gives output and exit code', async ({expect}) => {
    await using started = await start({
      containers: [aContainer({id: 'c1'})],
      exec: ([command]) => (command === 'cat' ? {stdout: 'page', stderr: 'note', exitCode: 4} : undefined),
    });
    const {stdout, stderr, exitCode} = await started.cri.runtime.execSync({
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
    await using started = await start({containers: [aContainer({id: 'c1'})]});
    const request = {containerId: 'c1' as never, cmd: ['sleep', '30'], timeout: 1n};
    await expect(started.cri.runtime.execSync(request)).rejects.toMatchObject({
      grpcCode: 'DEADLINE_EXCEEDED',
      details: 'failed to exec in container: timeout 1s exceeded: context deadline exceeded',
    });
  });

  test('ExecSync in a container that does not run is refused', async ({expect}) => {
    await using started = await start({containers: [aContainer({id: 'c1', state: 'CONTAINER_EXITED'})]});
    await expect(started.cri.runtime.execSync({containerId: 'c1' as never, cmd: ['true']})).rejects.toThrow(
      'failed to exec in container: container is in CONTAINER_EXITED state',
    );
  });

  test('streaming calls give a URL when there is a server for it, else UNIMPLEMENTED', async ({expect}) => {
    const containers = [aContainer({id: 'c1'})];
    await using without = await start({containers});
    await using with_ = await start({containers, streamingUrl: 'http://127.0.0.1:1'});
    const request = {containerId: 'c1' as never, cmd: ['sh'], stdout: true};
    await expect(without.cri.runtime.exec(request)).rejects.toMatchObject({grpcCode: 'UNIMPLEMENTED'});
    expect((await with_.cri.runtime.exec(request)).url).toMatch(
      /^http:\/\/127\.0\.0\.1:1\/exec\/[0-9a-f]{8}$/,
    );
  });

  test('stats exist for what runs', async ({expect}) => {
    const containers = [aContainer({name: 'a'}), aContainer({name: 'b', state: 'CONTAINER_EXITED'})];
    await using started = await start({containers});
    const {stats} = await started.cri.runtime.listContainerStats();
    expect(stats.map((each) => each.attributes?.metadata?.name)).toEqual(['a']);
    const pods = await started.cri.runtime.listPodSandboxStats();
    expect(pods.stats[0]?.linux?.memory?.workingSetBytes?.value).toBe(10n * 2n ** 20n);
  });

  test('events tell a listener of the whole life of a pod', async ({expect}) => {
    await using started = await start();
    const abort = new AbortController();
    const seen: string[] = [];
    const listening = (async () => {
      const events = started.cri.runtime.getContainerEvents({}, {signal: abort.signal});
      for await (const {containerEventType, podSandboxStatus} of events) {
        seen.push(`${containerEventType} ${podSandboxStatus?.state ?? 'gone'}`);
        if (seen.length === 8) break;
      }
    })();
    await expect.poll(() => started.fake.state.events.listeners).toBe(1);
    const {podSandboxId} = await runOne(started);
    await started.cri.runtime.removePodSandbox({podSandboxId});
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

  test('Stream… RPCs send pages that add up to the list', async ({expect}) => {
    await using started = await start();
    started.fake.fill({containers: 2500, pods: 10});
    const sizes: number[] = [];
    for await (const {containers} of started.cri.runtime.streamContainers()) sizes.push(containers.length);
    expect(sizes).toEqual([1000, 1000, 500]);
  });
});

describe('the runtime itself', () => {
  test('it says who it is and that it is ready', async ({expect}) => {
    await using started = await start({runtimeName: 'containerd', runtimeVersion: '2.1.9'});
    expect(await started.cri.runtime.version()).toEqual({
      version: '0.1.0',
      runtimeName: 'containerd',
      runtimeVersion: '2.1.9',
      runtimeApiVersion: 'v1',
    });
    const {status} = await started.cri.runtime.status({verbose: true});
    expect(status?.conditions.map(({type, status: on}) => `${type}=${String(on)}`)).toEqual([
      'RuntimeReady=true',
      'NetworkReady=true',
    ]);
  });

  test('calls are recorded in the form of the kubelet recordings', async ({expect}) => {
    await using started = await start();
    await started.cri.runtime.stopContainer({containerId: 'gone' as never, timeout: 30n});
    await started.cri.runtime
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
    await using started = await start();
    started.fake.fill({containers: 10_000});
    const {containers} = await started.cri.runtime.listContainers();
    expect(new Set(containers.map(({id}) => id)).size).toBe(10_000);
  });

  test('concurrent calls keep their answers apart', async ({expect}) => {
    await using started = await start();
    const runs = Array.from({length: 50}, (_, index) =>
      started.cri.runtime.runPodSandbox({config: {metadata: {...SANDBOX.metadata, name: `pod-${index}`}}}),
    );
    const ids = (await Promise.all(runs)).map(({podSandboxId}) => podSandboxId);
    expect(new Set(ids).size).toBe(50);
    expect(started.fake.connections).toEqual({accepted: 1, open: 1});
  });
});

describe('faults', () => {
  test('an injected error hits the calls it is meant for, and has no effect', async ({expect}) => {
    await using started = await start();
    started.fake.injectError('RunPodSandbox', {code: 'UNAVAILABLE', message: 'no', times: 1, skip: 1});
    const run = (name: string) =>
      started.cri.runtime.runPodSandbox({config: {metadata: {...SANDBOX.metadata, name}}}).then(
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
    await using started = await start();
    started.fake.injectError('RunPodSandbox', {
      code: 'DEADLINE_EXCEEDED',
      message: 'late',
      afterEffect: true,
    });
    await expect(started.cri.runtime.runPodSandbox({config: SANDBOX})).rejects.toThrow('late');
    expect(started.fake.sandboxes).toHaveLength(1);
  });

  test('a matching function chooses the request', async ({expect}) => {
    await using started = await start();
    const match = ({container_id: id}: Readonly<Record<string, unknown>>) => id === 'b';
    started.fake.injectError('StopContainer', {code: 'INTERNAL', message: 'no', match});
    const stop = (id: string) => started.cri.runtime.stopContainer({containerId: id as never});
    await expect(stop('a')).resolves.toEqual({});
    await expect(stop('b')).rejects.toThrow('no');
  });

  test('a delay ends with the call', async ({expect}) => {
    await using started = await start();
    started.fake.injectDelay('Version', 60_000);
    await expect(started.cri.runtime.version({}, {timeoutMs: 50})).rejects.toMatchObject({
      grpcCode: 'DEADLINE_EXCEEDED',
    });
    await expect.poll(() => started.fake.callsTo('Version')[0]?.code).toBe('Canceled');
  });

  test('a crash cuts calls, leaves a dead socket, and a restart knows everything still', async ({expect}) => {
    await using started = await start();
    await runOne(started);
    started.fake.injectCrash('Version');
    await expect(started.cri.runtime.version()).rejects.toMatchObject({grpcCode: 'UNAVAILABLE'});
    await expect(started.cri.runtime.status()).rejects.toThrow('ECONNREFUSED');
    await started.fake.restart();
    await expect
      .poll(() => started.cri.runtime.listContainers().then(({containers}) => containers[0]?.state, String))
      .toBe('CONTAINER_RUNNING');
  });

  test('RPCs that the runtime lacks are UNIMPLEMENTED, streams at their first message', async ({expect}) => {
    await using started = await start({unimplemented: ['RuntimeConfig', 'GetContainerEvents']});
    await expect(started.cri.runtime.runtimeConfig()).rejects.toMatchObject({grpcCode: 'UNIMPLEMENTED'});
    const events = started.cri.runtime.getContainerEvents()[Symbol.asyncIterator]();
    await expect(events.next()).rejects.toMatchObject({grpcCode: 'UNIMPLEMENTED'});
    await expect(started.cri.runtime.checkpointPod()).rejects.toMatchObject({grpcCode: 'UNIMPLEMENTED'});
  });

  test('stopping removes the socket', async ({expect}) => {
    const fake = await FakeRuntime.start();
    await fake.stop();
    await expect(stat(fake.socketPath)).rejects.toThrow('ENOENT');
  });
});
