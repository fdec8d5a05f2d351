import {describe, expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {BUILT_AT_NANOS, FakeRuntime, aContainer, aSandbox, anImage} from '../../fakes/fake-runtime.js';
import {runKcri} from '../../cli/run-kcri.js';

const clock = {...systemClock, now: () => Number(BUILT_AT_NANOS / 1_000_000n) + 3 * 60_000};

async function startRuntime() {
  const web = aSandbox({name: 'web', createdAt: BUILT_AT_NANOS});
  const api = aSandbox({name: 'api', namespace: 'prod', createdAt: BUILT_AT_NANOS + 60_000_000_000n});
  return await FakeRuntime.start({
    images: [anImage({name: 'docker.io/library/app:1'}), anImage()],
    sandboxes: [web, api],
    containers: [
      aContainer({sandbox: web, image: 'app:1', name: 'nginx', createdAt: BUILT_AT_NANOS}),
      aContainer({sandbox: web, name: 'init', state: 'CONTAINER_EXITED', createdAt: BUILT_AT_NANOS - 1n}),
      aContainer({
        sandbox: api,
        image: 'app:1',
        name: 'server',
        attempt: 2,
        createdAt: BUILT_AT_NANOS + 60_000_000_000n,
      }),
    ],
  });
}

const row = (...cells: readonly string[]): string =>
  `${cells.map((cell, index) => (index === cells.length - 1 ? cell : cell.padEnd(20))).join('')}\n`;

describe('--exit-code', () => {
  // Proves: ps --exit-code, pods --exit-code, images --exit-code, get pods --exit-code, get images --exit-code, pods --name
  test.each([
    [['ps'], ['--name=none', '-q']],
    [['pods'], ['--name=none', '-q']],
    [['images'], ['none', '-q']],
    [
      ['get', 'pods'],
      ['-n', 'none'],
    ],
    [['get', 'images'], ['none']],
  ])('of %j sets exit code 2 without a message if nothing matches', async (command, filter) => {
    await using runtime = await startRuntime();
    const list = async (...args: readonly string[]) =>
      await runKcri([...command, ...args], {endpoint: runtime.endpoint});
    expect(await list('--exit-code', ...filter)).toEqual({stdout: '', stderr: '', exitCode: 2});
    expect((await list(...filter)).exitCode).toBe(0);
    expect((await list('--exit-code')).exitCode).toBe(0);
  });
});

describe('ps', () => {
  const HEADER = row(
    'CONTAINER',
    'IMAGE',
    'CREATED',
    'STATE',
    'NAME',
    'ATTEMPT',
    'POD ID',
    'POD',
    'NAMESPACE',
  );

  test('prints running containers, newest first, with one call', async () => {
    await using runtime = await startRuntime();
    const [nginx, , server] = runtime.containers;
    const {stdout, exitCode} = await runKcri(['ps'], {endpoint: runtime.endpoint, clock});
    const shown = (id: string): string => id.slice(0, 13);
    expect(stdout).toBe(
      HEADER +
        row(
          shown(server!.id),
          'app:1',
          '2 minutes ago',
          'Running',
          'server',
          '2',
          shown(server!.sandboxId),
          'api',
          'prod',
        ) +
        row(
          shown(nginx!.id),
          'app:1',
          '3 minutes ago',
          'Running',
          'nginx',
          '0',
          shown(nginx!.sandboxId),
          'web',
          'default',
        ),
    );
    expect(exitCode).toBe(0);
    expect(runtime.calls.map(({method}) => method)).toEqual(['ListContainers']);
  });

  test('prints only the header if there are none', async () => {
    await using runtime = await FakeRuntime.start();
    expect((await runKcri(['ps', '-a'], {endpoint: runtime.endpoint})).stdout).toBe(HEADER);
  });

  test.each([
    [['-a'], ['server', 'nginx', 'init']],
    [['-s', 'exited'], ['init']],
    [['--state=EXITED'], ['init']],
    [['-l'], ['server']],
    [
      ['-n', '2'],
      ['server', 'nginx'],
    ],
    [['-n2'], ['server', 'nginx']],
    [
      ['-an', '0'],
      ['server', 'nginx', 'init'],
    ],
    [['--name', '^n'], ['nginx']],
    [['--name', '(?i)^NG'], ['nginx']],
    [
      ['-a', '--namespace', 'def'],
      ['nginx', 'init'],
    ],
    [['-p', 'api'], ['server']],
    [['--label', 'io.kubernetes.pod.name=web'], ['nginx']],
    [
      ['-a', '--label', 'io.kubernetes.pod.name=web,io.kubernetes.pod.namespace=default'],
      ['nginx', 'init'],
    ],
    [
      ['--image', 'app:1'],
      ['server', 'nginx'],
    ],
    [['--image', 'nothing'], []],
  ])('%j selects %j', async (flags, names) => {
    await using runtime = await startRuntime();
    const {stdout} = await runKcri(['ps', ...flags, '-o', 'json'], {endpoint: runtime.endpoint});
    const {containers} = JSON.parse(stdout) as {containers: {metadata: {name: string}}[]};
    expect(containers.map(({metadata}) => metadata.name)).toEqual(names);
  });

  test('-q prints full IDs, also combined with other short flags', async () => {
    await using runtime = await startRuntime();
    const {stdout} = await runKcri(['ps', '-aq'], {endpoint: runtime.endpoint});
    expect(stdout.split('\n').filter(Boolean).toSorted()).toEqual(
      runtime.containers.map(({id}) => id).toSorted(),
    );
  });

  test('-v prints a block per container', async () => {
    await using runtime = await startRuntime();
    const [nginx] = runtime.containers;
    const {stdout} = await runKcri(['ps', '-v', '--name', 'nginx'], {endpoint: runtime.endpoint, clock});
    const labels = Object.entries(nginx!.config.labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
    expect(stdout).toBe(
      [
        `ID: ${nginx!.id}`,
        `PodID: ${nginx!.sandboxId}`,
        'Namespace: default',
        'Name: nginx',
        'Attempt: 0',
        'State: Running',
        'Image: app:1',
        'Created: 3 minutes ago',
        'Labels:',
        ...labels.map(([key, value]) => `\t${key} -> ${value}`),
        '\n',
      ].join('\n'),
    );
  });

  test('-o json has keys in the order of the CRI definition, default values, and int64 values as strings', async () => {
    await using runtime = await startRuntime();
    const {stdout} = await runKcri(['ps', '--name', 'nginx', '-o', 'json'], {endpoint: runtime.endpoint});
    const {containers} = JSON.parse(stdout) as {containers: Record<string, unknown>[]};
    expect(Object.keys(containers[0]!)).toEqual([
      'id',
      'podSandboxId',
      'metadata',
      'image',
      'imageRef',
      'state',
      'createdAt',
      'labels',
      'annotations',
      'imageId',
    ]);
    expect(containers[0]).toMatchObject({
      metadata: {name: 'nginx', attempt: 0},
      state: 'CONTAINER_RUNNING',
      createdAt: String(BUILT_AT_NANOS),
      annotations: {},
    });
  });

  test('-o yaml ends with an empty line', async () => {
    await using runtime = await FakeRuntime.start();
    expect((await runKcri(['ps', '-o', 'yaml'], {endpoint: runtime.endpoint})).stdout).toBe(
      'containers: []\n\n',
    );
  });

  test('-r prints tags with one additional call', async () => {
    await using runtime = await startRuntime();
    const {stdout} = await runKcri(['ps', '-ar'], {endpoint: runtime.endpoint});
    expect(stdout).toContain('docker.io/library/app:1');
    expect(runtime.calls.map(({method}) => method)).toEqual(['ListContainers', 'ListImages']);
  });

  test.each([
    ['ps', '--state='],
    ['ps', '--id='],
    ['ps', '--pod='],
    ['ps', '--image='],
    ['ps', '--name='],
    ['ps', '--namespace='],
    ['pods', '--state='],
    ['pods', '--id='],
    ['pods', '--name='],
    ['inspect', '--state='],
    ['inspectp', '--state='],
  ])('%s %s is no condition under the name crictl', async (command, flag) => {
    await using runtime = await startRuntime();
    const options = {endpoint: runtime.endpoint, clock, env: {KCRI_COMPAT: 'crictl'}};
    const all = await runKcri([command], options);
    expect(await runKcri([command, flag], options)).toEqual(all);
    expect(all.exitCode).toBe(0);
  });

  test.each([
    [['ps', '-o', 'wider'], 'unsupported output format "wider"'],
    [['ps', '--sort', 'size'], 'invalid --sort "size": must be one of created, name'],
    [['pods', '--sort', 'image'], 'invalid --sort "image": must be one of created, name'],
    [['images', '-f', 'dangling=maybe'], 'dangling must be true or false, not "maybe"'],
    [['ps', '-s', 'constructor'], '--state should be one of created, running, exited or unknown'],
    [['pods', '-s', '__proto__'], '--state should be ready or notready'],
    [['ps', '-s', 'dead'], '--state should be one of created, running, exited or unknown'],
    [['ps', '--label', 'x'], 'incorrectly specified label: x'],
    [['ps', '--name', '('], 'invalid regular expression "("'],
    [['ps', 'foo'], 'unexpected argument "foo"'],
    [['ps', '-n', 'x'], 'invalid argument "x" for "-n, --last" flag'],
    [['ps', '--bogus'], 'unknown flag: --bogus'],
    [['ps', '-o'], "flag needs an argument: 'o' in -o"],
    [['pods', '-s', 'up'], '--state should be ready or notready'],
    [['images', '-f', 'size=3'], 'unknown filter flag: size=3'],
    [['info', '-o', 'table'], 'unsupported output format "table"'],
  ])('%j is rejected without a call and without a stack trace', async (args, message) => {
    await using runtime = await startRuntime();
    const {stdout, stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
    expect(stderr).toContain(`kcri: ${message}`);
    expect(stderr).toContain(`usage: kcri ${args[0]!}`);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect({stdout, exitCode, calls: runtime.calls}).toEqual({stdout: '', exitCode: 1, calls: []});
  });
});

describe('pods', () => {
  test('prints all pods, newest first', async () => {
    await using runtime = await startRuntime();
    const [web, api] = runtime.sandboxes;
    const {stdout} = await runKcri(['pods'], {endpoint: runtime.endpoint, clock});
    expect(stdout).toBe(
      row('POD ID', 'CREATED', 'STATE', 'NAME', 'NAMESPACE', 'ATTEMPT', 'RUNTIME') +
        row(api!.id.slice(0, 13), '2 minutes ago', 'Ready', 'api', 'prod', '0', '(default)') +
        row(web!.id.slice(0, 13), '3 minutes ago', 'Ready', 'web', 'default', '0', '(default)'),
    );
  });

  // Proves: pods --namespace
  test.each([
    [['--name', 'w'], ['web']],
    [['--namespace', 'prod'], ['api']],
    [['-s', 'notready'], []],
    [['-l'], ['api']],
    [['--label', 'io.kubernetes.pod.namespace=default'], ['web']],
  ])('%j selects %j', async (flags, names) => {
    await using runtime = await startRuntime();
    const {stdout} = await runKcri(['pods', ...flags, '-o', 'json'], {endpoint: runtime.endpoint});
    const {items} = JSON.parse(stdout) as {items: {metadata: {name: string}}[]};
    expect(items.map(({metadata}) => metadata.name)).toEqual(names);
  });

  test("-v prints the creation time in Go's format", async () => {
    await using runtime = await FakeRuntime.start({
      sandboxes: [aSandbox({runtimeHandler: 'kata', labels: {}})],
    });
    const {stdout} = await runKcri(['pods', '-v'], {endpoint: runtime.endpoint});
    expect(stdout).toMatch(
      /^ID: .*\nName: web\nUID: .*\nNamespace: default\nStatus: Ready\nCreated: 2026-05-01 /,
    );
    expect(stdout).toMatch(/\nRuntime: kata\n\n$/);
  });
});

describe('images', () => {
  const two = [anImage({name: 'localhost:5000/zeta:2'}), anImage({name: 'docker.io/library/alpha:1'})];

  test('prints one row per tag, sorted by name', async () => {
    await using runtime = await FakeRuntime.start({images: two});
    const {stdout} = await runKcri(['images'], {endpoint: runtime.endpoint});
    const [header = '', first = '', second = ''] = stdout.split('\n');
    expect(header).toMatch(/^IMAGE +TAG +IMAGE ID +SIZE$/);
    expect(first).toMatch(/^docker\.io\/library\/alpha +1 +[0-9a-f]{13} +[\d.]+k?M?B$/);
    expect(second).toMatch(/^localhost:5000\/zeta +2 +[0-9a-f]{13} /);
  });

  test.each([
    [['alpha'], 1],
    [['alpha:1'], 1],
    [['alpha:2'], 0],
    [['localhost:5000/zeta'], 1],
    [['zeta'], 0],
    [['ls'], 2],
    [['list'], 2],
    [['-f', 'dangling=true'], 0],
    [['-f', 'reference=zeta'], 1],
    [['-f', 'since=localhost:5000/zeta:2'], 1],
    [['-f', 'before=alpha:1'], 1],
    [['-f', 'dangling=false,reference=alpha'], 1],
  ])('%j prints %d', async (args, count) => {
    await using runtime = await FakeRuntime.start({images: two});
    const {stdout} = await runKcri(['images', '-q', ...args], {endpoint: runtime.endpoint});
    expect(stdout.split('\n').filter(Boolean)).toHaveLength(count);
  });

  test.each(['image', 'img'])('%s is an alias', async (alias) => {
    await using runtime = await FakeRuntime.start({images: two});
    expect((await runKcri([alias], {endpoint: runtime.endpoint})).stdout).toBe(
      (await runKcri(['images'], {endpoint: runtime.endpoint})).stdout,
    );
  });

  // Proves: images --digests, images --pinned
  test('--digests and --pinned add columns', async () => {
    await using runtime = await FakeRuntime.start({images: two});
    const {stdout} = await runKcri(['images', '--digests', '--pinned'], {endpoint: runtime.endpoint});
    expect(stdout).toMatch(/^IMAGE +TAG +DIGEST +IMAGE ID +SIZE +PINNED\n/);
    expect(stdout).toMatch(/ false\n/);
  });
});

describe('control characters in labels', () => {
  const CONTROL_CHARACTERS = 'a\x1b[2Jb\x07';
  const commands = [
    ['ps', '-v'],
    ['ps', '-o', 'wide'],
    ['pods', '-v'],
    ['inspect', '-o', 'table', 'main'],
    ['inspectp', '-o', 'table', 'web'],
  ];

  async function startRuntimeWithControlCharacters() {
    const sandbox = aSandbox({name: 'web', labels: {evil: CONTROL_CHARACTERS}});
    const labels = {evil: CONTROL_CHARACTERS, 'io.kubernetes.pod.name': CONTROL_CHARACTERS};
    return await FakeRuntime.start({
      sandboxes: [sandbox],
      containers: [aContainer({sandbox, name: 'main', labels})],
    });
  }

  test.each(commands)('do not reach a terminal: %s %s', async (...args) => {
    await using runtime = await startRuntimeWithControlCharacters();
    const {stdout} = await runKcri(args, {endpoint: runtime.endpoint, terminal: true});
    expect(stdout).toContain('a\\x1b[2Jb\\x07');
    expect(stdout).not.toMatch(/[^\P{Cc}\n\t]/u);
  });

  test('are printed unchanged in a pipe, and as crictl', async () => {
    await using runtime = await startRuntimeWithControlCharacters();
    const piped = await runKcri(['ps', '-v'], {endpoint: runtime.endpoint});
    const env = {KCRI_COMPAT: 'crictl'};
    const asCrictl = await runKcri(['ps', '-v'], {endpoint: runtime.endpoint, terminal: true, env});
    expect([piped.stdout, asCrictl.stdout]).toEqual([
      expect.stringContaining(CONTROL_CHARACTERS),
      expect.stringContaining(CONTROL_CHARACTERS),
    ]);
  });
});
