import {createHash} from 'node:crypto';
import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {fnv32} from '../../../src/api/container-hash.js';
import {parsePodResourceCheckpoint} from '../../../src/kubelet/pods/allocation/pod-resource-checkpoint.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {leaveRecordedNode, type LeftNode} from './left-node.js';
import {takeOverUnchanged} from './take-over.js';

/*
 * Root directories of kubelets before 1.36: the recorded one of 1.36.2 with files in formats that are in the history of
 * Kubernetes' source. They were constructed, not recorded. docs/design/pod-ownership.md has the table.
 */

type Resources = Readonly<Record<string, object>>;
interface Entry {
  readonly ContainerResources: Resources;
  readonly PodLevelResources: object | null;
}
type Entries = Readonly<Record<string, Entry>>;

/** Returns the text of a checkpoint (state.NewCheckpoint). */
function checkpointOf(content: object): string {
  const data = JSON.stringify(content);
  return JSON.stringify({data, checksum: fnv32(`(string)${data}`)});
}

function mapEntries<T>(entries: Entries, change: (entry: Entry) => T): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(entries).map(([uid, entry]) => [uid, change(entry)]));
}

/** Writes both checkpoints of resources with another content. */
async function rewriteCheckpoints({rootDir}: LeftNode, change: (entries: Entries) => object): Promise<void> {
  for (const file of ['allocated_pods_state', 'actuated_pods_state']) {
    const path = join(rootDir, file);
    const {data} = JSON.parse(await readFile(path, 'utf8')) as {readonly data: string};
    const {entries} = JSON.parse(data) as {readonly entries: Entries};
    await writeFile(path, checkpointOf(change(entries)), {mode: 0o600});
  }
}

const put =
  (file: string, content: object) =>
  async ({rootDir}: LeftNode): Promise<void> => {
    await writeFile(join(rootDir, file), JSON.stringify(content));
  };

const imageRef = 'sha256:87e89092e8406eb44eb8f8d3aa37c6a90455b04439bc037f93ed55327665fb6c';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const FORMATS: readonly (readonly [string, (node: LeftNode) => Promise<void>])[] = [
  [
    'checkpoints of resources whose entries have no resources of the pod',
    async (node) => {
      const change = ({ContainerResources}: Entry) => ({ContainerResources});
      await rewriteCheckpoints(node, (entries) => ({entries: mapEntries(entries, change)}));
    },
  ],
  [
    'checkpoints of resources whose entries have empty resources of the pod',
    async (node) => {
      const change = ({ContainerResources}: Entry) => ({ContainerResources, PodLevelResources: {}});
      await rewriteCheckpoints(node, (entries) => ({entries: mapEntries(entries, change)}));
    },
  ],
  [
    'checkpoints of resources with allocationEntries',
    async (node) => {
      const change = ({ContainerResources}: Entry) => ContainerResources;
      await rewriteCheckpoints(node, (entries) => ({allocationEntries: mapEntries(entries, change)}));
    },
  ],
  ['a pod_status_manager_state', put('pod_status_manager_state', {allocationEntries: {}, checksum: 1})],
  [
    'a record of a pull in v1alpha1',
    put(`image_manager/pulled/sha256-${sha256(imageRef)}`, {
      ...{kind: 'ImagePulledRecord', apiVersion: 'kubelet.config.k8s.io/v1alpha1'},
      ...{lastUpdatedTime: '2026-04-30T12:00:00Z', imageRef},
      credentialMapping: {'localhost:5000/busybox': {nodePodsAccessible: true}},
    }),
  ],
];

/** Mounting requires root. */
describe.skipIf(process.getuid?.() !== 0)('nothing restarts on a node that an older kubelet has left', () => {
  test.each(FORMATS)('with %s', async (_format, change) => {
    const node = await leaveRecordedNode(await temporaryDirectory());
    onTestFinished(() => {
      node.unmount();
    });
    await change(node);
    await using testbed = await takeOverUnchanged(node);
    const {daemon} = testbed;
    expect(daemon.errors.filter((error) => /checkpoint|record|_state/.test(error))).toEqual([]);
    const allocated = await readFile(join(node.rootDir, 'allocated_pods_state'), 'utf8');
    expect(parsePodResourceCheckpoint(allocated)).toBeDefined();
  });
});
