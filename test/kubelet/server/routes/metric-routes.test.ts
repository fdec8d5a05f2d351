import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {aCgroupTree} from '../../../fakes/a-cgroup-tree.js';
import {aContainer, aSandbox, BUSYBOX} from '../../../fakes/fake-runtime.js';
import {cpuStats, ioStats} from '../../../../src/kubelet/server/stats/summary-parts.js';
import {systemClock} from '../../../../src/base/clock.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {until} from '../../../base/until.js';
import {parseScrape, type ParsedFamily, type ParsedSample} from '../../managers/metrics/parse-exposition.js';
import {requestAt, startServerTestbed, UID, type ServerTestbed} from '../server-testbed.js';

const ENDPOINTS = ['/metrics', '/metrics/probes', '/metrics/resource', '/metrics/cadvisor', '/metrics/slis'];

async function scrape({request}: ServerTestbed, path: string): Promise<readonly ParsedFamily[]> {
  return parseScrape(await request(path));
}

async function samples(testbed: ServerTestbed, path: string, name: string): Promise<readonly ParsedSample[]> {
  return (await scrape(testbed, path)).find((family) => family.name === name)?.samples ?? [];
}

/** Adds an older pod of the same name to the runtime, as an edited pod leaves behind. */
function addOlderPod({runtime}: ServerTestbed): void {
  const sandbox = aSandbox({id: 'older', name: 'web', namespace: 'team', uid: 'older-uid'});
  runtime.state.addContainer(aContainer({id: 'older-main', name: 'main', sandbox}));
}

interface Summary {
  readonly node: Readonly<Record<string, Record<string, unknown>>>;
  readonly pods: readonly (Record<string, unknown> & {
    readonly containers: readonly Record<string, Record<string, unknown>>[];
  })[];
}

async function summary({request}: ServerTestbed, query = ''): Promise<Summary> {
  return JSON.parse((await request(`/stats/summary${query}`)).body) as Summary;
}

describe('a strict parser', () => {
  test.each(ENDPOINTS)('accepts %s from both ports', async (path) => {
    const testbed = await startServerTestbed();
    await testbed.request('/healthz');
    expect(await scrape(testbed, path)).not.toEqual([]);
    expect(parseScrape(await requestAt(testbed.servers.urls.readOnly ?? '', path))).not.toEqual([]);
  });

  test('accepts the metrics of two pods with the same name', async () => {
    const testbed = await startServerTestbed();
    addOlderPod(testbed);
    const names = (await samples(testbed, '/metrics/resource', 'container_cpu_usage_seconds_total')).map(
      ({labels}) => labels,
    );
    expect(names).toEqual([{container: 'main', namespace: 'team', pod: 'web'}]);
    expect((await summary(testbed)).pods).toHaveLength(2);
  });
});

test('the results of each health check are counted', async () => {
  const testbed = await startServerTestbed();
  await testbed.request('/healthz');
  testbed.kubelet.lastActiveAt = 0;
  await testbed.request('/healthz');
  await testbed.request('/healthz/ping');
  const all = [
    ...(await samples(testbed, '/metrics/slis', 'kubernetes_healthcheck')),
    ...(await samples(testbed, '/metrics/slis', 'kubernetes_healthchecks_total')),
  ];
  expect(all.map(({labels: {name, type, status}, value}) => [name, type, status, value])).toEqual([
    ['log', 'healthz', undefined, 1],
    ['ping', 'healthz', undefined, 1],
    ['syncloop', 'healthz', undefined, 0],
    ['log', 'healthz', 'success', 2],
    ['ping', 'healthz', 'success', 2],
    ['syncloop', 'healthz', 'error', 1],
    ['syncloop', 'healthz', 'success', 1],
  ]);
});

describe('resource metrics', () => {
  test('have the names and stability levels of a kubelet', async () => {
    const families = await scrape(await startServerTestbed(), '/metrics/resource');
    const stability = new Map(families.map(({name, help}) => [name, /^\[(\w+)\]/.exec(help)?.[1]]));
    expect(Object.fromEntries(stability)).toEqual({
      container_cpu_usage_seconds_total: 'STABLE',
      container_memory_working_set_bytes: 'STABLE',
      container_start_time_seconds: 'STABLE',
      container_swap_limit_bytes: 'ALPHA',
      container_swap_usage_bytes: 'ALPHA',
      node_cpu_usage_seconds_total: 'STABLE',
      node_memory_working_set_bytes: 'STABLE',
      node_swap_usage_bytes: 'ALPHA',
      pod_cpu_usage_seconds_total: 'STABLE',
      pod_memory_working_set_bytes: 'STABLE',
      pod_swap_usage_bytes: 'ALPHA',
      resource_scrape_error: 'STABLE',
    });
  });

  test('of a pod are the sum of its containers if the runtime does not report pods', async () => {
    const testbed = await startServerTestbed({runtime: {unimplemented: ['ListPodSandboxStats']}});
    const [pod] = await samples(testbed, '/metrics/resource', 'pod_memory_working_set_bytes');
    const [container] = await samples(testbed, '/metrics/resource', 'container_memory_working_set_bytes');
    expect(pod).toMatchObject({labels: {namespace: 'team', pod: 'web'}, value: container?.value});
    expect(pod?.timestampMs).toBeGreaterThan(1e12);
  });
});

