import {expect, test} from 'vitest';
import {ClusterTestbed} from '../../kubelet/cluster/cluster-testbed.js';
import type {DaemonTestbed} from '../../kubelet/daemon/daemon-testbed.js';
import {computeFieldChanges} from '../../../src/kubelet/sources/field-changes.js';
import type {Json} from '../../../src/format/json.js';
import type {StoredObject} from '../../fakes/api-server/object-storage.js';
import {leaveRecordedNode, type LeftNode} from './left-node.js';

const CHANGES = /^(RunPodSandbox|Stop|Remove|Create|Start|Update)/;
/** Containers that started less than ten seconds before a kubelet are not ready until they are probed, in any kubelet. */
const LATER_MS = 30_000;
const SETTLE_MS = 3000;
const NODE_IP = '192.0.2.10';

/** Starts kcri on the node in place of the recorded kubelet, half a minute after that has stopped. */
async function takeOver(node: LeftNode): Promise<ClusterTestbed> {
  const {rootDir, logsDir, manifests, runtime, stoppedAtMs} = node;
  return await ClusterTestbed.start(
    (api) => {
      for (const pod of node.pods) {
        const {name, namespace} = pod.metadata;
        api.storage.put(`/api/v1/namespaces/${namespace}/pods/${name}`, pod);
      }
      const put = (kind: string, name: string, fields: object): void => {
        const metadata = {name, namespace: 'default'} as StoredObject['metadata'];
        api.storage.put(`/api/v1/namespaces/default/${kind}/${name}`, {metadata, ...fields});
      };
      put('configmaps', 'cfg', {data: {a: '1'}});
      put('secrets', 'sec', {data: {k: 'eA=='}});
      for (const name of ['kube-root-ca.crt', 'openshift-service-ca.crt'])
        put('configmaps', name, {data: {[name.includes('openshift') ? 'service-ca.crt' : 'ca.crt']: 'x'}});
    },
    {
      rootDir,
      logsDir,
      manifests,
      runtime,
      nowMs: stoppedAtMs + LATER_MS,
      node: {nodeIps: [NODE_IP], hostIps: {current: [NODE_IP]}},
    },
  );
}

/** Returns the pods whose statuses differ from the recorded ones, with the fields. */
function changedPods(node: LeftNode, {api}: ClusterTestbed): readonly unknown[] {
  return node.pods.flatMap((pod) => {
    const {name, namespace} = pod.metadata;
    const status = api.pod(name, namespace)?.['status'] ?? null;
    const changes = computeFieldChanges(pod['status'] as Json, status as Json);
    return changes.length === 0 ? [] : [[name, changes.map(({path}) => path)]];
  });
}

/** Returns what runs, by pod, container and ID. */
function runningOf({fake}: DaemonTestbed): readonly string[] {
  return fake.containers.filter(({state}) => state === 'CONTAINER_RUNNING').map(({id}) => id);
}

/** Mounting requires root. */
test.skipIf(process.getuid?.() !== 0)(
  'nothing restarts and no status changes on a node that kubelet 1.36.2 has left',
  async () => {
    const node = await leaveRecordedNode();
    const running = node.runtime.containers.filter(({state}) => state === 'CONTAINER_RUNNING');
    const mirrors = node.pods.filter(({metadata}) => metadata.namespace === 'kube-system');
    await using testbed = await takeOver(node);
    const {daemon, api} = testbed;
    await daemon.until('all pods are known', () => daemon.view.pods().length === node.pods.length);
    await daemon.clock.sleep(SETTLE_MS);
    expect(daemon.fake.calls.filter(({method}) => CHANGES.test(method))).toEqual([]);
    expect(runningOf(daemon)).toEqual(expect.arrayContaining(running.map(({id}) => id)));
    expect(changedPods(node, testbed)).toEqual([]);
    const uidOf = ({metadata}: StoredObject): unknown =>
      api.pod(metadata.name, metadata.namespace)?.metadata.uid;
    expect(mirrors.map(uidOf)).toEqual(mirrors.map(({metadata}) => metadata.uid));
    // The crashing container waits for the rest of its back-off.
    const backOff = '"back-off 40s restarting failed container=c pod=crash';
    expect(daemon.errors.some((error) => error.includes(backOff))).toBe(true);
    // The paths of the manifests are not those of the recording.
    const kept = daemon.log.filter(({message}) => message.startsWith('Keeping static pod'));
    expect(kept.map(({fields}) => fields['pod']).toSorted()).toEqual(
      mirrors.map(({metadata}) => `kube-system/${metadata.name}`).toSorted(),
    );
  },
);
