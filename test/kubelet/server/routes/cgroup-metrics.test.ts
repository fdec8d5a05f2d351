import {describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {aCgroupTree} from '../../../fakes/a-cgroup-tree.js';
import {parseScrape, type ParsedSample} from '../../managers/metrics/parse-exposition.js';
import {startServerTestbed, UID, type ServerTestbed} from '../server-testbed.js';
import {samples, scrape, summary} from './scrape-testbed.js';

/** Starts servers whose node has cgroups of all pods, of the pod and of its container. */
async function testbedWithCgroups(
  version: 1 | 2,
  files: Readonly<Record<string, string>> = {},
): Promise<ServerTestbed> {
  const cgroup = {version, driver: 'cgroupfs', root: '', swapAccounting: true} as const;
  const pod = `/kubepods/besteffort/pod${UID}`;
  const paths = ['/kubepods', pod, `${pod}/main-id`, `${pod}/sandbox-id`];
  const cgroupMount = await aCgroupTree(version, paths, files);
  const directory = await temporaryDirectory();
  const node = {nodeName: 'node-1', rootDir: directory, podLogsDir: directory, cgroup, cgroupMount};
  const runtime = {unimplemented: ['ListPodSandboxMetrics', 'ListMetricDescriptors']} as const;
  return await startServerTestbed({runtime, options: {node}});
}

describe.each([1, 2] as const)('with cgroup v%d', (version) => {
  test('containers have the metrics that dashboards use beyond those of the runtime', async () => {
    const response = await (await testbedWithCgroups(version)).request('/metrics/cadvisor');
    const text = response.body;
    const valueOf = (name: string, labels = ''): number => {
      const line = text
        .split('\n')
        .find(
          (each) => each.startsWith(`${name}{`) && each.includes('container="main"') && each.includes(labels),
        );
      return Number(line?.split('} ')[1]?.split(' ')[0]);
    };
    expect(valueOf('container_spec_cpu_quota')).toBe(50_000);
    expect(valueOf('container_spec_cpu_period')).toBe(100_000);
    expect(valueOf('container_spec_cpu_shares')).toBe(version === 2 ? 500 : 512);
    expect(valueOf('container_spec_memory_limit_bytes')).toBe(67_108_864);
    expect(valueOf('container_spec_memory_swap_limit_bytes')).toBe(0);
    expect(valueOf('container_spec_memory_reservation_limit_bytes')).toBe(4096);
    const device = 'major="8",minor="0"';
    expect(
      valueOf(
        'container_blkio_device_usage_total',
        `${device},name="main-id",namespace="team",operation="Write"`,
      ),
    ).toBe(8192);
    expect(valueOf('container_cpu_cfs_throttled_periods_total')).toBe(4);
    expect(valueOf('container_cpu_cfs_periods_total')).toBe(40);
    expect(valueOf('container_cpu_cfs_throttled_seconds_total')).toBe(0.25);
    expect(valueOf('container_cpu_user_seconds_total')).toBe(2);
    expect(valueOf('container_memory_cache')).toBe(4000);
    expect(valueOf('container_memory_failures_total', 'scope="hierarchy"')).toBeGreaterThan(0);
    expect(valueOf('container_fs_reads_bytes_total')).toBe(4096);
    expect(valueOf('container_fs_writes_total')).toBe(2);
    expect(valueOf('container_last_seen')).toBeGreaterThan(1.7e9);
    expect(valueOf('container_start_time_seconds')).toBeGreaterThan(1.7e9);
    expect(valueOf('container_threads_max')).toBe(100);
    expect(valueOf('container_oom_events_total')).toBe(1);
    expect(parseScrape(response).length).toBeGreaterThan(40);
  });

  test('the cgroup of all pods and the network of a pod are measured', async () => {
    const testbed = await testbedWithCgroups(version);
    const memory = await samples(testbed, '/metrics/cadvisor', 'container_memory_working_set_bytes');
    expect(memory.find(({labels}) => labels['id'] === '/kubepods')?.value).toBe(9000);
    // One scrape, since the interfaces of the machine change.
    const families = await scrape(testbed, '/metrics/cadvisor');
    const samplesOf = (unit: string) =>
      families.find(({name}) => name === `container_network_receive_${unit}_total`)?.samples ?? [];
    const packets = samplesOf('packets');
    const ofPods = packets.filter(({labels}) => labels['id'] !== '/');
    expect(ofPods.every(({labels}) => labels['pod'] === 'web' && labels['name'] === 'sandbox-id')).toBe(true);
    const bytes = samplesOf('bytes');
    const interfaces = (all: readonly ParsedSample[]) =>
      all.filter(({labels}) => labels['id'] === '/').map(({labels}) => labels['interface']);
    expect(interfaces(packets)).toEqual(interfaces(bytes));
  });

  test('a pod and its containers have what their cgroups say beyond the runtime', async () => {
    const testbed = await testbedWithCgroups(version);
    const [pod] = (await summary(testbed)).pods;
    const total = version === 2 ? 1_500_000 : 0;
    const workingSet = pod?.containers[0]?.['memory']?.['workingSetBytes'] as number;
    expect(pod).toMatchObject({
      cpu: {psi: {some: {total}}},
      containers: [
        {
          cpu: {psi: {some: {total}}},
          memory: {availableBytes: 67_108_864 - workingSet, psi: {full: {total: 0}}},
          io: {psi: {some: {total: 0}}},
        },
      ],
      process_stats: {process_count: 2},
    });
    expect(pod?.containers[0]?.['swap']).not.toHaveProperty('swapAvailableBytes');
    const [few] = (await summary(testbed, '?only_cpu_and_memory=true')).pods;
    expect(few).toMatchObject({containers: [{cpu: {psi: {some: {total}}}}]});
  });

  test('a container without a limit has no available memory', async () => {
    const testbed = await testbedWithCgroups(version, {
      ...{'memory.max': 'max', 'memory/memory.limit_in_bytes': '9223372036854771712'},
    });
    const [pod] = (await summary(testbed)).pods;
    expect(pod?.['memory']).not.toHaveProperty('availableBytes');
    expect(pod?.containers[0]?.['memory']).not.toHaveProperty('availableBytes');
  });

  test('what a kubelet always reports as a constant has that value for each cgroup', async () => {
    const testbed = await testbedWithCgroups(version);
    const families = await scrape(testbed, '/metrics/cadvisor');
    const ofContainer = (name: string) =>
      families
        .find((family) => family.name === name)
        ?.samples.filter(({labels}) => labels['container'] === 'main')
        .map(({labels: {state}, value}) => [state, value]);
    expect(ofContainer('container_cpu_load_average_10s')).toEqual([[undefined, 0]]);
    expect(ofContainer('container_cpu_load_d_average_10s')).toEqual([[undefined, 0]]);
    expect(ofContainer('container_health_state')).toEqual([[undefined, -1]]);
    const states = ['iowaiting', 'running', 'sleeping', 'stopped', 'uninterruptible'];
    expect(ofContainer('container_tasks_state')).toEqual(states.map((state) => [state, 0]));
    const open = families.find(({name}) => name === 'container_file_descriptors')?.samples ?? [];
    expect(open.map(({labels}) => labels['id'])).toContain('/kubepods');
  });

  test('the summary has the cgroup of all pods', async () => {
    const testbed = await testbedWithCgroups(version);
    const {node} = await summary(testbed);
    const containers = node['systemContainers'] as unknown as readonly Record<string, unknown>[];
    expect(containers.find(({name}) => name === 'pods')).toMatchObject({
      cpu: {usageCoreNanoSeconds: 3_000_000_000, psi: {full: {total: 0}}},
      memory: {workingSetBytes: 9000, availableBytes: 67_099_864, rssBytes: 5000},
      swap: {swapUsageBytes: 0},
      io: {psi: {some: {total: 0}}},
      startTime: expect.any(String) as string,
    });
    const few = (await summary(testbed, '?only_cpu_and_memory=true')).node['systemContainers'];
    expect(JSON.stringify(few)).not.toContain('"io"');
  });
});
