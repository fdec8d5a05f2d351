import {existsSync} from 'node:fs';
import {chown, mkdir, readFile, stat, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {aContainer, aManifest, shellCommand, type ManifestFields} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed, type RunningPodState} from '../harness/pod-testbed.js';
import {syncReadyPod} from '../harness/sync-ready-pod.js';
import {runtimes} from '../harness/runtimes-under-test.js';

const IDS_PER_POD = 65_536;
const FS_GROUP = 2345;

/** Runtimes whose runc supports user namespaces, and those that must reject them. */
const mapping = runtimes.filter(({runc}) => runc !== undefined);
const others = runtimes.filter(({runc}) => runc === undefined);

/** Returns a manifest with the objects that a pod refers to, and the pod, which has its own user namespace. */
function aPod(name: string, spec: ManifestFields = {}): string {
  const objects = [
    {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'settings'}, data: {color: 'blue'}},
    {apiVersion: 'v1', kind: 'Secret', metadata: {name: 'keys'}, stringData: {password: 'battery'}},
  ];
  const pod = aManifest(name, {hostUsers: false, ...spec}, {labels: {app: 'a'}});
  return [...objects.map((object) => JSON.stringify(object)), pod].join('\n---\n');
}

/** Returns a spec with every kind of volume, each mounted at its name, two sub-paths, and a user other than root. */
function everyVolume(hostDirectory: string): ManifestFields {
  const volumes = [
    {name: 'disk', emptyDir: {}},
    {name: 'memory', emptyDir: {medium: 'Memory'}},
    {name: 'config', configMap: {name: 'settings'}},
    {name: 'secret', secret: {secretName: 'keys', defaultMode: 0o400}},
    {name: 'downward', downwardAPI: {items: [{path: 'labels', fieldRef: {fieldPath: 'metadata.labels'}}]}},
    {name: 'projected', projected: {sources: [{secret: {name: 'keys'}}]}},
    {name: 'host', hostPath: {path: hostDirectory}},
  ];
  const volumeMounts = [
    ...volumes.map(({name}) => ({name, mountPath: `/${name}`})),
    {name: 'disk', mountPath: '/part', subPath: 'deep/part'},
    {name: 'host', mountPath: '/found', subPath: 'found'},
  ];
  return {
    securityContext: {fsGroup: FS_GROUP},
    containers: [
      aContainer('main', {volumeMounts}),
      aContainer('user', {volumeMounts, securityContext: {runAsUser: 1000, runAsGroup: 1000}}),
    ],
    volumes,
  };
}

/** Returns the owner and the group of a file on the node. */
async function ownersOf(path: string): Promise<readonly number[]> {
  const {uid, gid} = await stat(path);
  return [uid, gid];
}

function containerOf(pod: RunningPodState, name: string) {
  return pod.containers.find(({metadata}) => metadata?.name === name)!;
}

describe.each(others)('user namespaces without runtime support: $name', (which) => {
  test('are rejected with their requirements', async () => {
    await using testbed = await startPodTestbed(which);
    const {exitCode, stderr} = await testbed.sync(aPod('unmapped'));
    expect(exitCode).toBe(1);
    expect(stderr).toContain("can't set `spec.hostUsers: false`, runtime does not support user namespaces");
    expect(stderr).toContain('hint: remove spec.hostUsers; user namespaces require');
    expect(await testbed.find('unmapped')).toBeUndefined();
  });
});

