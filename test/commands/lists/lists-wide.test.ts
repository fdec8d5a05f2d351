import {describe, expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {parseTable} from '../../cli/output/parse-table.js';
import {runKcri, type RunResult} from '../../cli/run-kcri.js';
import {BUILT_AT_NANOS, FakeRuntime, aContainer, aSandbox, anImage} from '../../fakes/fake-runtime.js';

const clock = {...systemClock, now: () => Number(BUILT_AT_NANOS / 1_000_000n) + 3 * 60_000};
const second = 1_000_000_000n;

/** The containers, newest first: api/server, web/nginx, web/init (exited with 3), web/fresh (created). */
async function startRuntime(options: Parameters<typeof FakeRuntime.start>[0] = {}): Promise<FakeRuntime> {
  const web = aSandbox({name: 'web', ip: '10.0.0.1', createdAt: BUILT_AT_NANOS});
  const api = aSandbox({name: 'api', namespace: 'prod', ip: '10.0.0.2', createdAt: BUILT_AT_NANOS + second});
  const ports = '[{"hostPort":8080,"containerPort":80,"protocol":"TCP"}]';
  return await FakeRuntime.start({
    images: [anImage()],
    sandboxes: [web, api],
    containers: [
      aContainer({
        sandbox: web,
        name: 'nginx',
        attempt: 2,
        createdAt: BUILT_AT_NANOS + 2n,
        annotations: {'io.kubernetes.container.ports': ports, 'io.kubernetes.container.restartCount': '7'},
      }),
      aContainer({
        sandbox: web,
        name: 'init',
        state: 'CONTAINER_EXITED',
        exitCode: 3,
        createdAt: BUILT_AT_NANOS + 1n,
      }),
      aContainer({sandbox: web, name: 'fresh', state: 'CONTAINER_CREATED', createdAt: BUILT_AT_NANOS}),
      aContainer({sandbox: api, name: 'server', createdAt: BUILT_AT_NANOS + second, labels: {app: 'api'}}),
    ],
    ...options,
  });
}

/** Returns the standard output of a command, and expects no errors. */
async function output(runtime: FakeRuntime, ...args: readonly string[]): Promise<string> {
  const {stdout, stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint, clock});
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  return stdout;
}

const methods = (runtime: FakeRuntime): readonly string[] => runtime.calls.map(({method}) => method);

describe('-o wide', () => {
  test('ps prints addresses, PIDs, exit codes, restarts and ports', async () => {
    await using runtime = await startRuntime();
    const rows = parseTable(await output(runtime, 'ps', '-a', '-o', 'wide'));
    expect(rows).toMatchObject([
      {NAME: 'server', IP: '10.0.0.2', PID: '4322', 'EXIT CODE': '-', RESTARTS: '0', PORTS: '-'},
      {NAME: 'nginx', IP: '10.0.0.1', PID: '4322', RESTARTS: '7', PORTS: '8080->80/TCP'},
      {NAME: 'init', IP: '10.0.0.1', PID: '-', 'EXIT CODE': '3'},
      {NAME: 'fresh', IP: '10.0.0.1', PID: '-', 'EXIT CODE': '-'},
    ]);
  });

  test('ps makes one call per pod and per started container', async () => {
    await using runtime = await startRuntime();
    await output(runtime, 'ps', '-a', '-o', 'wide');
    expect(methods(runtime).toSorted()).toEqual([
      ...Array<string>(3).fill('ContainerStatus'),
      'ListContainers',
      ...Array<string>(2).fill('PodSandboxStatus'),
    ]);
  });

  test('a failed call leaves cells empty and is reported', async () => {
    await using runtime = await startRuntime();
    const [nginx] = runtime.containers;
    runtime.injectError('ContainerStatus', {
      code: 'INTERNAL',
      message: 'broken',
      match: (request) => request['container_id'] === nginx!.id,
    });
    const {stdout, stderr, exitCode} = await runKcri(['ps', '-o', 'wide'], {endpoint: runtime.endpoint});
    expect(parseTable(stdout)).toMatchObject([
      {NAME: 'server', PID: '4322'},
      {NAME: 'nginx', PID: '-'},
    ]);
    expect(stderr).toMatch(/^kcri: warning: some details are missing: .*broken\n$/);
    expect(exitCode).toBe(0);
  });

  test('a container removed meanwhile is not an error', async () => {
    await using runtime = await startRuntime();
    runtime.injectError('ContainerStatus', {code: 'NOT_FOUND', message: 'gone'});
    expect(parseTable(await output(runtime, 'ps', '-o', 'wide'))).toMatchObject([{PID: '-'}, {PID: '-'}]);
  });

  test('pods prints addresses, PIDs, running containers and restarts', async () => {
    await using runtime = await startRuntime();
    expect(parseTable(await output(runtime, 'pods', '-o', 'wide'))).toMatchObject([
      {NAME: 'api', IP: '10.0.0.2', PID: '4321', RUNNING: '1/1', RESTARTS: '0', PORTS: '-'},
      {NAME: 'web', IP: '10.0.0.1', PID: '4321', RUNNING: '1/3', RESTARTS: '7', PORTS: '-'},
    ]);
    expect(methods(runtime).filter((method) => method.startsWith('List'))).toEqual([
      'ListPodSandbox',
      'ListContainers',
    ]);
  });

  test('images prints build times, platforms and numbers of containers', async () => {
    await using runtime = await startRuntime({
      images: [
        anImage({builtAt: '2026-05-01T11:00:00Z', pinned: true}),
        anImage({name: 'docker.io/library/alpine:3'}),
      ],
    });
    expect(parseTable(await output(runtime, 'images', '-o', 'wide'))).toMatchObject([
      {IMAGE: 'docker.io/library/alpine', CREATED: '-', CONTAINERS: '0', PINNED: 'false'},
      {CREATED: 'About an hour ago', PLATFORM: 'linux/amd64', CONTAINERS: '4', PINNED: 'true'},
    ]);
  });
});

