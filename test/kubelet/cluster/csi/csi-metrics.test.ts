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
