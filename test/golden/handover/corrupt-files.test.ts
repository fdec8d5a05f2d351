import {mkdir, rm, symlink, writeFile} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {leaveRecordedNode, type LeftNode} from './left-node.js';
import {changingCalls} from './recorded-takeover.js';
import {takeOver, takeOverUnchanged} from './take-over.js';

/* Files in the root directory of the recorded node that are corrupt, or that are of another program. */

/** The recorded pod with volumes of all kinds. */
const FULL = 'f2cf4988-f778-49c5-ad9b-5e3d87dee0f8';
const GARBAGE = '\u0000{garbage';
const FOREIGN = '{"apiVersion": "example.com/v1", "kind": "Other", "checksum": 1}';

/** Changes a path of the root directory. */
type Change = (path: string) => Promise<void>;

const write =
  (text: string): Change =>
  async (path) => {
    await mkdir(dirname(path), {recursive: true});
    await writeFile(path, text);
  };
const replaceByDirectory: Change = async (path) => {
  await rm(path, {recursive: true, force: true});
  await mkdir(join(path, 'x'), {recursive: true});
};
const replaceByFile: Change = async (path) => {
  await rm(path, {recursive: true, force: true});
  await writeFile(path, GARBAGE);
};
const remove: Change = async (path) => rm(path, {recursive: true});
const linkNowhere: Change = async (path) => {
  await rm(path, {recursive: true, force: true});
  await symlink('/nonexistent/target', path);
};

async function leaveNode(): Promise<LeftNode> {
  const node = await leaveRecordedNode(await temporaryDirectory());
  onTestFinished(() => {
    node.unmount();
  });
  return node;
}

/** Place and change, and the part of an error in the log; undefined if the content has no meaning to kcri. */
type Case = readonly [place: string, how: string, change: Change, error?: string];

const CHECKPOINT_IGNORED = 'Ignoring the resources of pods, resizes in progress count as completed';
const DEVICES_FORGOTTEN = 'Continue after failing to read checkpoint file';
const volume = (name: string): string => `pods/${FULL}/volumes/kubernetes.io~${name}`;

const CASES: readonly Case[] = [
  ['allocated_pods_state', 'garbage', write(GARBAGE), CHECKPOINT_IGNORED],
  ['allocated_pods_state', 'empty', write(''), CHECKPOINT_IGNORED],
  ['allocated_pods_state', 'of another program', write(FOREIGN), CHECKPOINT_IGNORED],
  ['allocated_pods_state', 'missing', remove],
  ['actuated_pods_state', 'garbage', write(GARBAGE), CHECKPOINT_IGNORED],
  ['actuated_pods_state', 'empty', write(''), CHECKPOINT_IGNORED],
  ['actuated_pods_state', 'of another program', write(FOREIGN), CHECKPOINT_IGNORED],
  ['actuated_pods_state', 'a link to nowhere', linkNowhere],
  ['pod_status_manager_state', 'of another program', write(FOREIGN)],
  ['pod_status_manager_state', 'a directory', replaceByDirectory],
  ...['cpu_manager_state', 'memory_manager_state', 'dra_manager_state'].map((place): Case => [
    place,
    'missing',
    remove,
  ]),
  ['device-plugins/kubelet_internal_checkpoint', 'garbage', write(GARBAGE), DEVICES_FORGOTTEN],
  ['device-plugins/kubelet_internal_checkpoint', 'empty', write(''), DEVICES_FORGOTTEN],
  ['device-plugins/kubelet_internal_checkpoint', 'of another program', write(FOREIGN), DEVICES_FORGOTTEN],
  ['device-plugins/kubelet_internal_checkpoint', 'a directory', replaceByDirectory, DEVICES_FORGOTTEN],
  ['device-plugins/left.sock', 'a file', write(GARBAGE)],
  ['device-plugins', 'a file', replaceByFile, 'Failed to start the device plugin manager'],
  ['plugins_registry', 'a file', replaceByFile, 'populator (plugin watcher) starts failed'],
  ['pod-resources', 'a file', replaceByFile, 'Failed to serve: creating'],
  ['checkpoints', 'a file', replaceByFile],
  ['image_manager', 'a file', replaceByFile],
  ['plugins_registry/left.sock', 'a file', write(GARBAGE)],
  ['checkpoints/left.tar', 'a file', write(GARBAGE)],
  ['image_manager/pulled/sha256-00', 'garbage', write(GARBAGE)],
  ['image_manager/pulling/sha256-00', 'garbage', write(GARBAGE)],
  ['pods/other-file', 'a file', write(GARBAGE)],
  ['plugins/kubernetes.io/csi/left', 'a file', write(GARBAGE)],
  [`pods/${FULL}/containers/main/3bfd0641`, 'a directory', replaceByDirectory],
  [`pods/${FULL}/etc-hosts`, 'missing', remove],
  [`pods/${FULL}/plugins`, 'missing', remove],
  [`pods/${FULL}/plugins/kubernetes.io~empty-dir/e/ready`, 'missing', remove],
  [`${volume('configmap')}/c/..data`, 'a link to nowhere', linkNowhere],
  [`${volume('configmap')}/c/..data`, 'missing', remove],
  [`${volume('secret')}/s/left`, 'a file', write(GARBAGE)],
  [`${volume('example')}/x/data`, 'of an unknown plugin', write(GARBAGE)],
  [`kcri/records/${FULL}.json`, 'garbage', write(GARBAGE), 'Failed to read pod record'],
  [`kcri/statuses/${FULL}.json`, 'garbage', write(GARBAGE)],
  [`kcri/mounts/${FULL}.json`, 'garbage', write(GARBAGE)],
  [`kcri/events/${FULL}.json`, 'garbage', write(GARBAGE)],
  ['kcri/kubelet.json', 'garbage', write(GARBAGE)],
  ['kcri/rejected', 'a file', write(GARBAGE)],
  ['kcri/image_manager', 'a file', write(GARBAGE)],
  ['kcri/image_manager/pullers/sha256-00', 'garbage', write(GARBAGE)],
];

