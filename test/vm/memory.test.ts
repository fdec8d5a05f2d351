import {execFileSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {Node} from '../../src/api/types/v1-node.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {until} from '../base/until.js';
import {startJoinedNode, type JoinedNode, type JoinedNodeOptions} from '../e2e/harness/joined-node.js';
import {aContainer, shellCommand} from '../e2e/harness/manifests.js';
import {containerCgroup, podCgroup} from '../e2e/harness/pod-cgroups.js';
import {newestRuntime} from '../e2e/harness/runtimes-under-test.js';

const MIB = 1024 * 1024;
const PAGE = 4096;
const SWAP_MIB = 256;

/** Returns a number of bytes from /proc/meminfo. */
function meminfo(name: string): number {
  const text = readFileSync('/proc/meminfo', 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) * 1024;
}

/** Turns swap on until the end of the test. */
async function swapOn(): Promise<void> {
  const file = join(await temporaryDirectory(), 'swap');
  execFileSync('dd', ['if=/dev/zero', `of=${file}`, 'bs=1M', `count=${SWAP_MIB}`], {stdio: 'ignore'});
  execFileSync('chmod', ['600', file]);
  execFileSync('mkswap', [file], {stdio: 'ignore'});
  execFileSync('swapon', [file]);
  onTestFinished(() => {
    execFileSync('swapoff', [file]);
  });
}

describe.each(newestRuntime)('memory with cgroup v2: $name', (which) => {
  /** Joins a node for one test. */
  async function joinNode(name: string, options: JoinedNodeOptions): Promise<JoinedNode> {
    const node = await startJoinedNode(which, name, options);
    onTestFinished(async () => {
      await node[Symbol.asyncDispose]();
    });
    return node;
  }

  test('LimitedSwap gives a Burstable container its share of the swap, and a Guaranteed one none', async () => {
    await swapOn();
    const node = await joinNode('swap', {
      config: 'failSwapOn: false\nmemorySwap: {swapBehavior: LimitedSwap}\n',
    });
    const pod = (requests: string) => ({
      containers: [
        aContainer('main', {resources: {requests: {memory: requests}, limits: {memory: '128Mi'}}}),
      ],
    });
    node.createPod('burstable', pod('64Mi'));
    node.createPod('guaranteed', {
      containers: [aContainer('main', {resources: {limits: {cpu: '1', memory: '64Mi'}}})],
    });
    await node.untilReady('burstable', 'guaranteed');
    const swapOf = async (name: string): Promise<string> => {
      const {containers} = await node.kubelet.podTestbed.pod(name);
      return await node.kubelet.podTestbed.exec(containers[0]!.id, 'cat', '/sys/fs/cgroup/memory.swap.max');
    };
    const share = Math.trunc(((64 * MIB) / meminfo('MemTotal')) * meminfo('SwapTotal'));
    expect(Number(await swapOf('burstable'))).toBe(share - (share % PAGE));
    expect(await swapOf('guaranteed')).toBe('0');
  });

  test('the pod that uses up the memory of the node is evicted', async () => {
    const available = meminfo('MemAvailable');
    const threshold = Math.round((available * 0.7) / MIB);
    const node = await joinNode('pressed', {
      flags: [
        ...['--eviction-hard', `memory.available<${threshold}Mi`],
        ...['--eviction-pressure-transition-period', '5s', '--node-status-update-frequency', '1s'],
      ],
    });
    const pressure = (): string | undefined => {
      const object = node.api.storage.get('/api/v1/nodes/pressed') as Node | undefined;
      return object?.status?.conditions?.find(({type}) => type === 'MemoryPressure')?.status;
    };
    node.createPod('small');
    await node.untilReady('small');
    expect(pressure()).toBe('False');
    const megabytes = Math.round((available * 0.5) / MIB);
    node.createPod('large', {
      volumes: [{name: 'data', emptyDir: {medium: 'Memory'}}],
      containers: [
        aContainer('main', {
          command: shellCommand(`dd if=/dev/zero of=/data/file bs=1M count=${megabytes}; exec sleep 1000000`),
          volumeMounts: [{name: 'data', mountPath: '/data'}],
        }),
      ],
    });
    await node.untilPhase('large', 'Failed');
    const {reason, message} = node.statusOf('large');
    expect(reason).toBe('Evicted');
    expect(message).toMatch(
      /^The node was low on resource: memory\. Threshold quantity: \d+Mi, available: \d+Ki\. Container main was using \d+Ki, request is 0, has larger consumption of memory\. $/,
    );
    await until(() => pressure() === 'False');
    expect(node.statusOf('small').phase).toBe('Running');
  });

  test('memory QoS protects requests in every cgroup from the node to the container, and throttles below the limit', async () => {
    const node = await joinNode('memory-qos', {
      config: 'featureGates: {MemoryQoS: true}\nmemoryReservationPolicy: TieredReservation\n',
    });
    const limits = {cpu: '1', memory: '64Mi'};
    node.createPod('guaranteed', {containers: [aContainer('main', {resources: {limits}})]});
    node.createPod('burstable', {
      containers: [
        aContainer('main', {
          // Uses more than the amount from which it is throttled, and less than its limit.
          command: shellCommand('dd if=/dev/zero of=/dev/null bs=126M count=1; exec sleep 1000000'),
          resources: {requests: {memory: '64Mi'}, limits: {memory: '128Mi'}},
        }),
      ],
    });
    await node.untilReady('guaranteed', 'burstable');
    const {podTestbed} = node.kubelet;
    const [guaranteed, burstable] = [await podTestbed.pod('guaranteed'), await podTestbed.pod('burstable')];
    const {cgroupRoot} = podTestbed;
    const paths = {
      guaranteed: podCgroup(cgroupRoot, 'guaranteed', guaranteed.uid),
      burstable: podCgroup(cgroupRoot, 'burstable', burstable.uid),
    };
    const read = (path: string, file: string): string =>
      readFileSync(`/sys/fs/cgroup${path}/${file}`, 'utf8').trim();
    const request = String(64 * MIB);
    const inGuaranteed = containerCgroup(paths.guaranteed, guaranteed.containers[0]!.id);
    expect([inGuaranteed, paths.guaranteed].map((path) => read(path, 'memory.min'))).toEqual([
      request,
      request,
    ]);
    const inBurstable = containerCgroup(paths.burstable, burstable.containers[0]!.id);
    expect(
      [inBurstable, paths.burstable, dirname(paths.burstable)].map((path) => read(path, 'memory.low')),
    ).toEqual([request, request, request]);
    expect(read(dirname(paths.guaranteed), 'memory.min')).toBe(String(2 * 64 * MIB));
    const high = (64 + (128 - 64) * 0.9) * MIB;
    expect(Number(read(inBurstable, 'memory.high'))).toBe(high - (high % PAGE));
    await until(() => /^high [1-9]/m.test(read(inBurstable, 'memory.events')));
    expect(node.statusOf('burstable').phase).toBe('Running');
  });

  const hungry = {
    restartPolicy: 'Never',
    containers: [
      aContainer('main', {
        command: shellCommand(
          'dd if=/dev/zero of=/dev/null bs=200M count=1; echo survived; exec sleep 1000000',
        ),
        resources: {limits: {memory: '64Mi'}},
      }),
    ],
  };

  test('the kernel ends all processes of a container that exceeds its limit (memory.oom.group)', async () => {
    const node = await joinNode('oom-group', {});
    node.createPod('hungry', hungry);
    await node.untilPhase('hungry', 'Failed');
    // containerd reports the reason only if it has seen the event before systemd removes the cgroup of the container.
    expect(node.statusOf('hungry').containerStatuses?.[0]?.state).toMatchObject({
      terminated: {exitCode: 137, reason: expect.stringMatching(/^(?:OOMKilled|Error)$/) as string},
    });
    const {uid} = await node.kubelet.podTestbed.pod('hungry');
    expect(node.kubelet.podTestbed.log({uid, name: 'hungry'}, 'main', 0)).not.toContain('survived');
  });

  test('with singleProcessOOMKill, only the process that exceeds it', async () => {
    const node = await joinNode('oom-single', {config: 'singleProcessOOMKill: true\n'});
    node.createPod('hungry', hungry);
    await node.untilReady('hungry');
    const {uid} = await node.kubelet.podTestbed.pod('hungry');
    const log = (): string => node.kubelet.podTestbed.log({uid, name: 'hungry'}, 'main', 0);
    await until(() => log().includes('survived'));
    expect(node.statusOf('hungry').phase).toBe('Running');
  });
});
