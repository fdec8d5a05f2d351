import {execFileSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {mkdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {aContainer, aManifest, IMAGE, type ManifestFields} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed, type RunningPodState} from '../harness/pod-testbed.js';
import {syncReadyPod} from '../harness/sync-ready-pod.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

/** Creates a directory of the node with shared mount propagation, as most machines have. */
async function aSharedDirectory(): Promise<string> {
  const directory = await temporaryDirectory();
  const shared = join(directory, 'shared');
  await mkdir(shared);
  execFileSync('mount', ['--bind', '--make-shared', shared, shared]);
  onTestFinished(() => {
    execFileSync('umount', ['--recursive', shared]);
  });
  return shared;
}

function mountTmpfs(path: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', path]);
}

describe.each(newestRuntime)('mounted volumes: $name', (which) => {
  let testbed: PodTestbed;
  let handlers: Record<string, {readonly recursiveReadOnlyMounts?: boolean}>;
  const isNew = which.folder !== undefined;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
    const {runtimeHandlers} = await testbed.runtime.connection.runtime.status({});
    handlers = Object.fromEntries(runtimeHandlers.map(({name, features}) => [name, features ?? {}]));
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  const running = (name: string, spec: ManifestFields): Promise<RunningPodState> =>
    syncReadyPod(testbed, name, aManifest(name, spec));

  /** Returns the message of a failing sync. */
  async function refused(name: string, spec: ManifestFields): Promise<string> {
    const {exitCode, stderr} = await testbed.sync(aManifest(name, spec));
    expect(exitCode).toBe(1);
    return stderr;
  }

  const container = (pod: RunningPodState, name = 'main') =>
    pod.containers.find(({metadata}) => metadata?.name === name)!;
  const inside = async (pod: RunningPodState, ...command: readonly string[]): Promise<string> =>
    await testbed.exec(container(pod).id, ...command);

  test('containers have sub-paths of volumes, new and existing, also after a restart', async () => {
    const host = await temporaryDirectory();
    await mkdir(join(host, 'sub'));
    await writeFile(join(host, 'file'), 'from the node\n');
    const parts = [
      {name: 'e', mountPath: '/part', subPath: 'x/y'},
      {name: 'e', mountPath: '/mine', subPathExpr: '$(POD)/z'},
      {name: 'h', mountPath: '/sub', subPath: 'sub', readOnly: true},
      {name: 'h', mountPath: '/file', subPath: 'file'},
      {name: 'm', mountPath: '/memory', subPath: 'part'},
    ];
    const spec = {
      containers: [
        aContainer('main', {
          env: [{name: 'POD', valueFrom: {fieldRef: {fieldPath: 'metadata.name'}}}],
          volumeMounts: parts,
        }),
        aContainer('second', {volumeMounts: [{name: 'e', mountPath: '/all'}]}),
      ],
      volumes: [
        {name: 'e', emptyDir: {}},
        {name: 'h', hostPath: {path: host}},
        {name: 'm', emptyDir: {medium: 'Memory'}},
      ],
    };
    const pod = await running('parts', spec);
    await inside(pod, 'sh', '-c', 'echo shared > /part/file; echo mine > /mine/file; echo changed >> /file');
    expect(await testbed.exec(container(pod, 'second').id, 'cat', '/all/x/y/file', '/all/parts/z/file')).toBe(
      'shared\nmine',
    );
    expect(await inside(pod, 'stat', '-c', '%a', '/part', '/mine')).toBe('777\n777');
    expect(await inside(pod, 'grep', '-c', ' /memory tmpfs ', '/proc/mounts')).toBe('1');
    expect(await readFile(join(host, 'file'), 'utf8')).toBe('from the node\nchanged\n');
    await expect(inside(pod, 'touch', '/sub/new')).rejects.toThrow('Read-only file system');

    await testbed.runtime.connection.runtime.stopContainer({containerId: container(pod).id, timeout: 0n});
    expect(await testbed.sync(aManifest('parts', spec))).toMatchObject({exitCode: 0});
    expect(await inside(await testbed.pod('parts'), 'cat', '/part/file')).toBe('shared');
  });

  test('links that a container creates in a volume do not lead later containers outside', async () => {
    const host = await temporaryDirectory();
    const secret = await temporaryDirectory();
    await symlink(secret, join(host, 'link'));
    await symlink('../..', join(host, 'up'));
    for (const [index, subPath] of ['link', 'up', 'link/new'].entries())
      expect(
        await refused(`escape-${index}`, {
          containers: [aContainer('main', {volumeMounts: [{name: 'v', mountPath: '/v', subPath}]})],
          volumes: [{name: 'v', hostPath: {path: host}}],
        }),
      ).toMatch(
        /CreateContainerConfigError: failed to (prepare subPath|create subPath directory) for volumeMount "v" of container "main"/,
      );
    expect(existsSync(join(secret, 'new'))).toBe(false);
  });

  test('mounts propagate from the node, and from privileged containers to the node', async () => {
    const shared = await aSharedDirectory();
    for (const name of ['later', 'back']) await mkdir(join(shared, name));
    const volumeMounts = (['None', 'HostToContainer', 'Bidirectional'] as const).map((mountPropagation) => ({
      ...{name: 'h', mountPath: `/${mountPropagation}`, mountPropagation},
    }));
    const pod = await running('propagation', {
      containers: [aContainer('main', {volumeMounts, securityContext: {privileged: true}})],
      volumes: [{name: 'h', hostPath: {path: shared}}],
    });
    mountTmpfs(join(shared, 'later'));
    const seen = async (path: string): Promise<string> =>
      await inside(pod, 'sh', '-c', `grep -c " ${path} " /proc/mounts || true`);
    expect(await seen('/None/later')).toBe('0');
    expect(await seen('/HostToContainer/later')).toBe('1');
    await inside(pod, 'mount', '-t', 'tmpfs', 'tmpfs', '/Bidirectional/back');
    expect(await readFile('/proc/self/mountinfo', 'utf8')).toContain(` ${shared}/back `);
  });

  test("mounts in a volume of the pod propagate regardless of the machine's propagation", async () => {
    const mount = (mountPropagation: string): ManifestFields => ({
      volumeMounts: [{name: 'e', mountPath: '/e', mountPropagation}],
    });
    const pod = await running('shared', {
      containers: [
        aContainer('main', {...mount('Bidirectional'), securityContext: {privileged: true}}),
        aContainer('second', mount('HostToContainer')),
        aContainer('third', mount('None')),
      ],
      volumes: [{name: 'e', emptyDir: {}}],
    });
    await inside(pod, 'sh', '-c', 'mkdir /e/later && mount -t tmpfs tmpfs /e/later && touch /e/later/file');
    expect(await testbed.exec(container(pod, 'second').id, 'ls', '/e/later')).toBe('file');
    expect(await testbed.exec(container(pod, 'third').id, 'ls', '/e/later')).toBe('');
    await inside(pod, 'umount', '/e/later');
    expect(await testbed.delete('shared')).toMatchObject({exitCode: 0, stderr: ''});
    expect(await testbed.listLeftovers(pod.uid)).toEqual([]);
  });

  test('a read-only mount is recursively read-only if the runtime supports it', async () => {
    const shared = await aSharedDirectory();
    await mkdir(join(shared, 'below'));
    mountTmpfs(join(shared, 'below'));
    const spec = (recursiveReadOnly: string): ManifestFields => ({
      containers: [
        aContainer('main', {
          volumeMounts: [{name: 'h', mountPath: '/h', readOnly: true, recursiveReadOnly}],
        }),
      ],
      volumes: [{name: 'h', hostPath: {path: shared}}],
    });
    const supported = handlers['']?.recursiveReadOnlyMounts === true;
    const pod = await running('rro', spec(supported ? 'Enabled' : 'IfPossible'));
    const write = inside(pod, 'touch', '/h/below/file');
    if (supported) await expect(write).rejects.toThrow('Read-only file system');
    else {
      expect(await write).toBe('');
      expect(await refused('rro-refused', spec('Enabled'))).toContain(
        'CreateContainerConfigError: failed to resolve recursive read-only mode: volume "h" requested recursive read-only mode, but it is not supported by the runtime',
      );
    }
  });

  test('a huge pages volume is a hugetlbfs', async () => {
    const spec = {
      containers: [
        aContainer('main', {
          volumeMounts: [{name: 'h', mountPath: '/h'}],
          resources: {limits: {'hugepages-2Mi': '2Mi', memory: '16Mi'}},
        }),
      ],
      volumes: [{name: 'h', emptyDir: {medium: 'HugePages'}}],
    };
    if (Number(await readFile('/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages', 'utf8')) === 0) {
      expect(await refused('huge-refused', spec)).toContain(
        "OutOfhugepages-2Mi: Pod was rejected: Node didn't have enough resource: hugepages-2Mi, requested: 2097152, used: 0, capacity: 0",
      );
      return;
    }
    const pod = await running('huge', spec);
    expect(await inside(pod, 'grep', ' /h ', '/proc/mounts')).toMatch(/^nodev \/h hugetlbfs .*pagesize=2M/);
  });

  test('an image is mounted as a volume if the runtime supports it', async () => {
    const spec = {
      containers: [aContainer('main', {volumeMounts: [{name: 'i', mountPath: '/image'}]})],
      volumes: [{name: 'i', image: {reference: IMAGE, pullPolicy: 'Never'}}],
    };
    if (!isNew) {
      expect(await refused('image-refused', spec)).toMatch(
        /CreateContainerError: .*\n.*does not support image volumes \(containerd: 2\.1 or later\)/,
      );
      return;
    }
    const pod = await running('image', spec);
    expect(await inside(pod, 'ls', '/image/bin/busybox')).toBe('/image/bin/busybox');
    await expect(inside(pod, 'touch', '/image/new')).rejects.toThrow('Read-only file system');
  });

  test("a pod that exceeds a volume's limit is evicted, and its logs are kept", async () => {
    const spec = {
      containers: [aContainer('main', {volumeMounts: [{name: 'e', mountPath: '/e'}]})],
      volumes: [{name: 'e', emptyDir: {sizeLimit: '1Mi'}}],
    };
    const pod = await running('filling', spec);
    await inside(pod, 'dd', 'if=/dev/zero', 'of=/e/big', 'bs=1M', 'count=2');
    expect(await refused('filling', spec)).toContain(
      'pod "default/filling": Evicted: Usage of EmptyDir volume "e" exceeds the limit "1Mi".',
    );
    const {state} = await testbed.statusOf(container(await testbed.pod('filling')).id);
    expect(state).toBe('CONTAINER_EXITED');
  });

  test("a foreign mount below a pod's directory prevents its deletion, and its files are not touched", async () => {
    const precious = await temporaryDirectory();
    await writeFile(join(precious, 'file'), 'precious');
    const manifest = aManifest('precious', {
      containers: [aContainer('main', {volumeMounts: [{name: 'e', mountPath: '/e'}]})],
      volumes: [{name: 'e', emptyDir: {}}],
    });
    expect(await testbed.sync(manifest)).toMatchObject({exitCode: 0});
    const {uid} = await testbed.pod('precious');
    const place = join(testbed.runtime.rootDir, 'pods', uid, 'volumes/kubernetes.io~empty-dir/e/mine');
    await mkdir(place);
    execFileSync('mount', ['--bind', precious, place]);

    const first = await testbed.delete('precious');
    expect(first).toMatchObject({exitCode: 1});
    expect(first.stderr).toContain(`"${place}" is a mount that kcri did not create`);
    expect(await readFile(join(place, 'file'), 'utf8')).toBe('precious');

    execFileSync('umount', [place]);
    expect(await testbed.delete('precious')).toMatchObject({exitCode: 0});
    expect(await readFile(join(precious, 'file'), 'utf8')).toBe('precious');
    expect(await testbed.listLeftovers(uid)).toEqual([]);
  });
});
