import {expect, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import type {RuntimeService} from '../../../../src/cri/index.js';
import type {ServedKubelet} from '../../../../src/kubelet/server/served-kubelet.js';
import {UsageReader} from '../../../../src/kubelet/server/stats/usage-reader.js';

const SECOND = 1_000_000_000n;
const STARTED = 1_700_000_000n * SECOND;
const LABELS = {
  'io.kubernetes.pod.name': 'web',
  'io.kubernetes.pod.namespace': 'team',
  'io.kubernetes.pod.uid': 'u1',
  'io.kubernetes.container.name': 'main',
};
const value = (number: bigint) => ({value: number});

/** Returns what the first reading says, 20 s after the start, of a pod that has used 5 s of CPU time. */
async function firstReading(usageNanoCores: bigint | undefined) {
  const cpu = {
    timestamp: STARTED + 20n * SECOND,
    usageCoreNanoSeconds: value(5n * SECOND),
    ...(usageNanoCores !== undefined && {usageNanoCores: value(usageNanoCores)}),
  };
  const network = {timestamp: 0n, interfaces: []};
  const runtime = {
    listContainerStats: async () => ({stats: [{attributes: {id: 'c1', labels: LABELS}, cpu}]}),
    listPodSandboxStats: async () => ({
      stats: [{attributes: {id: 's1', labels: LABELS}, linux: {cpu, network}}],
    }),
  } as unknown as RuntimeService;
  const kubelet = {
    runtimeStatus: () => ({
      sandboxes: [{createdAt: STARTED}],
      containers: [{id: 'c1', cri: {startedAt: STARTED, image: {image: 'busybox'}}}],
    }),
  } as unknown as ServedKubelet;
  const node = {
    ...{nodeName: 'n1', rootDir: '/nonexistent', podLogsDir: '/nonexistent', cgroupMount: undefined},
    cgroup: {version: 2, driver: 'cgroupfs', root: '', swapAccounting: true} as const,
  };
  const reader = new UsageReader(kubelet, {runtime, clock: systemClock, node});
  const [pod] = (await reader.read(new AbortController().signal)).pods;
  return {pod, cpu};
}

test.each([
  ['without a rate of the runtime', undefined, 250_000_000n],
  ['if the runtime has measured for no time', 0n, 250_000_000n],
  ['unless the runtime reports a rate', 7n, 7n],
])('the first reading has the CPU usage since the start, %s', async (_, reported, expected) => {
  const {pod} = await firstReading(reported);
  expect(pod?.cpu?.usageNanoCores).toEqual(value(expected));
  expect(pod?.containers[0]?.stats.cpu?.usageNanoCores).toEqual(value(expected));
});

test('the network of a pod that the runtime reports without a time has that of the other usage', async () => {
  const {pod, cpu} = await firstReading(undefined);
  expect(pod?.network?.timestamp).toBe(cpu.timestamp);
});