describe.each(mapping)('user namespaces: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  const running = (name: string, spec?: ManifestFields): Promise<RunningPodState> =>
    syncReadyPod(testbed, name, aPod(name, spec));

  const inside = async (pod: RunningPodState, name: string, script: string): Promise<string> =>
    await testbed.exec(containerOf(pod, name).id, ...shellCommand(script));

  const idsOnNode = async (pod: RunningPodState, name: string): Promise<readonly number[]> =>
    await ownersOf(`/proc/${await testbed.pidOf(containerOf(pod, name).id)}`);

  /** Returns the first UID on the node of the pod's ID mapping. */
  async function rootOf(pod: RunningPodState): Promise<number> {
    const text = await inside(pod, 'main', 'cat /proc/self/uid_map /proc/self/gid_map');
    const [users, groups] = text.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
    expect(groups).toEqual(users);
    const [first, onNode, length] = users ?? [];
    expect([first, length]).toEqual([0, IDS_PER_POD]);
    return onNode!;
  }

  test('map users to unprivileged IDs on the node, also for volumes', async () => {
    const host = await temporaryDirectory();
    await mkdir(join(host, 'found'));
    await writeFile(join(host, 'found/file'), 'of the node\n');
    const pod = await running('mapped', everyVolume(host));
    const root = await rootOf(pod);
    expect(root).toBeGreaterThanOrEqual(IDS_PER_POD);
    expect(await idsOnNode(pod, 'main')).toEqual([root, root]);
    expect(await idsOnNode(pod, 'user')).toEqual([root + 1000, root + 1000]);

    const owners = (paths: string): Promise<string> => inside(pod, 'main', `stat -L -c '%n %u %g' ${paths}`);
    expect(await owners('/disk /memory /config/color /secret/password /downward/labels /part')).toBe(
      ['/disk', '/memory', '/config/color', '/secret/password', '/downward/labels', '/part']
        .map((path) => `${path} 0 ${FS_GROUP}`)
        .join('\n'),
    );
    expect(await owners('/host /found/file /etc/hosts /etc/resolv.conf /dev/termination-log /bin')).toBe(
      ['/host', '/found/file', '/etc/hosts', '/etc/resolv.conf', '/dev/termination-log', '/bin']
        .map((path) => `${path} 0 0`)
        .join('\n'),
    );
    expect(await inside(pod, 'user', 'cat /config/color; cat /secret/password /projected/password')).toBe(
      'bluebatterybattery',
    );
    await inside(pod, 'main', 'echo written | tee /part/file /found/new > /memory/file');
    await inside(pod, 'user', 'echo written > /part/user; cat /memory/file /disk/deep/part/file');
    const disk = join(testbed.runtime.rootDir, 'pods', pod.uid, 'volumes/kubernetes.io~empty-dir/disk');
    expect(await ownersOf(join(disk, 'deep/part/file'))).toEqual([0, FS_GROUP]);
    expect(await ownersOf(join(disk, 'deep/part/user'))).toEqual([1000, FS_GROUP]);
    expect(await ownersOf(join(host, 'found/new'))).toEqual([0, 0]);
  });

  test('have different IDs for each pod, which are kept until it is deleted', async () => {
    const one = await running('first', {});
    const other = await running('second', {});
    const [root, otherRoot] = [await rootOf(one), await rootOf(other)];
    expect(Math.abs(root - otherRoot)).toBeGreaterThanOrEqual(IDS_PER_POD);

    const {runtime} = testbed.runtime.connection;
    await runtime.stopContainer({containerId: containerOf(one, 'main').id, timeout: 0n});
    expect(await testbed.sync(aPod('first'))).toMatchObject({exitCode: 0});
    const restarted = await testbed.pod('first');
    expect(containerOf(restarted, 'main').id).not.toBe(containerOf(one, 'main').id);
    expect(await rootOf(restarted)).toBe(root);

    const ids = join(testbed.runtime.rootDir, 'pods', one.uid, 'userns');
    expect(JSON.parse(await readFile(ids, 'utf8'))).toMatchObject({uidMappings: [{hostId: root}]});
    await testbed.delete('first');
    expect(existsSync(ids)).toBe(false);
  });

  test('give root all capabilities in the pod, and none on the node', async () => {
    const volumeMounts = [{name: 'disk', mountPath: '/disk'}];
    const pod = await running('privileged', {
      initContainers: [
        aContainer('init', {
          command: shellCommand('echo prepared > /disk/file && chown 12345 /disk/file'),
          volumeMounts,
        }),
      ],
      containers: [
        aContainer('main', {securityContext: {privileged: true}, volumeMounts}),
        aContainer('unmasked', {
          securityContext: {procMount: 'Unmasked'},
          volumeMounts: [{...volumeMounts[0], readOnly: true, recursiveReadOnly: 'Enabled'}],
        }),
      ],
      volumes: [{name: 'disk', emptyDir: {}}],
    });
    expect(await inside(pod, 'main', 'stat -c %u /disk/file')).toBe('12345');
    expect(await inside(pod, 'main', 'mkdir /disk/new && mount -t tmpfs none /disk/new && id -u')).toBe('0');
    await expect(inside(pod, 'main', 'echo 1 > /proc/sys/kernel/panic')).rejects.toThrow('ermission denied');
    await expect(inside(pod, 'unmasked', 'touch /disk/file')).rejects.toThrow('Read-only file system');
    expect(await inside(pod, 'unmasked', "grep -c ' /proc' /proc/mounts")).toBe('1');
  });

  test('are taken into account by cp', async () => {
    const pod = await running('copied', {
      volumes: [{name: 'disk', emptyDir: {}}],
      containers: [aContainer('main', {volumeMounts: [{name: 'disk', mountPath: '/disk'}]})],
    });
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'in'));
    await writeFile(join(directory, 'in/file'), 'x');
    await symlink('file', join(directory, 'in/link'));
    await chown(join(directory, 'in/file'), 1234, 56);
    for (const place of ['/srv', '/disk/srv']) {
      await testbed.runtime.output('cp', join(directory, 'in'), `copied:${place}`);
      expect(await inside(pod, 'main', `stat -c '%u %g' ${place} ${place}/file ${place}/link`)).toBe(
        '0 0\n1234 56\n0 0',
      );
      await testbed.runtime.output('cp', `copied:${place}`, join(directory, `out-${place.length}`));
      expect(await ownersOf(join(directory, `out-${place.length}/file`))).toEqual([1234, 56]);
    }
  });

  test('a volume on a filesystem without ID-mapped mounts is reported', async () => {
    const {exitCode, stderr} = await testbed.sync(
      aPod('unmappable', {
        containers: [aContainer('main', {volumeMounts: [{name: 'h', mountPath: '/h'}]})],
        volumes: [{name: 'h', hostPath: {path: '/sys'}}],
      }),
    );
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/container "main": RunContainerError: .*MOUNT_ATTR_IDMAP on \/sys/);
    expect(stderr).toContain(
      'hint: volumes of a pod with hostUsers: false must be on a filesystem with ID-mapped mounts',
    );
  });
});
