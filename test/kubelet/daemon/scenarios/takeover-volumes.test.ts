import {
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {DaemonTestbed} from '../daemon-testbed.js';

/* What a kubelet has mounted for its pods stays as it is when kcri takes its place. */

const SETTLE_MS = 10_000;
const CHANGES = /^(RunPodSandbox|Stop|Remove|Create|Start|Update)/;
const UID = 'uid-of-web';
/** Name of a version that a kubelet has written (AtomicWriter). */
const VERSION = '..2026_11_26_13_23_54.2552791199';

const SETTINGS = JSON.stringify({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {name: 'settings'},
  data: {a: '1'},
});

/** Replaces the link to the current version of a volume. */
async function linkData(volume: string, target: string): Promise<void> {
  await rm(join(volume, '..data'), {force: true});
  await symlink(target, join(volume, '..data'));
}

/** Faults of the directory of a volume, each by the name of a volume that has it. */
const FAULTS: Readonly<Record<string, (volume: string) => Promise<void>>> = {
  'no-link': async (volume) => rm(join(volume, '..data')),
  'dangling-link': async (volume) => linkData(volume, '..2026_11_26_13_23_54.1'),
  'link-to-the-outside': async (volume) => linkData(volume, '/etc'),
  'file-instead-of-the-link': async (volume) => {
    await rm(join(volume, '..data'));
    await writeFile(join(volume, '..data'), 'x');
  },
  'torn-file': async (volume) => writeFile(join(volume, VERSION, 'a'), ''),
  'directory-instead-of-a-file': async (volume) => {
    await rm(join(volume, VERSION, 'a'));
    await mkdir(join(volume, VERSION, 'a'));
  },
};

const WEB = aManifest({
  name: 'web',
  metadata: {uid: UID},
  terminationGracePeriodSeconds: 0,
  volumes: [
    ...['settings', ...Object.keys(FAULTS)].map((name) => ({name, configMap: {name: 'settings'}})),
    {name: 'disk', emptyDir: {}},
    {name: 'memory', emptyDir: {medium: 'Memory'}},
  ],
  containers: [
    aContainerSpec('main', {
      volumeMounts: [
        {name: 'settings', mountPath: '/settings'},
        {name: 'settings', mountPath: '/one', subPath: 'a'},
        {name: 'disk', mountPath: '/disk'},
        {name: 'memory', mountPath: '/memory'},
        ...Object.keys(FAULTS).map((name) => ({name, mountPath: `/${name}`})),
      ],
    }),
  ],
});

/** Mounting requires root. */
const asRoot = describe.skipIf(process.getuid?.() !== 0);

/** A node whose pod has volumes as a kubelet leaves them. */
class LeftNode implements AsyncDisposable {
  readonly testbed: DaemonTestbed;

  private constructor(testbed: DaemonTestbed) {
    this.testbed = testbed;
  }

  static async create(): Promise<LeftNode> {
    const node = new LeftNode(
      await DaemonTestbed.start({manifests: {'settings.json': SETTINGS, 'web.json': WEB}}),
    );
    await node.#leave();
    return node;
  }

  async #leave(): Promise<void> {
    const {testbed} = this;
    await testbed.until('the pod runs', () => testbed.statusOf('web').ready === 1);
    await testbed.stop();
    for (const name of ['settings', ...Object.keys(FAULTS)]) {
      const volume = this.volume('configmap', name);
      await rename(join(volume, await readlink(join(volume, '..data'))), join(volume, VERSION));
      await linkData(volume, VERSION);
    }
    for (const name of ['disk', 'memory'])
      await writeFile(join(this.volume('empty-dir', name), 'kept'), name);
    await rm(join(testbed.rootDir, 'kcri'), {recursive: true});
  }

  volume(plugin: string, name: string): string {
    return join(this.testbed.rootDir, 'pods', UID, 'volumes', `kubernetes.io~${plugin}`, name);
  }

  /** Returns everything that must stay the same. */
  async state(): Promise<unknown> {
    const subPaths = join(this.testbed.rootDir, 'pods', UID, 'volume-subpaths/settings/main');
    const identity = async (path: string): Promise<string> => {
      const {dev, ino, mtimeMs} = await stat(path);
      return `${dev} ${ino} ${mtimeMs}`;
    };
    return {
      version: await readlink(join(this.volume('configmap', 'settings'), '..data')),
      settings: await identity(join(this.volume('configmap', 'settings'), 'a')),
      subPaths: await Promise.all((await readdir(subPaths)).map((name) => identity(join(subPaths, name)))),
      disk: await readFile(join(this.volume('empty-dir', 'disk'), 'kept'), 'utf8'),
      memory: await readFile(join(this.volume('empty-dir', 'memory'), 'kept'), 'utf8'),
      mounts: (await readFile('/proc/self/mountinfo', 'utf8'))
        .split('\n')
        .filter((line) => line.includes(this.testbed.rootDir)),
    };
  }

  /** Starts kcri, and returns the changing calls of its first seconds. */
  async takeOver(): Promise<readonly string[]> {
    const {testbed} = this;
    const before = testbed.fake.calls.length;
    testbed.run();
    await testbed.until('the pod is known', () => testbed.statusOf('web').ready === 1);
    await testbed.clock.sleep(SETTLE_MS);
    return testbed.fake.calls.slice(before).flatMap(({method}) => (CHANGES.test(method) ? [method] : []));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const {testbed} = this;
    await testbed.remove('web.json');
    await testbed.untilAllRemoved();
    await testbed[Symbol.asyncDispose]();
  }
}

asRoot('volumes of a pod that another kubelet has left', () => {
  test('stay mounted and are not written, also when the container restarts', async () => {
    await using node = await LeftNode.create();
    const before = await node.state();
    expect(before).toMatchObject({version: VERSION, disk: 'disk', memory: 'memory'});
    expect(await node.takeOver()).toEqual([]);
    expect(await node.state()).toEqual(before);
    const {testbed} = node;
    testbed.kill('main');
    await testbed.until('it runs again', () => testbed.running.includes('web-goldennode/main/1'));
    expect(await node.state()).toMatchObject({version: VERSION, disk: 'disk', memory: 'memory'});
  });

  test('follow a changed ConfigMap', async () => {
    await using node = await LeftNode.create();
    const {testbed} = node;
    await testbed.put('settings.json', SETTINGS.replace('"1"', '"2"'));
    expect(await node.takeOver()).toEqual([]);
    expect(await readFile(join(node.volume('configmap', 'settings'), 'a'), 'utf8')).toBe('2');
  });

  test('are repaired, without a restart', async () => {
    await using node = await LeftNode.create();
    for (const [name, corrupt] of Object.entries(FAULTS)) await corrupt(node.volume('configmap', name));
    const before = await node.state();
    expect(await node.takeOver()).toEqual([]);
    expect(await node.state()).toEqual(before);
    for (const name of Object.keys(FAULTS)) {
      const volume = node.volume('configmap', name);
      expect([name, await readFile(join(volume, 'a'), 'utf8')]).toEqual([name, '1']);
      expect((await lstat(join(volume, '..data'))).isSymbolicLink()).toBe(true);
    }
  });

  test('without the mark of a complete volume keep their content', async () => {
    await using node = await LeftNode.create();
    const before = await node.state();
    for (const name of ['disk', 'memory', 'wrapped_settings'])
      await rm(join(node.testbed.rootDir, 'pods', UID, 'plugins/kubernetes.io~empty-dir', name, 'ready'));
    expect(await node.takeOver()).toEqual([]);
    expect(await node.state()).toEqual(before);
  });
});