describe('the sort order', () => {
  // Proves: pods --reverse
  test.each([
    [
      ['ps', '-a'],
      ['server', 'nginx', 'init', 'fresh'],
    ],
    [
      ['ps', '-a', '--reverse'],
      ['fresh', 'init', 'nginx', 'server'],
    ],
    [
      ['ps', '-a', '--sort', 'name'],
      ['fresh', 'init', 'nginx', 'server'],
    ],
    [
      ['ps', '-a', '--sort', 'name', '--reverse'],
      ['server', 'nginx', 'init', 'fresh'],
    ],
    [
      ['ps', '-a', '--sort', 'state'],
      ['fresh', 'init', 'server', 'nginx'],
    ],
    [
      ['ps', '-a', '--sort', 'attempt', '-n', '2'],
      ['nginx', 'server'],
    ],
    [
      ['ps', '-a', '--sort', 'pod'],
      ['server', 'nginx', 'init', 'fresh'],
    ],
    [
      ['pods', '--sort', 'name'],
      ['api', 'web'],
    ],
    [
      ['pods', '--sort=created', '--reverse'],
      ['web', 'api'],
    ],
  ])('of %j is %j', async (args, names) => {
    await using runtime = await startRuntime();
    expect(parseTable(await output(runtime, ...args)).map((row) => row['NAME'])).toEqual(names);
  });

  test('applies to JSON', async () => {
    await using runtime = await startRuntime();
    const text = await output(
      runtime,
      'ps',
      '-a',
      '--sort',
      'name',
      '-o',
      'jsonpath={.containers[*].metadata.name}',
    );
    expect(text.trim()).toBe('fresh init nginx server');
  });

  // Proves: images --sort
  test('of images by size starts with the largest', async () => {
    const images = [anImage({name: 'a.example/s:1', size: 1}), anImage({name: 'a.example/t:1', size: 2})];
    await using runtime = await startRuntime({images, containers: []});
    expect(await output(runtime, 'images', '--sort', 'size', '-o', 'name')).toBe(
      'a.example/t:1\na.example/s:1\n',
    );
  });
});

test.each([
  [['ps'], 'prod/api/server\ndefault/web/nginx\n'],
  [['pods'], 'prod/api\ndefault/web\n'],
  [['images'], 'localhost:5000/busybox:1\n'],
])('%j -o name prints references for other commands', async (args, names) => {
  await using runtime = await startRuntime();
  expect(await output(runtime, ...args, '-o', 'name')).toBe(names);
});

test.each(['ps', 'pods', 'images'])('%s --no-headers prints only rows', async (command) => {
  await using runtime = await startRuntime();
  const [header = '', ...rows] = (await output(runtime, command)).split('\n');
  expect(header).toMatch(/^[A-Z ]+$/);
  expect(await output(runtime, command, '--no-headers')).toBe(rows.join('\n'));
});

