import {execFileSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {mkdir, realpath} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {MountPropagationMode, Pod} from '../../../../src/api/types/v1-pod.js';
import {parseMountInfo, type MountPoint} from '../../../../src/base/fs/mount-info.js';
import {removePodDir} from '../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import {
  ensureSharedVolumes,
  hasMountPropagation,
} from '../../../../src/kubelet/managers/volumes/mount-propagation.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';

function aPodThatMounts(name: string, mountPropagation?: MountPropagationMode): Pod {
  const mount = {name, mountPath: '/v', ...(mountPropagation && {mountPropagation})};
  return aPod({
    volumes: [
      {name: 'e', emptyDir: {}},
      {name: 'h', hostPath: {path: '/'}},
    ],
    containers: [aContainer({volumeMounts: [mount]})],
  });
}

// Proves: PodSpec.volumes
test.each<[string, MountPropagationMode | undefined, boolean]>([
  ['e', undefined, false],
  ['e', 'None', false],
  ['e', 'HostToContainer', true],
  ['e', 'Bidirectional', true],
  ['h', 'Bidirectional', false],
])('a mount of %s with %s needs shared volumes of the pod: %s', (name, propagation, wanted) => {
  expect(hasMountPropagation(aPodThatMounts(name, propagation))).toBe(wanted);
});

/** Mounting requires root. */
describe.skipIf(process.getuid?.() !== 0)('on a machine with private mounts (needs root)', () => {
  async function createPodDir(propagation: 'private' | 'shared') {
    const rootDir = join(await realpath(await temporaryDirectory()), 'root');
    await mkdir(rootDir);
    execFileSync('mount', ['--bind', rootDir, rootDir]);
    execFileSync('mount', [`--make-${propagation}`, rootDir]);
    onTestFinished(() => {
      execFileSync('umount', ['--recursive', rootDir]);
    });
    const pod = aPodThatMounts('e', 'Bidirectional');
    const dir = join(rootDir, 'pods', pod.metadata.uid ?? '');
    const volume = join(dir, 'volumes/kubernetes.io~empty-dir/e');
    await mkdir(volume, {recursive: true});
    const below = (): readonly MountPoint[] =>
      parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8')).filter(({path}) =>
        path.startsWith(`${dir}/`),
      );
    return {node: {rootDir}, uid: pod.metadata.uid ?? '', dir, volume, pod, below};
  }

  // Proves: VolumeMount.mountPropagation
  test('the volumes directory is made shared once, with existing mounts, and unmounted with the pod', async () => {
    const {node, uid, dir, volume, pod, below} = await createPodDir('private');
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', volume]);
    await ensureSharedVolumes(node, pod);
    await ensureSharedVolumes(node, pod);
    const propagations = below().map(({path, isShared}) => [path.slice(dir.length), isShared]);
    expect(propagations).toContainEqual(['/volumes', true]);
    expect(propagations).toContainEqual(['/volumes/kubernetes.io~empty-dir/e', true]);
    expect(propagations.filter(([path]) => path === '/volumes')).toHaveLength(1);
    await removePodDir(node, uid);
    expect({below: below(), left: existsSync(dir)}).toEqual({below: [], left: false});
  });

  test('a volumes directory bound by a killed process is made shared', async () => {
    const {node, dir, pod, below} = await createPodDir('private');
    execFileSync('mount', ['--bind', join(dir, 'volumes'), join(dir, 'volumes')]);
    await ensureSharedVolumes(node, pod);
    expect(below().map(({path, isShared}) => [path, isShared])).toEqual([[join(dir, 'volumes'), true]]);
  });

  test('nothing is mounted if the root directory is already shared', async () => {
    const {node, pod, below} = await createPodDir('shared');
    await ensureSharedVolumes(node, pod);
    expect(below()).toEqual([]);
  });
});
