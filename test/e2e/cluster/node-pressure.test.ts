import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import type {Node} from '../../../src/api/types/v1-node.js';
import type {ApiEvent} from '../../../src/kubelet/cluster/events/event-correlator.js';
import {until} from '../../base/until.js';
import {startJoinedNode, type JoinedNode} from '../harness/joined-node.js';
import {aContainer, shellCommand} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';
import {mountSmallDisk, type SmallDisk} from '../harness/small-disk.js';

const NODE = 'full';
/** A pod with a volume, whose command runs there. */
const inVolume = (command: string) => ({
  volumes: [{name: 'data', emptyDir: {}}],
  containers: [
    aContainer('main', {
      command: shellCommand(`cd /data; ${command}; exec sleep 1000000`),
      volumeMounts: [{name: 'data', mountPath: '/data'}],
    }),
  ],
});

describe.each(newestRuntime)('a node whose disk is full: $name', (which) => {
  let disk: SmallDisk;
  let cluster: JoinedNode;
  const diskPressure = () => {
    const node = cluster.api.storage.get(`/api/v1/nodes/${NODE}`) as Node | undefined;
    return node?.status?.conditions?.find(({type}) => type === 'DiskPressure');
  };
  /** The condition in each status of the node that was sent while the disk was full. */
  const sentPressures = (): readonly object[] =>
    cluster.api.requests
      .filter(({method, path}) => method === 'PATCH' && path === `/api/v1/nodes/${NODE}/status`)
      .flatMap(({body}) => (body as unknown as Pick<Node, 'status'>).status?.conditions ?? [])
      .filter(({type, status}) => type === 'DiskPressure' && status === 'True');
  const eventsAbout = (name: string): readonly ApiEvent[] => {
    const events = cluster.api.storage.list('/api/v1/namespaces/default/events') as unknown as ApiEvent[];
    return events.filter(({involvedObject}) => involvedObject.name === name);
  };

  beforeAll(async () => {
    disk = await mountSmallDisk(400);
    cluster = await startJoinedNode(which, NODE, {
      parent: disk.path,
      flags: [
        ...['--eviction-hard', 'nodefs.available<15%'],
        // The condition lasts for much longer than the period of the node's status.
        ...['--eviction-pressure-transition-period', '30s'],
        ...['--node-status-update-frequency', '1s'],
      ],
    });
  });
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    await disk[Symbol.asyncDispose]();
  });

  test('the pod that fills it is evicted, and the condition of the node comes and goes', async () => {
    cluster.createPod('small', inVolume('dd if=/dev/zero of=file bs=1M count=1'));
    await cluster.untilReady('small');
    expect(diskPressure()).toMatchObject({status: 'False', reason: 'KubeletHasNoDiskPressure'});
    cluster.createPod('large', inVolume('dd if=/dev/zero of=file bs=1M'));
    await cluster.untilPhase('large', 'Failed');
    const {reason, message, conditions, containerStatuses} = cluster.statusOf('large');
    expect(containerStatuses?.[0]).toMatchObject({
      restartCount: 0,
      state: {terminated: {exitCode: 137, reason: 'Error'}},
    });
    expect(reason).toBe('Evicted');
    expect(message).toMatch(
      /^The node was low on resource: ephemeral-storage\. Threshold quantity: \d+, available: (0|\d+Ki|\d+Mi)\. /,
    );
    expect(conditions).toContainEqual(
      expect.objectContaining({
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'TerminationByKubelet',
        message,
      }),
    );
    await until(() => eventsAbout('large').some((event) => event.reason === 'Evicted'));
    expect(eventsAbout('large').find((event) => event.reason === 'Evicted')).toMatchObject({
      message,
      metadata: {annotations: {starved_resource: 'ephemeral-storage'}},
    });
    await until(() => eventsAbout(NODE).some((event) => event.reason === 'EvictionThresholdMet'));
    // Requests and events outlast the condition, and may arrive in any order.
    await until(() => eventsAbout(NODE).some((event) => event.reason === 'NodeHasDiskPressure'));
    await until(() => sentPressures().length > 0);
    expect(sentPressures()[0]).toMatchObject({
      reason: 'KubeletHasDiskPressure',
      message: 'kubelet has disk pressure',
    });
    await until(() => diskPressure()?.status === 'False');
    expect(await disk.usedPercent()).toBeLessThan(80);
    expect(cluster.statusOf('small').phase).toBe('Running');
    await cluster.kubectl.output('delete', 'pod', 'small', 'large');
  });
});
