import {readFile, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {containerId} from '../../../src/cri/index.js';
import {until} from '../../base/until.js';
import {parseScrape, type ParsedFamily} from '../../kubelet/managers/metrics/parse-exposition.js';
import {startKubeletTestbed, type KubeletTestbed, type ServingDaemon} from '../harness/kubelet-testbed.js';
import {aManifest, IMAGE, type ManifestFields} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const NODE = 'metrics-node';
const WEB = `metrics-web-${NODE}`;
const ENDPOINTS = ['/metrics', '/metrics/probes', '/metrics/resource', '/metrics/cadvisor', '/metrics/slis'];

const pod = (name: string, spec: ManifestFields): string =>
  aManifest(name, {hostNetwork: true, terminationGracePeriodSeconds: 0, ...spec});
const sleep = {image: IMAGE, command: ['sleep', '3600']};
const probe = {exec: {command: ['true']}, periodSeconds: 1, timeoutSeconds: 60};

describe.each(newestRuntime)('metrics of kcri kubelet: $name', (which) => {
  let kubelet: KubeletTestbed;
  let daemon: ServingDaemon;

  beforeAll(async () => {
    kubelet = await startKubeletTestbed(which, NODE);
    daemon = await kubelet.start();
  });
  afterAll(() => kubelet[Symbol.asyncDispose]());

  async function scrape(path: string): Promise<readonly ParsedFamily[]> {
    const response = await fetch(`${daemon.urls.readOnly}${path}`);
    const {status, headers} = response;
    return parseScrape({status, headers: Object.fromEntries(headers), body: await response.text()});
  }

  /** Returns the sum of the series with these labels; 0 without any. */
  async function value(
    name: string,
    labels: Readonly<Record<string, string>> = {},
    path = '/metrics',
  ): Promise<number> {
    return (await scrape(path))
      .flatMap(({samples}) => samples)
      .filter((sample) => sample.name === name)
      .filter((sample) => Object.entries(labels).every(([label, text]) => sample.labels[label] === text))
      .reduce((sum, sample) => sum + sample.value, 0);
  }

  const started = async (type = 'container'): Promise<number> =>
    await value('kubelet_started_containers_total', {container_type: type});
  const operations = async (type: string, kind = ''): Promise<number> =>
    await value(`kubelet_runtime_operations_${kind}total`, {operation_type: type});

  /** Returns the number of containers in a state, as reported by the runtime. */
  async function inRuntime(state: string): Promise<number> {
    const {containers} = await kubelet.podTestbed.runtime.connection.runtime.listContainers();
    return containers.filter((container) => container.state === state).length;
  }

  test('are served, and zero without pods', async () => {
    for (const path of ENDPOINTS) await scrape(path);
    expect(await value('kubelet_node_name', {node: NODE})).toBe(1);
    expect(await value('kubelet_running_pods')).toBe(0);
    expect(await value('kubelet_started_pods_total')).toBe(0);
    expect(await value('resource_scrape_error', {}, '/metrics/resource')).toBe(0);
    await until(async () => (await value('kubelet_pleg_relist_duration_seconds_count')) > 0);
  });

  test('count the start of a pod, its containers, calls and probes', async () => {
    const init = {...sleep, name: 'init', command: ['true']};
    const main = {...sleep, name: 'main', livenessProbe: probe};
    await kubelet.put('metrics-web', pod('metrics-web', {initContainers: [init], containers: [main]}));
    const labels = {probe_type: 'Liveness', result: 'successful', container: 'main', pod: WEB};
    await until(async () => (await value('prober_probe_total', labels, '/metrics/probes')) > 1);

    expect(await value('kubelet_running_pods')).toBe(1);
    expect(await value('kubelet_desired_pods', {static: 'true'})).toBe(1);
    expect(await value('kubelet_working_pods', {lifecycle: 'sync', config: 'desired'})).toBe(1);
    expect(await value('kubelet_started_pods_total')).toBe(1);
    expect([await started(), await started('init_container')]).toEqual([1, 1]);
    await until(async () => (await value('kubelet_pod_start_duration_seconds_count')) === 1);
    expect(await value('kubelet_pod_start_duration_seconds_sum')).toBeGreaterThan(0.01);
    expect(await value('kubelet_containers_per_pod_count_sum')).toBe(1);
    expect(await value('kubelet_pod_worker_duration_seconds_count', {operation_type: 'create'})).toBe(1);
    expect(await operations('run_podsandbox')).toBe(1);
    expect(await operations('create_container')).toBe(2);
    expect(await operations('create_container', 'errors_')).toBe(0);
    const present = {pull_policy: 'ifnotpresent', present_locally: 'true', pull_required: 'false'};
    expect(await value('kubelet_image_manager_ensure_image_requests_total', present)).toBe(2);
  });

  test('report resource usage', async () => {
    const labels = {container: 'main', pod: WEB, namespace: 'default'};
    const memory = async () => await value('container_memory_working_set_bytes', labels, '/metrics/resource');
    await until(async () => (await memory()) > 0);
    expect(await value('container_cpu_usage_seconds_total', labels, '/metrics/resource')).toBeGreaterThan(0);
    expect(await value('container_start_time_seconds', labels, '/metrics/resource')).toBeGreaterThan(1e9);
    expect(await value('pod_memory_working_set_bytes', {pod: WEB}, '/metrics/resource')).toBeGreaterThan(0);
    const response = await fetch(`${daemon.urls.readOnly}/stats/summary`);
    expect(await response.json()).toMatchObject({
      node: {
        ...{nodeName: NODE, cpu: {usageNanoCores: expect.any(Number) as number}, rlimit: {}, network: {}},
        systemContainers: expect.arrayContaining([
          expect.objectContaining({name: 'pods', memory: expect.any(Object) as object}),
        ]) as unknown[],
      },
      pods: [
        {
          ...{podRef: {name: WEB}, containers: [{name: 'main', logs: {}, rootfs: {}}], cpu: {}, memory: {}},
          'ephemeral-storage': {usedBytes: expect.any(Number) as number},
        },
      ],
    });
  });

  test("have cAdvisor's names and the paths of cgroups", async () => {
    const labels = {container: 'main', pod: WEB, namespace: 'default'};
    const of = async (name: string): Promise<number> => await value(name, labels, '/metrics/cadvisor');
    const names = ['cpu_usage_seconds_total', 'memory_working_set_bytes', 'start_time_seconds'];
    for (const name of [...names, 'spec_cpu_shares', 'spec_cpu_period', 'last_seen', 'threads'])
      expect(await of(`container_${name}`), name).toBeGreaterThan(0);
    expect(await value('machine_memory_bytes', {}, '/metrics/cadvisor')).toBeGreaterThan(1e6);
    const usage = (await scrape('/metrics/cadvisor')).find(
      ({name}) => name === 'container_memory_usage_bytes',
    );
    const all = usage?.samples.find(({labels: {id = ''}}) => /kubepods(\.slice)?$/.test(id))?.labels ?? {};
    const limit = await value('container_spec_memory_limit_bytes', all, '/metrics/cadvisor');
    expect(limit).toBe(await value('machine_memory_bytes', {}, '/metrics/cadvisor'));
    const main = usage?.samples.find((sample) => sample.labels['container'] === 'main');
    const pid = await kubelet.podTestbed.pidOf(containerId(main?.labels['name'] ?? ''));
    expect(await readFile(`/proc/${pid}/cgroup`, 'utf8')).toContain(main?.labels['id']);
  });

  test('count a restarted container, and one that cannot start', async () => {
    const {containers} = await kubelet.podTestbed.pod(WEB);
    const main = containers.find(({state}) => state === 'CONTAINER_RUNNING');
    process.kill(await kubelet.podTestbed.pidOf(main!.id), 'SIGKILL');
    await until(async () => (await started()) === 2);
    const bad = {...sleep, name: 'bad', command: ['/nosuch']};
    await kubelet.put('metrics-bad', pod('metrics-bad', {restartPolicy: 'Never', containers: [bad]}));
    await until(async () => (await operations('start_container', 'errors_')) === 1);
    expect(await value('kubelet_started_containers_errors_total', {code: 'RunContainerError'})).toBe(1);
    for (const [state, called] of [
      ['CONTAINER_RUNNING', 'running'],
      ['CONTAINER_EXITED', 'exited'],
    ] as const)
      await until(
        async () =>
          (await value('kubelet_running_containers', {container_state: called})) === (await inRuntime(state)),
      );
    expect(await value('kubelet_pod_start_duration_seconds_count')).toBe(1);
    // containerd has events from 1.7 on.
    const hasEvents = !which.name.startsWith('containerd 1.6');
    const connections = hasEvents ? 'success' : 'error';
    await until(async () => (await value(`kubelet_evented_pleg_connection_${connections}_count`)) > 0);
    expect((await value('kubelet_evented_pleg_connection_latency_seconds_count')) > 0).toBe(hasEvents);
  });

  test('restart with a new daemon, and exclude starts before it', async () => {
    daemon.kcri.kill('SIGTERM');
    await daemon.kcri.exited;
    daemon = await kubelet.start();
    const successful = {result: 'successful', pod: WEB};
    await until(async () => (await value('prober_probe_total', successful, '/metrics/probes')) > 0);
    expect(await value('kubelet_running_pods')).toBeGreaterThan(0);
    expect(await value('kubelet_desired_pods')).toBe(2);
    expect(await value('kubelet_started_pods_total')).toBe(0);
    expect(await value('kubelet_pod_start_duration_seconds_count')).toBe(0);
    expect(await operations('run_podsandbox')).toBe(0);
  });

  test('contain no removed pods', async () => {
    for (const name of ['metrics-web', 'metrics-bad'])
      await rm(join(kubelet.podTestbed.runtime.rootDir, 'manifests', `${name}.json`));
    await until(async () => (await value('kubelet_working_pods')) === 0);
    expect(await value('kubelet_running_pods')).toBe(0);
    const left = async (): Promise<readonly string[]> => {
      const families = await Promise.all(ENDPOINTS.map((path) => scrape(path)));
      const labels = families.flat().flatMap(({samples}) => samples.map((sample) => sample.labels));
      return labels.map((each) => JSON.stringify(each)).filter((each) => each.includes(WEB));
    };
    await until(async () => (await left()).length === 0);
  });
});