/** Mounting requires root. */
describe.skipIf(process.getuid?.() !== 0)('no pod restarts and no status changes', () => {
  test.each(CASES.map(([place, how, change, error = '']) => ({place, how, change, error})))(
    'if $place is $how',
    async ({place, change, error}) => {
      const node = await leaveNode();
      await change(join(node.rootDir, place));
      await using testbed = await takeOverUnchanged(node);
      const {daemon} = testbed;
      expect(daemon.errors.join('\n')).toContain(error);
    },
  );
});

describe.skipIf(process.getuid?.() !== 0)('kcri does not start', () => {
  test.each<readonly [string, string, Change, string]>([
    [
      'allocated_pods_state',
      'a directory',
      replaceByDirectory,
      'allocated_pods_state": illegal operation on a directory',
    ],
    // As a kubelet, which does not know what it has given out.
    ['cpu_manager_state', 'garbage', write(GARBAGE), 'could not restore state from checkpoint'],
    ['cpu_manager_state', 'of another program', write(FOREIGN), 'could not restore state from checkpoint'],
    ['memory_manager_state', 'garbage', write(GARBAGE), 'could not restore state from checkpoint'],
    ['memory_manager_state', 'of another program', write(FOREIGN), 'could not restore state from checkpoint'],
    ['cpu_manager_state', 'empty', write(''), 'could not restore state from checkpoint'],
    ['cpu_manager_state', 'a directory', replaceByDirectory, 'illegal operation on a directory'],
    ['memory_manager_state', 'empty', write(''), 'could not restore state from checkpoint'],
    ['memory_manager_state', 'a directory', replaceByDirectory, 'illegal operation on a directory'],
    ['actuated_pods_state', 'a directory', replaceByDirectory, 'illegal operation on a directory'],
    // Its devices might be given to two pods.
    ...[write(GARBAGE), write(''), write(FOREIGN), replaceByDirectory].map(
      (change, index) =>
        [
          'dra_manager_state',
          ['garbage', 'empty', 'of another program', 'a directory'][index]!,
          change,
          'create ResourceClaim cache: GetOrCreate() on checkpoint state',
        ] as const,
    ),
    ['plugins', 'a file', replaceByFile, 'plugins/kubernetes.io/csi/volumeDevices": not a directory'],
    ['kcri/records', 'a file', replaceByFile, 'kcri/records": not a directory'],
    ['pods', 'a file', replaceByFile, '/pods": not a directory'],
  ])('if %s is %s', async (place, _how, change, message) => {
    const node = await leaveNode();
    await mkdir(join(node.rootDir, 'kcri'));
    await change(join(node.rootDir, place));
    await using testbed = await takeOver(node);
    const {daemon} = testbed;
    await expect(daemon.ended).rejects.toThrow(message);
    expect(changingCalls(daemon.fake)).toEqual([]);
    await rm(join(node.rootDir, place), {recursive: true});
    daemon.run();
    await daemon.until('all pods are known', () => daemon.view.pods().length === node.pods.length);
    expect(changingCalls(daemon.fake)).toEqual([]);
  });
});
