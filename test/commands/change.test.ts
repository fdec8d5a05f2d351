import {existsSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {runKcri} from '../cli/run-kcri.js';
import {FakeRuntime, aContainer, aSandbox, anImage} from '../fakes/fake-runtime.js';
import {temporaryDirectory} from '../base/temporary-directory.js';

let folder: string;
beforeEach(async () => {
  folder = await temporaryDirectory();
});

async function startRuntime() {
  const [web, api] = [aSandbox({name: 'web'}), aSandbox({name: 'api', namespace: 'prod'})];
  return await FakeRuntime.start({
    sandboxes: [web, api],
    containers: [
      aContainer({sandbox: web, name: 'main'}),
      aContainer({sandbox: web, name: 'done', state: 'CONTAINER_EXITED'}),
      aContainer({sandbox: api, name: 'main'}),
      aContainer({sandbox: api, name: 'new', state: 'CONTAINER_CREATED'}),
    ],
  });
}

const mutations = (runtime: FakeRuntime) =>
  runtime.calls
    .map(({method}) => method)
    .filter((method) => /^(Start|Stop|Remove|Create|Run|Pull)/.test(method));

describe('start and stop', () => {
  test('start prints the names of started containers', async () => {
    await using runtime = await startRuntime();
    const result = await runKcri(['start', 'new'], {endpoint: runtime.endpoint});
    expect(result).toEqual({stdout: 'new\n', stderr: '', exitCode: 0});
    expect(runtime.containers[3]!.state).toBe('CONTAINER_RUNNING');
  });

  test('stop passes the grace period to the runtime and resolves names with one call', async () => {
    await using runtime = await startRuntime();
    const id = runtime.containers[0]!.id.slice(0, 13);
    const result = await runKcri(['stop', '-t', '7', id, 'api/main'], {endpoint: runtime.endpoint});
    expect(result).toEqual({stdout: `${id}\napi/main\n`, stderr: '', exitCode: 0});
    expect(runtime.callsTo('StopContainer').map(({request}) => request)).toEqual([
      {container_id: runtime.containers[0]!.id, timeout: '7'},
      {container_id: runtime.containers[2]!.id, timeout: '7'},
    ]);
    expect(runtime.callsTo('ListContainers')).toHaveLength(1);
  });

  test('stop --all stops running containers, then reports that there are none', async () => {
    await using runtime = await startRuntime();
    const {stdout} = await runKcri(['stop', '-a'], {endpoint: runtime.endpoint});
    expect(stdout.trim().split('\n').toSorted()).toEqual(
      [runtime.containers[0]!.id, runtime.containers[2]!.id].toSorted(),
    );
    expect((await runKcri(['stop', '-a'], {endpoint: runtime.endpoint})).stdout).toBe(
      'No running containers found.\n',
    );
  });

  test.each([
    [['stop', '--pod', 'web'], ['main']],
    [['stop', '--label', 'io.kubernetes.pod.namespace=prod'], ['main']],
    [['stop', '-p', 'api', 'main'], ['main']],
    [['rm', '-p', 'web', '--name', 'done'], ['done']],
    [
      ['rm', '-f', '--pod', 'api'],
      ['main', 'new'],
    ],
  ])('%j selects containers by filters', async (args, names) => {
    await using runtime = await startRuntime();
    const {stderr, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    const changed = runtime.calls.filter(({method}) => /^(Stop|Remove)Container$/.test(method));
    expect(new Set(changed.map(({request}) => Object.values(request)[0]))).toHaveLength(names.length);
  });

  test('filters that match nothing change nothing and fail', async () => {
    await using runtime = await startRuntime();
    const {stderr, exitCode} = await runKcri(['stop', '--label', 'a=b'], {endpoint: runtime.endpoint});
    expect(stderr).toMatch(
      /^kcri: no running container matches --label a=b; --label matches labels of containers, not of pods\nhint: /,
    );
    expect({exitCode, calls: mutations(runtime)}).toEqual({exitCode: 1, calls: []});
  });

  test('an ambiguous name changes nothing and lists the matches', async () => {
    await using runtime = await startRuntime();
    const {stderr, exitCode} = await runKcri(['stop', 'main', 'done'], {endpoint: runtime.endpoint});
    expect(stderr).toMatch(/^kcri: "main" matches 2 containers\nhint: use one of [0-9a-f]{13} \(/);
    expect(stderr).toContain('(default/web/main)');
    expect(stderr).toContain('(prod/api/main)');
    expect({exitCode, calls: mutations(runtime)}).toEqual({exitCode: 1, calls: []});
  });

  test.each([
    ['stop', 'container'],
    ['stopp', 'pod'],
    ['start', 'container'],
    ['rm', 'container'],
    ['rmp', 'pod'],
  ])('%s reports a missing %s', async (command, noun) => {
    await using runtime = await startRuntime();
    for (const id of ['nope', 'f'.repeat(64)]) {
      const {stdout, stderr, exitCode} = await runKcri([command, id], {endpoint: runtime.endpoint});
      expect(stderr).toMatch(new RegExp(`^kcri: .*(no such ${noun} "${id}"|"${id}": no such ${noun})`));
      expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    }
  });

  test('a missing container does not affect the others', async () => {
    await using runtime = await startRuntime();
    const {stdout, exitCode} = await runKcri(['stop', 'nope', 'web/main'], {endpoint: runtime.endpoint});
    expect({stdout, exitCode}).toEqual({stdout: 'web/main\n', exitCode: 1});
  });

  test('stopp stops a pod by name', async () => {
    await using runtime = await startRuntime();
    const result = await runKcri(['stopp', 'prod/api'], {endpoint: runtime.endpoint});
    expect(result).toEqual({stdout: 'Stopped sandbox prod/api\n', stderr: '', exitCode: 0});
    expect(runtime.sandboxes[1]!.state).toBe('SANDBOX_NOTREADY');
  });
});

describe('rm', () => {
  test('removes an exited container with its logs', async () => {
    const log = join(folder, '0.log');
    for (const file of [log, `${log}.20260101-120000`, `${log}x`]) writeFileSync(file, '');
    const sandbox = aSandbox();
    const exited = aContainer({sandbox, name: 'done', state: 'CONTAINER_EXITED', logPath: log});
    await using runtime = await FakeRuntime.start({sandboxes: [sandbox], containers: [exited]});
    const result = await runKcri(['rm', 'done'], {endpoint: runtime.endpoint});
    expect(result).toEqual({stdout: 'done\n', stderr: '', exitCode: 0});
    expect([log, `${log}.20260101-120000`, `${log}x`].map((file) => existsSync(file))).toEqual([
      false,
      false,
      true,
    ]);
  });

  test('keeps files older than the container, and files with similar names', async () => {
    const log = join(folder, '0.log');
    for (const file of [log, `${log}.bak`]) writeFileSync(file, '');
    const sandbox = aSandbox();
    const fields = {sandbox, state: 'CONTAINER_EXITED', logPath: log} as const;
    const fresh = BigInt(Date.now() + 3_600_000) * 1_000_000n;
    const containers = [
      aContainer({...fields, name: 'young', createdAt: fresh}),
      aContainer({...fields, name: 'old'}),
    ];
    await using runtime = await FakeRuntime.start({sandboxes: [sandbox], containers});
    const {stderr, exitCode} = await runKcri(['rm', 'young'], {endpoint: runtime.endpoint});
    expect({stderr, exitCode}).toEqual({
      stderr: `kcri: warning: kept "${log}": it is older than the container\n`,
      exitCode: 0,
    });
    await runKcri(['rm', 'old'], {endpoint: runtime.endpoint});
    expect([log, `${log}.bak`].map((file) => existsSync(file))).toEqual([false, true]);
  });

  test('-k keeps the logs', async () => {
    const log = join(folder, '0.log');
    writeFileSync(log, '');
    const sandbox = aSandbox();
    const exited = aContainer({sandbox, name: 'done', state: 'CONTAINER_EXITED', logPath: log});
    await using runtime = await FakeRuntime.start({sandboxes: [sandbox], containers: [exited]});
    await runKcri(['rm', '-k', 'done'], {endpoint: runtime.endpoint});
    expect(existsSync(log)).toBe(true);
  });

  test('rejects a running container and removes the others', async () => {
    await using runtime = await startRuntime();
    const {stdout, stderr, exitCode} = await runKcri(['rm', 'web/main', 'done'], {
      endpoint: runtime.endpoint,
    });
    expect(stderr).toContain('kcri: container "web/main" is running, please stop it first\nhint: ');
    expect({stdout, exitCode}).toEqual({stdout: 'done\n', exitCode: 1});
  });

  test('-f kills first and prints the name twice like crictl, also after the name', async () => {
    await using runtime = await startRuntime();
    const {stdout} = await runKcri(['rm', 'web/main', '-f'], {endpoint: runtime.endpoint});
    expect(stdout).toBe('web/main\nweb/main\n');
    expect(runtime.callsTo('StopContainer')[0]!.request).not.toHaveProperty('timeout');
  });

  test('-af removes all containers, then reports that there are none', async () => {
    await using runtime = await startRuntime();
    await runKcri(['rm', '-af'], {endpoint: runtime.endpoint});
    expect(runtime.containers).toEqual([]);
    expect(await runKcri(['rm', '-a'], {endpoint: runtime.endpoint})).toEqual({
      stdout: '',
      stderr: 'No containers to remove\n',
      exitCode: 0,
    });
  });

  test('without IDs is a usage error', async () => {
    const {stderr, exitCode} = await runKcri(['rm'], {endpoint: '/nowhere'});
    expect(stderr).toMatch(/^kcri: specify a container\nusage: kcri rm \[CONTAINER\.\.\.\] /);
    expect(exitCode).toBe(1);
  });
});

describe('rmp', () => {
  test('rejects a ready pod', async () => {
    await using runtime = await startRuntime();
    const {stderr, exitCode} = await runKcri(['rmp', 'web'], {endpoint: runtime.endpoint});
    expect(stderr).toContain('kcri: pod sandbox "web" is running, please stop it first');
    expect(exitCode).toBe(1);
  });

  test('-f stops and removes', async () => {
    await using runtime = await startRuntime();
    const {stdout} = await runKcri(['rmp', '-f', 'web'], {endpoint: runtime.endpoint});
    expect(stdout).toBe('Stopped sandbox web\nRemoved sandbox web\n');
    expect(runtime.sandboxes.map(({config}) => config.metadata?.name)).toEqual(['api']);
  });
});

describe('rmi', () => {
  const images = [
    anImage({name: 'localhost:5000/busybox:1'}),
    anImage({name: 'localhost:5000/old:1', repoTags: ['localhost:5000/old:1', 'localhost:5000/old:2']}),
    anImage({name: 'localhost:5000/pause:3', pinned: true}),
  ];
  const startRuntimeWithImages = async () =>
    await FakeRuntime.start({images, sandboxes: [aSandbox()], containers: [aContainer()]});

  const tagsOf = (runtime: FakeRuntime) => runtime.images.flatMap(({repoTags}) => repoTags).toSorted();

  test('an image with other tags is rejected with their names', async () => {
    await using runtime = await startRuntimeWithImages();
    const {stdout, stderr, exitCode} = await runKcri(['rmi', 'localhost:5000/old:1'], {
      endpoint: runtime.endpoint,
    });
    expect(stderr).toMatch(
      /^kcri: image "localhost:5000\/old:1" is also tagged localhost:5000\/old:2\nhint: .*--force/,
    );
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(tagsOf(runtime)).toContain('localhost:5000/old:1');
  });

  test.each([
    ['-f', 'localhost:5000/old:1'],
    ['-f', 'localhost:5000/old:2'],
  ])('%s %s removes all tags', async (...args) => {
    await using runtime = await startRuntimeWithImages();
    const result = await runKcri(['rmi', ...args], {endpoint: runtime.endpoint});
    const stdout = 'Deleted: localhost:5000/old:1\nDeleted: localhost:5000/old:2\n';
    expect(result).toEqual({stdout, stderr: '', exitCode: 0});
  });

  test('an ID selects the image with all its tags', async () => {
    await using runtime = await startRuntimeWithImages();
    const {stdout} = await runKcri(['rmi', images[1]!.id.slice(7, 20)], {endpoint: runtime.endpoint});
    expect(stdout).toBe('Deleted: localhost:5000/old:1\nDeleted: localhost:5000/old:2\n');
  });

  test.each([
    ['localhost:5000/busybox:1', /^kcri: image "\S+" is used by container [0-9a-f]{13} \(main\)\nhint: /],
    ['localhost:5000/pause:3', /^kcri: image "\S+" is pinned by the runtime\nhint: /],
  ])('%s is in use, and removed only by force', async (name, message) => {
    await using runtime = await startRuntimeWithImages();
    const {stderr, exitCode} = await runKcri(['rmi', name], {endpoint: runtime.endpoint});
    expect(stderr).toMatch(message);
    expect(exitCode).toBe(1);
    const forced = await runKcri(['rmi', '--force', name], {endpoint: runtime.endpoint});
    expect(forced).toEqual({stdout: `Deleted: ${name}\n`, stderr: '', exitCode: 0});
  });

  test.each([
    ['one tag', ['localhost:5000/old:1'], ['localhost:5000/old:1'], 0],
    [
      'each tag',
      ['localhost:5000/old:1', 'localhost:5000/old:2'],
      ['localhost:5000/old:1', 'localhost:5000/old:2'],
      0,
    ],
    [
      'the last tag of a pinned image',
      ['localhost:5000/pause:3', 'localhost:5000/pause:4'],
      ['localhost:5000/pause:3'],
      1,
    ],
    [
      'all tags by force',
      ['-f', 'localhost:5000/old:1', 'localhost:5000/old:2'],
      ['localhost:5000/old:1', 'localhost:5000/old:2'],
      0,
    ],
    ['an ID', [images[1]!.id.slice(7, 20)], ['localhost:5000/old:1', 'localhost:5000/old:2'], 0],
  ])('CRI-O removes %s', async (_, args, removed, exitCode) => {
    const pinned = anImage({
      name: 'localhost:5000/pause:3',
      repoTags: ['localhost:5000/pause:3', 'localhost:5000/pause:4'],
      pinned: true,
    });
    await using runtime = await FakeRuntime.start({profile: 'cri-o', images: [images[1]!, pinned]});
    const before = tagsOf(runtime);
    const result = await runKcri(['rmi', ...args], {endpoint: runtime.endpoint});
    expect(result.stdout).toBe(removed.map((name) => `Deleted: ${name}\n`).join(''));
    expect(tagsOf(runtime)).toEqual(before.filter((name) => !removed.includes(name)));
    expect(result.exitCode).toBe(exitCode);
  });

  test.each(['localhost:5000/old:1', 'localhost:5000/old:2'])(
    'CRI-O removes the tag %s of an image in use',
    async (tag) => {
      await using runtime = await FakeRuntime.start({
        profile: 'cri-o',
        images: [images[1]!],
        containers: [aContainer({image: 'localhost:5000/old:1'})],
      });
      const result = await runKcri(['rmi', tag], {endpoint: runtime.endpoint});
      expect(result).toEqual({stdout: `Deleted: ${tag}\n`, stderr: '', exitCode: 0});
      expect(tagsOf(runtime)).toHaveLength(1);
    },
  );

  test('cri-dockerd, which removes images only by ID, removes a named one', async () => {
    await using runtime = await FakeRuntime.start({profile: 'cri-dockerd', images});
    const {stdout} = await runKcri(['rmi', 'localhost:5000/busybox:1'], {endpoint: runtime.endpoint});
    expect(stdout).toBe('Deleted: localhost:5000/busybox:1\n');
    expect(tagsOf(runtime)).not.toContain('localhost:5000/busybox:1');
  });

  test('an image that the runtime does not remove is an error', async () => {
    await using runtime = await startRuntimeWithImages();
    runtime.injectResponse('RemoveImage', Buffer.alloc(0));
    const {stdout, stderr, exitCode} = await runKcri(['rmi', 'localhost:5000/old:1', '-f'], {
      endpoint: runtime.endpoint,
    });
    expect(stderr).toContain('kcri: the runtime did not remove image "localhost:5000/old:1"\nhint: ');
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
  });

  test('-af removes all images', async () => {
    await using runtime = await startRuntimeWithImages();
    const {exitCode} = await runKcri(['rmi', '-af'], {endpoint: runtime.endpoint});
    expect({exitCode, left: runtime.images}).toEqual({exitCode: 0, left: []});
  });

  test('an unknown image is an error', async () => {
    await using runtime = await startRuntimeWithImages();
    const {stderr, exitCode} = await runKcri(['rmi', 'nope'], {endpoint: runtime.endpoint});
    expect(stderr).toContain('kcri: no such image "nope" present');
    expect(exitCode).toBe(1);
  });

  test.each([['--prune'], ['-a']])('%s keeps pinned and used images', async (flag) => {
    await using runtime = await startRuntimeWithImages();
    const {exitCode} = await runKcri(['rmi', flag], {endpoint: runtime.endpoint});
    expect(exitCode).toBe(0);
    expect(runtime.images.map(({repoTags}) => repoTags[0]).toSorted()).toEqual([
      'localhost:5000/busybox:1',
      'localhost:5000/pause:3',
    ]);
  });

  test('-a reports the images it keeps', async () => {
    await using runtime = await startRuntimeWithImages();
    const {stderr} = await runKcri(['rmi', '-a'], {endpoint: runtime.endpoint});
    expect(stderr.split('\n').toSorted()).toEqual([
      '',
      expect.stringMatching(/^kept localhost:5000\/busybox:1: used by container [0-9a-f]{13} \(main\)$/),
      'kept localhost:5000/pause:3: pinned by the runtime',
    ]);
  });
});