describe("cAdvisor's metrics of a runtime without own metrics", () => {
  const unimplemented = {unimplemented: ['ListMetricDescriptors', 'ListPodSandboxMetrics']} as const;
  const LABELS = ['container', 'id', 'image', 'name', 'namespace', 'pod'];

  test('have the names and labels that dashboards use', async () => {
    const families = await scrape(await startServerTestbed({runtime: unimplemented}), '/metrics/cadvisor');
    const labels = families.map(({name, samples: [sample]}) => [name, Object.keys(sample?.labels ?? {})]);
    const own = Object.fromEntries(
      labels.map(([name, keys]) => [name, (keys as string[]).filter((key) => !LABELS.includes(key))]),
    ) as object;
    const machine = ['boot_id', 'machine_id', 'system_uuid'];
    expect(own).toMatchObject({
      container_cpu_usage_seconds_total: ['cpu'],
      container_fs_inodes_used: ['device'],
      container_fs_usage_bytes: ['device'],
      container_memory_failures_total: ['failure_type', 'scope'],
      container_memory_rss: [],
      container_memory_swap: [],
      container_memory_usage_bytes: [],
      container_memory_working_set_bytes: [],
      container_network_receive_bytes_total: ['interface'],
      container_network_receive_errors_total: ['interface'],
      container_network_transmit_bytes_total: ['interface'],
      container_network_transmit_errors_total: ['interface'],
      container_processes: [],
      container_start_time_seconds: [],
      machine_cpu_cores: machine,
      machine_memory_bytes: machine,
      machine_swap_bytes: machine,
    });
    // cAdvisor's number of inodes is a gauge.
    const counted = families.filter(({name}) => name !== 'container_fs_inodes_total');
    expect(counted.every(({type, name}) => (type === 'counter') === name.endsWith('_total'))).toBe(true);
  });

  test('cover the node, pods and containers, with the values of the summary', async () => {
    const testbed = await startServerTestbed({runtime: unimplemented});
    const memory = await samples(testbed, '/metrics/cadvisor', 'container_memory_working_set_bytes');
    const pod = {container: '', id: `/kubepods/besteffort/pod${UID}`, image: '', name: ''};
    const web = {namespace: 'team', pod: 'web'};
    expect(memory.map(({labels}) => labels)).toEqual([
      {...pod, id: '/', namespace: '', pod: ''},
      {...pod, ...web},
      {...web, container: 'main', id: `${pod.id}/main-id`, image: BUSYBOX, name: 'main-id'},
    ]);
    const [{containers: [main] = []} = {}] = (await summary(testbed)).pods as {
      containers?: readonly Record<string, Record<string, unknown>>[];
    }[];
    expect(memory[2]?.value).toBe(main?.['memory']?.['workingSetBytes']);
  });

  test('have the network of a pod at its sandbox', async () => {
    const testbed = await startServerTestbed({runtime: unimplemented});
    const received = await samples(testbed, '/metrics/cadvisor', 'container_network_receive_bytes_total');
    const ofPod = received.filter(({labels}) => labels['pod'] === 'web').map(({labels}) => labels);
    expect(ofPod).toMatchObject([{name: 'sandbox-id', interface: 'eth0', container: ''}]);
  });

  test('of two pods with the same name are two series', async () => {
    const testbed = await startServerTestbed({runtime: unimplemented});
    addOlderPod(testbed);
    const started = await samples(testbed, '/metrics/cadvisor', 'container_memory_rss');
    expect(started.filter(({labels}) => labels['pod'] === 'web')).toHaveLength(4);
  });

  test('with the systemd cgroup driver are labeled with slices and scopes', async () => {
    const cgroup = {version: 2, driver: 'systemd', root: '', swapAccounting: true} as const;
    const node = {
      nodeName: 'node-1',
      rootDir: '/nonexistent',
      podLogsDir: '/nonexistent',
      cgroup,
      cgroupMount: undefined,
    };
    const testbed = await startServerTestbed({runtime: unimplemented, options: {node}});
    const memory = await samples(testbed, '/metrics/cadvisor', 'container_memory_rss');
    const slice = 'kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-poduid_of_web.slice';
    expect(memory.map(({labels: {id}}) => id)).toEqual([
      '/',
      `/${slice}`,
      `/${slice}/cri-containerd-main-id.scope`,
    ]);
  });

  test('are computed once for concurrent requests', async () => {
    const testbed = await startServerTestbed({runtime: unimplemented});
    const answers = await Promise.all(
      Array.from({length: 20}, async () => testbed.request('/metrics/cadvisor')),
    );
    expect(new Set(answers.map(({status}) => status))).toEqual(new Set([200]));
    expect(testbed.runtime.callsTo('ListContainerStats').length).toBeLessThan(5);
  });
});

