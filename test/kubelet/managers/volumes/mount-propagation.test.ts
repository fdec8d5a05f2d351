import {execFileSync} from 'node:child_process';
import {existsSync, readFileSync} from 'node:fs';
import {mkdir, realpath} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {MountPropagationMode, Pod} from '../../../../src/api/types/v1-pod.js';
import {parseMountInfo, type MountPoint} from '../../../../src/kubelet/managers/volumes/mounter.js';
import {removePodDir} from '../../../../src/kubelet/managers/volumes/remove-pod-dir.js';
import {
  ensureSharedVolumes,
  hasMountPropagation,
} from '../../../../src/kubelet/managers/volumes/mount-propagation.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aContainer, aPod} from '../../pod-builders.js';

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

test.each<[string, MountPropagationMode | undefined, boolean]>([
  ['e', undefined, false],
  ['e', 'None', false],
  ['e', 'HostToContainer', true],
  ['e', 'Bidirectional', true],
  ['h', 'Bidirectional', false],
])('a mount of %s with %s wants the pod’s volumes shared: %s', (name, propagation, wanted) => {
  expect(hasMountPropagation(aPodThatMounts(name, propagation))).toBe(wanted);
});

/** Only root can mount. */
describe.skipIf(process.getuid?.() !== 0)('on a machine whose mounts are private (needs root)', () => {
  async function aGround(propagation: 'private' | 'shared') {
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

  test('volumes become shared, once, with what is mounted there already, and that goes with the pod', async () => {
    const {node, uid, dir, volume, pod, below} = await aGround('private');
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', volume]);
    await ensureSharedVolumes(node, pod);
    await ensureSharedVolumes(node, pod);
    const seen = below().map(({path, isShared}) => [path.slice(dir.length), isShared]);
    expect(seen).toContainEqual(['/volumes', true]);
    expect(seen).toContainEqual(['/volumes/kubernetes.io~empty-dir/e', true]);
    expect(seen.filter(([path]) => path === '/volumes')).toHaveLength(1);
    await removePodDir(node, uid);
    expect({below: below(), left: existsSync(dir)}).toEqual({below: [], left: false});
  });

  test('what was bound by a killed process is shared by the next', async () => {
    const {node, dir, pod, below} = await aGround('private');
    execFileSync('mount', ['--bind', join(dir, 'volumes'), join(dir, 'volumes')]);
    await ensureSharedVolumes(node, pod);
    expect(below().map(({path, isShared}) => [path, isShared])).toEqual([[join(dir, 'volumes'), true]]);
  });

  test('where mounts are shared already nothing is mounted', async () => {
    const {node, pod, below} = await aGround('shared');
    await ensureSharedVolumes(node, pod);
    expect(below()).toEqual([]);
  });
});
