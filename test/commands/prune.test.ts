import {mkdir, readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {
  aContainer,
  anImage,
  aSandbox,
  BUILT_AT_NANOS,
  type FakeRuntimeOptions,
} from '../fakes/fake-runtime.js';
import {tableCells} from '../cli/output/table-cells.js';
import {fakeDigest} from '../fakes/runtime/image-reference.js';
import {createTestbed, aManifest, type CommandTestbed} from './command-testbed.js';
import {runKcri, type RunOptions, type RunResult} from '../cli/run-kcri.js';

/** Returns an image that by default has a layer of its own. */
function ownImage(fields: Parameters<typeof anImage>[0] = {}): ReturnType<typeof anImage> {
  return anImage({layers: [fakeDigest(`layer of ${fields.name ?? 'busybox'}`)], ...fields});
}

/** Without the labels of a kubelet, as crictl creates pods. */
function bare<T extends {readonly config: {readonly labels: object}}>(record: T): T {
  return {...record, config: {...record.config, labels: {}}};
}

const BASE = fakeDigest('base layer');
const USED = ownImage({name: 'localhost:5000/used:1', size: 5_000_000, layers: [BASE]});
const SHARING = ownImage({
  name: 'localhost:5000/sharing:1',
  size: 7_000_000,
  layers: [BASE, fakeDigest('more')],
});
const SPARE = ownImage({
  name: 'localhost:5000/spare:1',
  size: 3_000_000,
  labels: {team: 'web'},
  builtAt: '2020-01-01T00:00:00Z',
});
const DANGLING = ownImage({
  name: 'localhost:5000/dangling:1',
  repoTags: [],
  size: 2_000_000,
  builtAt: '2026-01-01T00:00:00Z',
});
const PAUSE = ownImage({name: 'localhost:5000/pause:1'});
const PINNED = ownImage({name: 'localhost:5000/pinned:1', pinned: true});

const LIVE = bare(aSandbox({name: 'live'}));
const DEAD = bare(aSandbox({name: 'dead', state: 'SANDBOX_NOTREADY'}));
const OF_KUBELET = aSandbox({name: 'kubelet', state: 'SANDBOX_NOTREADY'});
const RUNNING = bare(aContainer({sandbox: LIVE, name: 'running', image: 'localhost:5000/used:1'}));
const EXITED = bare(
  aContainer({sandbox: LIVE, name: 'exited', state: 'CONTAINER_EXITED', image: 'localhost:5000/sharing:1'}),
);
const OLD = bare(
  aContainer({sandbox: DEAD, name: 'old', state: 'CONTAINER_EXITED', image: 'localhost:5000/used:1'}),
);
const KEPT = aContainer({
  sandbox: OF_KUBELET,
  name: 'kept',
  state: 'CONTAINER_EXITED',
  image: 'localhost:5000/used:1',
});

const SCENE: FakeRuntimeOptions = {
  images: [USED, SHARING, SPARE, DANGLING, PAUSE, PINNED],
  sandboxes: [LIVE, DEAD, OF_KUBELET],
  containers: [RUNNING, EXITED, OLD, KEPT],
};

async function run(
  {runtime, rootDir}: CommandTestbed,
  args: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  return await runKcri(['--root-dir', rootDir, ...args], {endpoint: runtime.endpoint, ...options});
}

/** Returns the names of what is left. */
function leftovers({runtime}: CommandTestbed): readonly string[] {
  return [
    ...runtime.sandboxes.map(({config}) => `pod ${config.metadata?.name ?? ''}`),
    ...runtime.containers.map(({config}) => `container ${config.metadata?.name ?? ''}`),
    ...[...runtime.state.images.values()].map(
      ({repoTags: [tag], repoDigests: [digest]}) => tag ?? digest ?? '',
    ),
  ].map((name) => name.replace('localhost:5000/', '').replace(/[:@].*/, ''));
}

const ALL = [
  ...['pod live', 'pod dead', 'pod kubelet'],
  ...['container running', 'container exited', 'container old', 'container kept'],
  ...['used', 'sharing', 'spare', 'dangling', 'pause', 'pinned'],
];
const without = (...names: readonly string[]): readonly string[] =>
  ALL.filter((name) => !names.includes(name));

describe('system prune', () => {
  // Proves: system prune, system prune --yes
  test('removes exited containers, stopped pods and untagged images, and leaves pods of a kubelet alone', async () => {
    const testbed = await createTestbed(SCENE);
    const {stdout, stderr, exitCode} = await run(testbed, ['system', 'prune', '--yes']);
    expect(stdout).toMatch(/^CONTAINER +CONTAINER ID +SIZE +LOGS\ndefault\/live\/exited +/);
    expect(stdout).toMatch(/^POD +POD ID\ndefault\/dead +\w+\n/m);
    expect(stdout).toMatch(/^IMAGE +IMAGE ID +SIZE\nlocalhost:5000\/dangling:<none> +\w+ +2MB\n/m);
    expect(stdout).toMatch(/^To remove: 2 containers, 1 pod, 1 image; frees 2MB/m);
    expect(stdout).toMatch(/\nRemoved 2 containers, 1 pod, 1 image; freed 2MB[^\n]*\n$/);
    expect(stderr).toBe(
      'kcri: note: left alone: 2 dead objects (exited containers, sandboxes) of pods of a kubelet, which removes them itself\n',
    );
    expect(exitCode).toBe(0);
    expect(leftovers(testbed)).toEqual(without('pod dead', 'container exited', 'container old', 'dangling'));
  });

  // Proves: system prune --all
  test('--all removes all unused images, also of the containers that it removes', async () => {
    const testbed = await createTestbed(SCENE);
    const {stdout, exitCode} = await run(testbed, ['system', 'prune', '-a', '-y']);
    // The image "sharing" has a layer of the image that stays.
    expect(stdout).toMatch(/; frees 5MB to 12MB/);
    expect(exitCode).toBe(0);
    expect(leftovers(testbed)).toEqual(
      without('pod dead', 'container exited', 'container old', 'dangling', 'spare', 'sharing'),
    );
  });

  // Proves: system prune --dry-run
  test('--dry-run removes nothing', async () => {
    const testbed = await createTestbed(SCENE);
    const {stdout, exitCode} = await run(testbed, ['system', 'prune', '-a', '--dry-run']);
    expect(stdout).toContain('\nWould remove 2 containers, 1 pod, 3 images; ');
    expect(exitCode).toBe(0);
    expect(testbed.mutatingCalls).toEqual([]);
  });

  // Proves: system prune --until, system prune --filter, system prune --yes
  test.each([
    ['-y', '--until='],
    ['-f', '--filter=until='],
    ['--force', '--until='],
  ])('%s %sTIME keeps newer containers, pods and images', async (yes, flag) => {
    const testbed = await createTestbed({
      ...SCENE,
      containers: [RUNNING, {...EXITED, createdAt: BUILT_AT_NANOS - 10n ** 15n}, OLD, KEPT],
    });
    const before = new Date(Number(BUILT_AT_NANOS / 1_000_000n) - 1000).toISOString();
    expect(await run(testbed, ['system', 'prune', '-a', yes, `${flag}${before}`])).toMatchObject({
      exitCode: 0,
    });
    expect(leftovers(testbed)).toEqual(without('container exited', 'dangling', 'spare'));
    expect((await run(testbed, ['system', 'prune', '-f', '--filter', 'label=x'])).stderr).toContain(
      'invalid --filter "label=x": must be until=TIME',
    );
    expect((await run(testbed, ['system', 'prune', '-y', '--until', 'never'])).stderr).toContain(
      'invalid --until "never"',
    );
  });

  test('asks on a terminal, and removes only after a yes', async () => {
    const testbed = await createTestbed(SCENE);
    for (const answer of ['n\n', '\n', '']) {
      const {stderr, exitCode} = await run(testbed, ['system', 'prune'], {stdin: answer, interactive: true});
      expect(stderr).toMatch(/Remove them\? \[y\/N\] \n?Nothing was removed\n$/);
      expect({exitCode, calls: testbed.mutatingCalls}).toEqual({exitCode: 0, calls: []});
    }
    await run(testbed, ['system', 'prune'], {stdin: 'y\n', interactive: true});
    expect(leftovers(testbed)).toEqual(without('pod dead', 'container exited', 'container old', 'dangling'));
  });

  test.each([['system'], ['image']])('%s prune in a pipe requires --yes before any call', async (topic) => {
    const testbed = await createTestbed(SCENE);
    const {stderr, exitCode} = await run(testbed, [topic, 'prune'], {stdin: 'y\n'});
    expect(stderr).toContain(
      'kcri: cannot ask for confirmation: standard input is not a terminal\nhint: use --yes',
    );
    expect({exitCode, calls: testbed.runtime.calls.length}).toEqual({exitCode: 1, calls: 0});
  });

  test('leaves pods of kcri alone, and their images', async () => {
    const testbed = await createTestbed({images: [ownImage(), DANGLING]});
    const manifest = aManifest({
      restartPolicy: 'Never',
      containers: [
        {name: 'main', image: 'localhost:5000/busybox:1', command: ['true'], imagePullPolicy: 'Never'},
      ],
    });
    await testbed.run(['sync', '-'], {stdin: manifest});
    for (const {id} of testbed.runtime.containers) testbed.runtime.exitContainer(id, 0);
    const {stderr, exitCode} = await run(testbed, ['system', 'prune', '--all', '--yes']);
    expect(stderr).toContain(
      'kcri: note: left alone: 2 dead objects (exited containers, sandboxes) of pods created by kcri',
    );
    expect(exitCode).toBe(0);
    expect(leftovers(testbed)).toEqual(['pod web', 'container main', 'busybox']);
  });

  test('removes the logs of containers', async () => {
    const directory = await temporaryDirectory();
    const logPath = join(directory, 'exited.log');
    await mkdir(join(directory, 'other'));
    for (const name of ['exited.log', 'exited.log.20261120-101010', 'unrelated.log'])
      await writeFile(join(directory, name), 'x'.repeat(1000));
    const testbed = await createTestbed({...SCENE, containers: [{...EXITED, logPath}]});
    const {stdout} = await run(testbed, ['system', 'prune', '-y']);
    expect(stdout).toMatch(/exited +\w+ +\S+ +2kB\n/);
    expect((await readdir(directory)).toSorted()).toEqual(['other', 'unrelated.log']);
  });

  test('a failure is reported and does not stop the others', async () => {
    const testbed = await createTestbed(SCENE);
    testbed.runtime.injectError('RemoveContainer', {code: 'INTERNAL', message: 'device busy'});
    const {stdout, stderr, exitCode} = await run(testbed, ['system', 'prune', '-y']);
    expect(stderr).toMatch(/^kcri: removing container "default\/live\/exited": /m);
    expect(stdout).toMatch(/\nRemoved \d containers?, \d pods?, 1 image; /);
    expect(exitCode).toBe(1);
    expect(leftovers(testbed)).not.toContain('dangling');
  });

  test('reports that there is nothing to remove', async () => {
    const testbed = await createTestbed({images: [USED], sandboxes: [LIVE], containers: [RUNNING]});
    expect(await run(testbed, ['system', 'prune', '-ay'])).toEqual({
      stdout: '',
      stderr: 'Nothing to remove\n',
      exitCode: 0,
    });
  });
});

describe('image prune', () => {
  // Proves: image prune, image prune --yes
  test('removes images without a tag', async () => {
    const testbed = await createTestbed(SCENE);
    expect(await run(testbed, ['image', 'prune', '--yes'])).toEqual({
      stdout: expect.stringMatching(
        /^IMAGE +IMAGE ID +SIZE\nlocalhost:5000\/dangling:<none> +\w+ +2MB\n\nTo remove: 1 image; frees 2MB\nDeleted: localhost:5000\/dangling@sha256:\w+\nRemoved 1 image; freed 2MB\n$/,
      ) as string,
      stderr: '',
      exitCode: 0,
    });
    expect(leftovers(testbed)).toEqual(without('dangling'));
  });

  // Proves: image prune --all
  test('--all removes unused images, but no pinned ones, the sandbox image, or those of exited containers', async () => {
    const testbed = await createTestbed(SCENE);
    await run(testbed, ['image', 'prune', '-a', '-y']);
    expect(leftovers(testbed)).toEqual(without('dangling', 'spare'));
  });

  // Proves: image prune --dry-run
  test('--dry-run removes nothing', async () => {
    const testbed = await createTestbed(SCENE);
    const {stdout} = await run(testbed, ['image', 'prune', '-a', '--dry-run']);
    expect(stdout).toContain('\nWould remove 2 images; frees 5MB\n');
    expect(testbed.mutatingCalls).toEqual([]);
    expect(leftovers(testbed)).toEqual(ALL);
  });

  // Proves: image prune --filter
  test.each([
    ['until=2021-01-01', ['spare']],
    ['until=2026-06-01', ['dangling', 'spare']],
    ['label=team', ['spare']],
    ['label=team=web', ['spare']],
    ['label=team=db', []],
    ['label=team=web,until=2019-01-01', []],
    ['dangling=false,label=team=web', ['spare']],
  ])('--filter %s removes %j', async (filter, removed) => {
    const testbed = await createTestbed(SCENE);
    expect(await run(testbed, ['image', 'prune', '-ay', '--filter', filter])).toMatchObject({exitCode: 0});
    expect(leftovers(testbed)).toEqual(without(...removed));
  });

  test('images of unknown build time are kept with a time filter, which is reported', async () => {
    const testbed = await createTestbed({images: [ownImage(), SPARE]});
    const {stderr} = await run(testbed, ['image', 'prune', '-ay', '--filter=until=2030-01-01']);
    expect(stderr).toBe('kcri: note: left alone: 1 image whose build time or labels are unknown\n');
    expect(leftovers(testbed)).toEqual(['busybox']);
  });

  test.each(['bogus', 'dangling=maybe', 'until=', 'until=never', 'before=x'])(
    '--filter %s is rejected before any call',
    async (filter) => {
      const testbed = await createTestbed(SCENE);
      const {exitCode, stderr} = await run(testbed, ['image', 'prune', '-y', '--filter', filter]);
      expect(stderr).toMatch(/^kcri: .*filter/);
      expect({exitCode, calls: testbed.runtime.calls.length}).toEqual({exitCode: 1, calls: 0});
    },
  );

  test('an image that a container uses since the listing is kept, and so is one that got a tag', async () => {
    const other = ownImage({name: 'localhost:5000/untagged:1', repoTags: []});
    const testbed = await createTestbed({...SCENE, images: [DANGLING, SPARE, other]});
    testbed.runtime.injectAction('RemoveImage', () => {
      const user = aContainer({sandbox: LIVE, name: 'new', image: 'localhost:5000/spare:1'});
      testbed.runtime.state.containers.set(user.id, user);
    });
    const {stdout, stderr, exitCode} = await run(testbed, ['image', 'prune', '-ay']);
    expect(stderr).toMatch(
      /^kcri: warning: image "localhost:5000\/spare:1" was kept: used by container \w+ \(new\)\n$/,
    );
    expect(stdout).toContain('\nRemoved 2 images; ');
    expect({exitCode, left: leftovers(testbed).slice(-1)}).toEqual({exitCode: 0, left: ['spare']});
  });

  test('an image that got a tag since the listing is kept', async () => {
    const other = ownImage({name: 'localhost:5000/untagged:1', repoTags: []});
    const testbed = await createTestbed({images: [DANGLING, other]});
    const {images} = testbed.runtime.state;
    testbed.runtime.injectAction('RemoveImage', () => {
      images.set(other.id, {...other, repoTags: ['localhost:5000/tagged:1']});
    });
    const {stderr} = await run(testbed, ['image', 'prune', '-y']);
    expect(stderr).toContain('was kept: it was tagged in the meantime; use --all to');
    expect(leftovers(testbed)).toEqual(['tagged']);
  });

  test('an image that a container mounts as a volume is kept', async () => {
    const image = {
      image: 'localhost:5000/spare:1',
      annotations: {},
      userSpecifiedImage: '',
      runtimeHandler: '',
      imageRef: '',
    };
    const user = aContainer({sandbox: LIVE, name: 'main', image: 'localhost:5000/used:1'});
    const mount = {
      containerPath: '/data',
      hostPath: '',
      readonly: true,
      image,
    } as unknown as (typeof user.config.mounts)[number];
    const testbed = await createTestbed({
      images: [USED, SPARE],
      containers: [{...user, config: {...user.config, mounts: [mount]}}],
    });
    await run(testbed, ['image', 'prune', '-ay']);
    expect(leftovers(testbed).slice(-2)).toEqual(['used', 'spare']);
  });

  test('a failure is reported, the other images are removed, and the exit code is 1', async () => {
    const testbed = await createTestbed({images: [DANGLING, SPARE]});
    testbed.runtime.injectError('RemoveImage', {code: 'INTERNAL', message: 'device busy', times: 1});
    const {stdout, stderr, exitCode} = await run(testbed, ['image', 'prune', '-ay']);
    expect(stderr).toMatch(/^kcri: error of removing image "sha256:\w+": .*device busy\n/);
    expect(stdout).toMatch(/\nRemoved 1 image; freed \dMB\n$/);
    expect(exitCode).toBe(1);
  });

  test('a possible sandbox image is kept on a runtime that does not say which one it is', async () => {
    const testbed = await createTestbed({
      profile: 'cri-o',
      images: [ownImage({name: 'registry.k8s.io/pause:3.9'}), SPARE],
    });
    await run(testbed, ['image', 'prune', '-ay']);
    expect(testbed.runtime.images.map(({repoTags}) => repoTags)).toEqual([['registry.k8s.io/pause:3.9']]);
  });

  test('as crictl, "image prune" lists images', async () => {
    const testbed = await createTestbed(SCENE);
    const {stdout} = await run(testbed, ['image', 'prune'], {env: {KCRI_COMPAT: 'crictl'}});
    expect(stdout).toMatch(/^IMAGE +TAG +IMAGE ID +SIZE\n/);
    expect(leftovers(testbed)).toEqual(ALL);
  });
});

describe('system df', () => {
  interface Usage {
    readonly usage: readonly {
      readonly type: string;
      readonly total: number;
      readonly sizeBytes: number | null;
    }[];
    readonly items: readonly {readonly type: string; readonly name: string; readonly reclaimable: boolean}[];
  }

  // Proves: system df
  test('prints totals, and the filesystems of the runtime', async () => {
    const testbed = await createTestbed(SCENE);
    const {stdout, stderr, exitCode} = await run(testbed, ['system', 'df']);
    expect(tableCells(stdout.split('\n\n')[0] ?? '')).toEqual([
      ['TYPE', 'TOTAL', 'ACTIVE', 'SIZE', 'RECLAIMABLE'],
      ['Images', '6', '2', '21.3MB', '12MB (56%)'],
      ['Containers', '4', '1', '65.5kB', '0B (0%)'],
      ['Pods', '3', '1', '-', '-'],
      ['Logs', '0', '0', '0B', '0B'],
      ['Pod directories', '0', '0', '0B', '0B'],
      ['Volumes', '0', '0', '0B', '0B'],
    ]);
    expect(stdout).toMatch(
      /\n\nFILESYSTEM OF +USED +INODES +PATH\nimages +21.3MB +600 +\/var\/lib\/fake\/snapshots\n/,
    );
    expect(stderr).toBe('kcri: note: layers that images share are counted for each of them\n');
    expect({exitCode, calls: testbed.mutatingCalls}).toEqual({exitCode: 0, calls: []});
  });

  // Proves: system df --verbose
  test('-v lists all objects', async () => {
    const {stdout} = await run(await createTestbed(SCENE), ['system', 'df', '-v']);
    expect(stdout).toMatch(/\nImages:\nNAME +ID +SIZE +DETAIL +RECLAIMABLE\n/);
    expect(stdout).toMatch(/\nlocalhost:5000\/sharing:1 +\w+ +7MB +1 container +yes\n/);
    expect(stdout).toMatch(/\ndefault\/live\/running +\w+ +65.5kB +running +no\n/);
    expect(stdout).toMatch(/\ndefault\/kubelet +\w+ +- +kubelet +no\n/);
  });

  // Proves: system df --output, system df --format, system df --no-headers, system df --template
  test('-o json contains totals and objects; a row is the total of a kind', async () => {
    const testbed = await createTestbed(SCENE);
    const {usage, items} = JSON.parse((await run(testbed, ['system', 'df', '-o', 'json'])).stdout) as Usage;
    expect(usage[0]).toMatchObject({
      type: 'Images',
      total: 6,
      sizeBytes: 21_330_000,
      reclaimableBytes: 12_000_000,
    });
    // What "system prune --all" removes.
    expect(items.filter(({reclaimable}) => reclaimable).map(({name}) => name)).toEqual([
      expect.stringContaining('dangling'),
      'localhost:5000/sharing:1',
      'localhost:5000/spare:1',
      'default/dead/old',
      'default/live/exited',
      'default/dead',
    ]);
    const rows = await run(testbed, ['system', 'df', '--format', '{{.type}} {{.total}}']);
    expect(rows.stdout).toMatch(/^Images 6\nContainers 4\n/);
    expect((await run(testbed, ['system', 'df', '--no-headers'])).stdout).toMatch(/^Images /);
    expect((await run(testbed, ['system', 'df', '--template', '{{len .usage}}'])).stdout).toBe('6\n');
  });

  test('measures logs, pod directories and volumes', async () => {
    const testbed = await createTestbed();
    const volume = {name: 'data', persistentVolumeClaim: {claimName: 'data'}};
    await testbed.run(['sync', '-'], {stdin: aManifest({volumes: [volume]})});
    await mkdir(join(testbed.rootDir, 'claims/default/unused'), {recursive: true});
    for (const claim of ['data', 'unused']) {
      await mkdir(join(testbed.rootDir, 'claims/default', claim), {recursive: true});
      await writeFile(join(testbed.rootDir, 'claims/default', claim, 'file'), 'x'.repeat(100_000));
    }
    const {usage, items} = JSON.parse((await run(testbed, ['system', 'df', '-o', 'json'])).stdout) as Usage;
    const of = (type: string) => usage.find((each) => each.type === type);
    expect(of('Volumes')).toMatchObject({total: 2, active: 1, reclaimableBytes: 0});
    expect(of('Volumes')?.sizeBytes).toBeGreaterThan(200_000);
    expect(of('Pod directories')).toMatchObject({total: 1, active: 1});
    expect(items.filter(({type}) => type === 'Volumes').map(({name}) => name)).toEqual([
      'default/data',
      'default/unused',
    ]);
  });
});