test("the runtime's own metrics come with those of the machine", async () => {
  const families = await scrape(await startServerTestbed(), '/metrics/cadvisor');
  const names = families.map(({name}) => name);
  expect(names).toContain('machine_memory_bytes');
  expect(names).not.toContain('container_fs_usage_bytes');
});

describe('stats summary', () => {
  test('the node has the stats of its kernel', async () => {
    const {node} = await summary(await startServerTestbed());
    expect(node).toMatchObject({
      memory: {pageFaults: expect.any(Number) as number, rssBytes: expect.any(Number) as number},
      network: {interfaces: expect.any(Array) as unknown[]},
      rlimit: {maxpid: expect.any(Number) as number, curproc: expect.any(Number) as number},
      runtime: {imageFs: {}, containerFs: {}},
      swap: {},
    });
  });

  test('the node has a CPU rate from the second request on', async () => {
    let now = Date.now();
    const clock = {...systemClock, now: () => now, monotonic: () => now};
    const testbed = await startServerTestbed({options: {clock}});
    expect((await summary(testbed)).node['cpu']).not.toHaveProperty('usageNanoCores');
    now += 10_000;
    await until(async () => Number((await summary(testbed)).node['cpu']?.['usageNanoCores']) >= 0);
  });

  test('containers have the usage of their writable layer and logs', async () => {
    const testbed = await startServerTestbed();
    const directory = join(testbed.directory, `team_web_${UID}`, 'main');
    await mkdir(directory, {recursive: true});
    await writeFile(join(directory, '0.log'), 'x'.repeat(10_000));
    const [container] = (await summary(testbed)).pods[0]?.containers ?? [];
    expect(container?.['rootfs']).toMatchObject({usedBytes: 65_536, inodesUsed: 12});
    expect(container?.['logs']).toMatchObject({capacityBytes: expect.any(Number) as number});
    expect(container?.['logs']?.['usedBytes']).toBeGreaterThanOrEqual(10_000);
    const [few] = (await summary(testbed, '?only_cpu_and_memory=true')).pods;
    expect(few?.containers[0]).not.toHaveProperty('logs');
    expect(few).toHaveProperty('swap');
  });

  test('logs of pods of other clients are not read, whatever the names of the pods', async () => {
    const testbed = await startServerTestbed();
    const sandbox = aSandbox({id: 'other', name: '../../managers', namespace: '..', uid: '../../etc'});
    testbed.runtime.state.addContainer(aContainer({id: 'other-main', name: 'apt', sandbox}));
    const unknown = (): never => {
      throw new Error('unknown');
    };
    testbed.kubelet.runtimeStatus = unknown;
    const {pods} = await summary(testbed);
    expect(pods).toHaveLength(2);
    for (const {containers} of pods) expect(containers[0]).not.toHaveProperty('logs');
  });

  test('pods have a process count and network stats', async () => {
    const [pod] = (await summary(await startServerTestbed())).pods;
    expect(pod).toMatchObject({process_stats: {process_count: 2}, network: {name: 'eth0', rxBytes: 1000}});
  });

  test('a pod with several sandboxes has the usage of the newest', async () => {
    const testbed = await startServerTestbed();
    const newer = aSandbox({id: 'a', name: 'web', namespace: 'team', uid: UID, attempt: 1});
    testbed.runtime.state.addSandbox(newer);
    expect((await summary(testbed)).pods[0]?.['process_stats']).toEqual({process_count: 1});
  });

  test('pressure stall information is included if available', () => {
    const data = {Total: 5n, Avg10: 0.5, Avg60: 0.25, Avg300: 0};
    const some = {total: 5n, avg10: 0.5, avg60: 0.25, avg300: 0};
    const none = {total: 0n, avg10: 0, avg60: 0, avg300: 0};
    const time = '1970-01-01T00:00:00Z';
    expect(ioStats({timestamp: 0n, psi: {Some: data}})).toEqual({time, psi: {some, full: none}});
    expect(ioStats({timestamp: 0n})).toEqual({time});
    expect(cpuStats({timestamp: 0n, psi: {Some: data, Full: data}})).toEqual({
      time,
      psi: {some, full: some},
    });
  });
});

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
    const packets = await samples(testbed, '/metrics/cadvisor', 'container_network_receive_packets_total');
    const ofPods = packets.filter(({labels}) => labels['id'] !== '/');
    expect(ofPods.every(({labels}) => labels['pod'] === 'web' && labels['name'] === 'sandbox-id')).toBe(true);
    const bytes = await samples(testbed, '/metrics/cadvisor', 'container_network_receive_bytes_total');
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

