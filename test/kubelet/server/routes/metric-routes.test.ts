import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {aContainer, aSandbox, BUSYBOX} from '../../../fakes/fake-runtime.js';
import {cpuStats, ioStats} from '../../../../src/kubelet/server/stats/summary-parts.js';
import {systemClock} from '../../../../src/base/clock.js';
import {until} from '../../../base/until.js';
import {parseScrape} from '../../managers/metrics/parse-exposition.js';
import {samples, scrape, summary} from './scrape-testbed.js';
import {requestAt, startServerTestbed, UID, type ServerTestbed} from '../server-testbed.js';

const ENDPOINTS = ['/metrics', '/metrics/probes', '/metrics/resource', '/metrics/cadvisor', '/metrics/slis'];

/** Adds an older pod of the same name to the runtime, as an edited pod leaves behind. */
function addOlderPod({runtime}: ServerTestbed): void {
  const sandbox = aSandbox({id: 'older', name: 'web', namespace: 'team', uid: 'older-uid'});
  runtime.state.addContainer(aContainer({id: 'older-main', name: 'main', sandbox}));
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
