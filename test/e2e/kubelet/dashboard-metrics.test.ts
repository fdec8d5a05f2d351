import {rm} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {until} from '../../base/until.js';
import {DASHBOARD_METRICS} from '../../kubelet/managers/metrics/dashboard-metrics.js';
import {
  parseScrape,
  type ParsedFamily,
  type ParsedSample,
} from '../../kubelet/managers/metrics/parse-exposition.js';
import {startKubeletTestbed, type KubeletTestbed, type ServingDaemon} from '../harness/kubelet-testbed.js';
import {aManifest, IMAGE, shellCommand} from '../harness/manifests.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const NODE = 'dashboard-node';
const WEB = `dashboard-web-${NODE}`;
const CLAIM_BYTES = 64 * 4096;

const MANIFEST = aManifest('dashboard-web', {
  terminationGracePeriodSeconds: 0,
  volumes: [
    {name: 'data', persistentVolumeClaim: {claimName: 'data'}},
    {name: 'scratch', emptyDir: {}},
  ],
  containers: [
    {
      ...{name: 'main', image: IMAGE},
      command: shellCommand(
        `dd if=/dev/zero of=/data/file bs=4096 count=64 conv=fsync; nc -l -p 8000 & sleep 3600`,
      ),
      resources: {limits: {cpu: '200m', memory: '64Mi'}},
      livenessProbe: {exec: {command: ['true']}, periodSeconds: 1, timeoutSeconds: 60},
      volumeMounts: [
        {name: 'data', mountPath: '/data'},
        {name: 'scratch', mountPath: '/scratch'},
      ],
    },
  ],
});

describe.each(newestRuntime)('metrics for dashboards of kcri kubelet: $name', (which) => {
  let kubelet: KubeletTestbed;
  let daemon: ServingDaemon;

  beforeAll(async () => {
    kubelet = await startKubeletTestbed(which, NODE);
    daemon = await kubelet.start();
    await kubelet.put('dashboard-web', MANIFEST);
    const probes = async () => await samplesOf('/metrics/probes', 'prober_probe_total');
    await until(async () => (await probes()).length > 0);
    // The first relist of the PLEG has no interval, and a pod starts once per sync.
    const started = async () => await samplesOf('/metrics', 'kubelet_pod_start_duration_seconds');
    await until(async () => (await started()).some(({name, value}) => name.endsWith('_count') && value > 0));
    await fetch(`${daemon.urls.readOnly}/healthz`);
  });
  afterAll(() => kubelet[Symbol.asyncDispose]());

  async function scrape(path: string): Promise<readonly ParsedFamily[]> {
    const response = await fetch(`${daemon.urls.readOnly}${path}`);
    const {status, headers} = response;
    return parseScrape({status, headers: Object.fromEntries(headers), body: await response.text()});
  }

  async function samplesOf(path: string, name: string): Promise<readonly ParsedSample[]> {
    return (await scrape(path)).find((family) => family.name === name)?.samples ?? [];
  }

  test('exist with their types, labels and sensible values', async () => {
    const scraped = new Map<string, readonly ParsedFamily[]>();
    for (const path of new Set(DASHBOARD_METRICS.map((metric) => metric.path)))
      scraped.set(path, await scrape(path));
    // The kernel has counters of a device once a container of the node has used it.
    const devices = scraped.get('/metrics/cadvisor')?.some(({name}) => name.startsWith('container_blkio'));
    const expected = DASHBOARD_METRICS.filter(
      ({name}) => devices === true || !/^container_(?:blkio|fs_(?:reads|writes))/.test(name),
    );
    const found = expected.map(({path, name, ...wanted}) => {
      const family = scraped.get(path)?.find((each) => each.name === name);
      const [sample] = family?.samples ?? [];
      const labels = Object.keys(sample?.labels ?? {}).filter((label) => label !== 'le');
      const isSensible = family?.samples.every(({value}) => Number.isFinite(value) && value >= 0);
      return {path, name, ...wanted, type: family?.type, labels: labels.toSorted(), isSensible};
    });
    expect(found).toEqual(expected.map((metric) => ({...metric, isSensible: true})));
  });

  test('have the values of the container, its volumes and their operations', async () => {
    const ofMain = async (name: string): Promise<number> =>
      (await samplesOf('/metrics/cadvisor', name)).find(
        ({labels}) => labels['container'] === 'main' && labels['pod'] === WEB,
      )?.value ?? -1;
    await until(async () => (await ofMain('container_sockets')) >= 1);
    expect(await ofMain('container_file_descriptors')).toBeGreaterThan(2);
    expect(await ofMain('container_ulimits_soft')).not.toBe(0);
    expect(await ofMain('container_memory_cache')).toBeGreaterThanOrEqual(0);
    const claim = {namespace: 'default', persistentvolumeclaim: 'data'};
    const [used] = await samplesOf('/metrics', 'kubelet_volume_stats_used_bytes');
    expect(used?.labels).toEqual(claim);
    const [capacity] = await samplesOf('/metrics', 'kubelet_volume_stats_capacity_bytes');
    expect(capacity?.value).toBeGreaterThan(CLAIM_BYTES);
    const volumes = await samplesOf('/metrics', 'volume_manager_total_volumes');
    expect(volumes.map(({labels, value}) => [labels['state'], labels['plugin_name'], value])).toEqual([
      ['actual_state_of_world', 'kcri/claim-directory', 1],
      ['actual_state_of_world', 'kubernetes.io/empty-dir', 1],
      ['desired_state_of_world', 'kcri/claim-directory', 1],
      ['desired_state_of_world', 'kubernetes.io/empty-dir', 1],
    ]);
    const mounts = await samplesOf('/metrics', 'storage_operation_duration_seconds');
    const counted = mounts.filter(({name}) => name.endsWith('_count')).map(({labels}) => labels);
    const mount = {operation_name: 'volume_mount', status: 'success', migrated: 'false'};
    expect(counted).toEqual([
      {...mount, volume_plugin: 'kcri/claim-directory'},
      {...mount, volume_plugin: 'kubernetes.io/empty-dir'},
    ]);
  });

  test('count the removal of the cgroup of a pod', async () => {
    await rm(join(kubelet.podTestbed.runtime.rootDir, 'manifests', 'dashboard-web.json'));
    const removals = async (): Promise<number | undefined> =>
      (await samplesOf('/metrics', 'kubelet_cgroup_manager_duration_seconds')).find(
        ({name, labels}) => name.endsWith('_count') && labels['operation_type'] === 'destroy',
      )?.value;
    await until(async () => (await removals()) === 1);
    expect(await samplesOf('/metrics', 'volume_manager_total_volumes')).toEqual([]);
    expect(await samplesOf('/metrics', 'kubelet_volume_stats_used_bytes')).toEqual([]);
  });
});