test('a pod has its ephemeral storage: layers, logs, volumes on disk and its hosts file', async () => {
  const testbed = await startServerTestbed();
  const own = join(testbed.directory, 'pods', UID);
  const volumes = join(own, 'volumes');
  const [pod] = testbed.kubelet.pods();
  const spec = {
    ...pod!.spec,
    volumes: [
      {name: 'data', emptyDir: {}},
      {name: 'memory', emptyDir: {medium: 'Memory'}},
      {name: 'settings', configMap: {name: 'settings'}},
      {name: 'host', hostPath: {path: '/etc'}},
      {name: 'missing', emptyDir: {}},
    ],
  };
  testbed.kubelet.pods = () => [{...pod!, spec}];
  const logs = join(testbed.directory, `team_web_${UID}`);
  for (const path of [
    join(volumes, 'kubernetes.io~empty-dir/data/file'),
    join(volumes, 'kubernetes.io~empty-dir/memory/file'),
    join(volumes, 'kubernetes.io~configmap/settings/file'),
    join(logs, 'main/0.log'),
    join(own, 'etc-hosts'),
  ]) {
    await mkdir(join(path, '..'), {recursive: true});
    await writeFile(path, 'x'.repeat(8192));
  }
  const [measured] = (await summary(testbed)).pods;
  const measuredVolumes = measured?.['volume'] as readonly {
    name: string;
    usedBytes: number;
    inodesUsed: number;
  }[];
  expect(measuredVolumes.map(({name}) => name)).toEqual(['data', 'memory', 'settings']);
  expect(measuredVolumes[0]).toMatchObject({inodesUsed: 2, capacityBytes: expect.any(Number) as number});
  const [data, , settings] = measuredVolumes;
  const storage = measured?.['ephemeral-storage'] as {usedBytes: number; inodesUsed: number};
  expect(storage).toMatchObject({availableBytes: expect.any(Number) as number});
  // The writable layer is that of the fake runtime.
  expect(storage.usedBytes).toBe(65_536 + 8192 + 8192 + data!.usedBytes + settings!.usedBytes);
  expect(storage.inodesUsed).toBe(12 + 1 + 1 + 2 + 2);
  const [few] = (await summary(testbed, '?only_cpu_and_memory=true')).pods;
  expect(few).not.toHaveProperty('ephemeral-storage');
});

test('volumes are measured again after a minute', async () => {
  let now = Date.now();
  const clock = {...systemClock, now: () => now, monotonic: () => now};
  const testbed = await startServerTestbed({options: {clock}});
  const [pod] = testbed.kubelet.pods();
  testbed.kubelet.pods = () => [{...pod!, spec: {...pod!.spec, volumes: [{name: 'data', emptyDir: {}}]}}];
  const directory = join(testbed.directory, 'pods', UID, 'volumes/kubernetes.io~empty-dir/data');
  const inodes = async (): Promise<unknown> =>
    ((await summary(testbed)).pods[0]!['volume'] as readonly {inodesUsed: number}[])[0]?.inodesUsed;
  await mkdir(directory, {recursive: true});
  expect(await inodes()).toBe(1);
  await writeFile(join(directory, 'file'), '');
  now += 59_000;
  expect(await inodes()).toBe(1);
  now += 2000;
  expect(await inodes()).toBe(2);
});

test('without swap in the stats of the runtime, containers and pods use none, as in a kubelet', async () => {
  const testbed = await startServerTestbed();
  for (const name of ['container_swap_usage_bytes', 'container_swap_limit_bytes', 'pod_swap_usage_bytes'])
    expect(await samples(testbed, '/metrics/resource', name)).toMatchObject([
      {value: 0, labels: {pod: 'web'}},
    ]);
  const [pod] = (await summary(testbed)).pods;
  expect(pod).toMatchObject({swap: {swapUsageBytes: 0}});
  expect(pod?.containers[0]).toMatchObject({swap: {swapUsageBytes: 0, swapAvailableBytes: 0}});
});