describe('filters that a runtime ignores', () => {
  // Proves: pods --label, ps --image, ps --label
  test.each([
    [['ps'], ['server', 'nginx']],
    [['ps', '-s', 'exited'], ['init']],
    [['ps', '--label', 'app=api'], ['server']],
    [['ps', '-a', '--pod', 'prod/api'], ['server']],
    [['ps', '-a', '--image', 'busybox'], []],
    [
      ['ps', '--image', 'localhost:5000/busybox'],
      ['server', 'nginx'],
    ],
    [['pods', '-s', 'notready'], []],
    [['pods', '--label', 'io.kubernetes.pod.name=api'], ['api']],
  ])('are applied by kcri: %j selects %j', async (args, names) => {
    await using runtime = await startRuntime({ignoresFilters: true});
    expect(parseTable(await output(runtime, ...args)).map((row) => row['NAME'])).toEqual(names);
  });

  // Proves: pods --id, ps --id
  test.each([['ps'], ['pods']])('%s --id accepts several ID prefixes', async (command) => {
    const sandboxes = ['aa1', 'aa2', 'b'].map((start) => aSandbox({id: start.padEnd(64, '0'), name: start}));
    const containers = sandboxes.map((sandbox) => aContainer({sandbox, id: sandbox.id}));
    await using runtime = await FakeRuntime.start({sandboxes, containers});
    expect((await output(runtime, command, '-q', '--id', 'aa')).split('\n').filter(Boolean)).toHaveLength(2);
  });
});

describe('containers created without a kubelet', () => {
  async function startUnlabelledRuntime(): Promise<FakeRuntime> {
    const sandbox = aSandbox({name: 'raw', namespace: 'team'});
    const container = aContainer({sandbox});
    return await FakeRuntime.start({
      containers: [{...container, config: {...container.config, labels: {}}}],
    });
  }

  test('are listed with the pods of their sandboxes', async () => {
    await using runtime = await startUnlabelledRuntime();
    expect(parseTable(await output(runtime, 'ps'))).toMatchObject([{POD: 'raw', NAMESPACE: 'team'}]);
    expect(methods(runtime)).toEqual(['ListContainers', 'ListPodSandbox']);
    expect(parseTable(await output(runtime, 'ps', '--namespace', '^team$'))).toHaveLength(1);
  });

  test("are in an unknown pod in crictl's dialect", async () => {
    await using runtime = await startUnlabelledRuntime();
    const {stdout} = await runKcri(['ps'], {endpoint: runtime.endpoint, env: {KCRI_COMPAT: 'crictl'}});
    expect(parseTable(stdout)).toMatchObject([{POD: 'unknown', NAMESPACE: 'unknown'}]);
  });
});

describe('images', () => {
  const images = [
    anImage({name: 'docker.io/library/busybox:1', builtAt: '2026-01-02T00:00:00Z'}),
    anImage({name: 'docker.io/team/app:1', builtAt: '2026-01-01T00:00:00Z'}),
    anImage({name: 'registry.example/app:2', builtAt: '2026-01-03T00:00:00Z'}),
    anImage({name: 'registry.example/silent:1'}),
    anImage({name: 'registry.example/none:1', repoTags: []}),
  ];
  const list = async (...args: readonly string[]): Promise<RunResult> => {
    await using runtime = await FakeRuntime.start({images});
    return await runKcri(['images', '-o', 'name', ...args], {endpoint: runtime.endpoint});
  };

  test.each([
    [['busy*'], ['docker.io/library/busybox:1']],
    [['team/*'], ['docker.io/team/app:1']],
    [['*app*'], ['docker.io/team/app:1', 'registry.example/app:2']],
    [['*:2'], ['registry.example/app:2']],
    [
      ['registry.example/*:*'],
      ['registry.example/app:2', 'registry.example/none@', 'registry.example/silent:1'],
    ],
    [
      ['-f', 'reference=app$'],
      ['docker.io/team/app:1', 'registry.example/app:2'],
    ],
    [['-f', 'reference=^registry.*:2$'], ['registry.example/app:2']],
    [['-f', 'dangling=true'], ['registry.example/none@']],
    [['-f', 'since=busybox'], ['registry.example/app:2']],
    [['-f', 'before=busybox'], ['docker.io/team/app:1']],
    [['-f', 'since=team/app', 'docker.io/*'], ['docker.io/library/busybox:1']],
  ])('%j are %j', async (args, names) => {
    const {stdout, stderr} = await list(...args);
    expect(stdout.split('\n').filter(Boolean)).toEqual(
      names.map((name) => expect.stringContaining(name) as string),
    );
    expect(stderr).toBe('');
  });

  test('without a build time are compared by name, with a warning', async () => {
    const {stdout, stderr, exitCode} = await list('-f', 'since=registry.example/silent');
    expect(stdout.split('\n').filter(Boolean)).toHaveLength(4);
    expect(stderr).toContain('is unknown; since uses the order of names, as crictl does');
    expect(exitCode).toBe(0);
  });

  test('compared with a missing one are an error', async () => {
    expect(await list('-f', 'before=nope')).toMatchObject({exitCode: 1, stdout: ''});
  });
});
