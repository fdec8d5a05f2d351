import {expect, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {KubeletMetricsRegistry} from '../../../../src/kubelet/managers/metrics/kubelet-metrics-registry.js';
import {CSI_DRIVER} from '../../../fakes/plugins/fake-csi-driver.js';
import {parseExposition} from '../../managers/metrics/parse-exposition.js';
import {startCsiTestbed} from './csi-testbed.js';

test('the calls of a driver are timed by method and code, and the operations on its volumes by their result', async () => {
  const metrics = new KubeletMetricsRegistry(systemClock, 'node');
  await using testbed = await startCsiTestbed({metrics});
  const {cluster} = testbed;
  const driver = await testbed.plug();
  driver.fail('NodeStageVolume', 'UNAVAILABLE', 'not yet');
  testbed.createPod('p', {securityContext: {fsGroup: 4000}});
  await cluster.untilPhase('p', 'Running');
  cluster.api.deletePod('p');
  await cluster.untilDeleted('p');
  await cluster.daemon.until('it is unstaged', () => testbed.staged().length === 0);
  const samples = parseExposition(await metrics.metricsText([]));
  const countsOf = (name: string): Readonly<Record<string, number>> =>
    Object.fromEntries(
      samples
        .filter(
          (sample) =>
            sample.name === `${name}_count` && Object.values(sample.labels).join().includes(CSI_DRIVER),
        )
        .map(({labels, value}) => [Object.values(labels).toSorted().join(' '), value]),
    );
  const call = (method: string, code = 'OK'): string =>
    [CSI_DRIVER, `/csi.v1.Node/${method}`, code, 'false'].toSorted().join(' ');
  expect(countsOf('csi_operations_seconds')).toEqual({
    [call('NodeGetInfo')]: 1,
    [call('NodeGetCapabilities')]: 4,
    [call('NodeStageVolume', 'Unavailable')]: 1,
    [call('NodeStageVolume')]: 1,
    [call('NodePublishVolume')]: 1,
    [call('NodeUnpublishVolume')]: 1,
    [call('NodeUnstageVolume')]: 1,
  });
  const operation = (name: string, status = 'success'): string =>
    [`kubernetes.io/csi:${CSI_DRIVER}`, name, status, 'false'].toSorted().join(' ');
  expect(countsOf('storage_operation_duration_seconds')).toEqual({
    [operation('volume_mount', 'fail-unknown')]: 1,
    [operation('volume_mount')]: 1,
    [operation('volume_apply_access_control')]: 1,
    [operation('volume_unmount')]: 1,
    [operation('unmount_device')]: 1,
  });
});

/** Counts of the samples of a histogram, by the values of their labels: plugin, operation, status and whether it is migrated. */
async function countsIn(metrics: KubeletMetricsRegistry, name: string): Promise<ReadonlyMap<string, number>> {
  const samples = parseExposition(await metrics.metricsText([])).filter(
    (sample) => sample.name === `${name}_count`,
  );
  return new Map(
    samples.map(({labels, value}) => [LABELS.flatMap((label) => labels[label] ?? []).join(' '), value]),
  );
}

const LABELS = ['volume_plugin', 'plugin_name', 'operation_name', 'status', 'migrated'] as const;
const OPERATIONS = 'storage_operation_duration_seconds';
const TOTALS = 'volume_operation_total_seconds';

test('volumes without a driver are timed as in a kubelet, with their groups and until they are unmounted', async () => {
  const metrics = new KubeletMetricsRegistry(systemClock, 'node');
  await using testbed = await startCsiTestbed({metrics});
  const {cluster} = testbed;
  testbed.createPod('p', {
    ...{securityContext: {fsGroup: 4000}, volumes: [{name: 'v', emptyDir: {}}]},
    automountServiceAccountToken: false,
  });
  await cluster.untilPhase('p', 'Running');
  cluster.api.deletePod('p');
  await cluster.untilDeleted('p');
  const plugin = 'kubernetes.io/empty-dir';
  const counts = await countsIn(metrics, OPERATIONS);
  expect([...counts].filter(([labels]) => labels.startsWith(plugin)).toSorted()).toEqual([
    [`${plugin} volume_apply_access_control success false`, 1],
    [`${plugin} volume_mount success false`, 1],
    [`${plugin} volume_unmount success false`, 1],
  ]);
  expect((await countsIn(metrics, TOTALS)).get(`${plugin} overall_volume_mount`)).toBe(1);
});

test('the total time of a mount has its failed attempts, and their delays', async () => {
  const metrics = new KubeletMetricsRegistry(systemClock, 'node');
  await using testbed = await startCsiTestbed({metrics});
  const driver = await testbed.plug();
  driver.fail('NodeStageVolume', 'UNAVAILABLE', 'not yet', 3);
  testbed.createPod('p');
  await testbed.cluster.untilPhase('p', 'Running');
  const sums = parseExposition(await metrics.metricsText([])).filter(
    ({name, labels}) =>
      name === `${TOTALS}_sum` && labels['plugin_name'] === `kubernetes.io/csi:${CSI_DRIVER}`,
  );
  // 0.5 s, 1 s and 2 s between the attempts.
  expect(sums).toMatchObject([{labels: {operation_name: 'overall_volume_mount'}}]);
  expect(sums[0]?.value).toBeGreaterThanOrEqual(3.5);
});

test('a volume of a kind that a driver replaced is reported as migrated', async () => {
  const name = 'disk.csi.azure.com';
  const metrics = new KubeletMetricsRegistry(systemClock, 'node');
  await using testbed = await startCsiTestbed({
    metrics,
    prepare: (api) => {
      api.create(`/apis/storage.k8s.io/v1/csidrivers/${name}`, {spec: {attachRequired: false}});
    },
  });
  await testbed.plug({name});
  const azureDisk = {diskName: 'd1', diskURI: '/subscriptions/s1/disks/d1', kind: 'Managed'};
  testbed.createPod('p', {volumes: [{name: 'v', azureDisk}]});
  await testbed.cluster.untilPhase('p', 'Running');
  testbed.cluster.api.deletePod('p');
  await testbed.cluster.untilDeleted('p');
  const plugin = `kubernetes.io/csi:${name}`;
  const counted = async () =>
    [...(await countsIn(metrics, OPERATIONS))].filter(([labels]) => labels.startsWith(plugin)).toSorted();
  await testbed.cluster.daemon.until('its unstaging is timed', async () =>
    (await counted()).some(([labels]) => labels.includes('unmount_device')),
  );
  expect(await counted()).toEqual([
    [`${plugin} unmount_device success true`, 1],
    [`${plugin} volume_apply_access_control success false`, 1],
    [`${plugin} volume_mount success true`, 1],
    [`${plugin} volume_unmount success true`, 1],
  ]);
  // As in a kubelet, only calls that mount are marked: it does not know the kind of what is unpublished.
  const calls = parseExposition(await metrics.metricsText([])).filter(
    (sample) => sample.name === 'csi_operations_seconds_count',
  );
  const migrated = calls.flatMap(({labels}) =>
    labels['migrated'] === 'true' ? [labels['method_name']?.replace('/csi.v1.Node/', '')] : [],
  );
  expect(migrated.toSorted()).toEqual(['NodeGetCapabilities', 'NodePublishVolume', 'NodeStageVolume']);
});
