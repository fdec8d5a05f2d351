import {expect, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {KubeletMetricsRegistry} from '../../../../src/kubelet/managers/metrics/kubelet-metrics-registry.js';
import {collectKubeletGauges} from '../../../../src/kubelet/server/stats/kubelet-gauges.js';
import {aContainerSpec, aManifest} from '../../../commands/command-testbed.js';
import {parseExposition} from '../../managers/metrics/parse-exposition.js';
import {DaemonTestbed} from '../daemon-testbed.js';

const manifest = aManifest({
  initContainers: [aContainerSpec('init', {command: ['true']})],
  containers: [
    aContainerSpec('main', {livenessProbe: {exec: {command: ['true']}, periodSeconds: 1}}),
    aContainerSpec('side'),
  ],
});

test('a pod is counted as started once, its containers once per start, and its series are removed with it', async () => {
  const registry = new KubeletMetricsRegistry(systemClock, 'node');
  await using testbed = await DaemonTestbed.start({metrics: registry});
  const value = async (name: string, label = ''): Promise<number> => {
    return parseExposition(await registry.metricsText(collectKubeletGauges(testbed.view)))
      .filter((sample) => sample.name === name && Object.values(sample.labels).join().includes(label))
      .reduce((sum, sample) => sum + sample.value, 0);
  };
  await testbed.put('web.json', manifest);
  await testbed.until('it runs', () => testbed.running.length === 2);
  await testbed.until(
    'its start is measured',
    async () => (await value('kubelet_pod_start_duration_seconds_count')) === 1,
  );
  expect(await value('kubelet_started_pods_total')).toBe(1);
  expect(await value('kubelet_started_containers_total', 'init_container')).toBe(1);
  expect(await value('kubelet_containers_per_pod_count_sum')).toBe(2);
  expect(await value('kubelet_running_containers', 'running')).toBe(2);

  const [main] = testbed.fake.containers.filter(({config}) => config.metadata?.name === 'main');
  testbed.fake.exitContainer(main?.id ?? '', 1);
  await testbed.until('it runs again', () => testbed.running.includes('web-goldennode/main/1'));
  await testbed.until(
    'the dead container is counted',
    async () => (await value('kubelet_running_containers', 'exited')) === 2,
  );
  await testbed.stop();
  testbed.run();
  await testbed.until(
    'all containers are counted again',
    async () => (await value('kubelet_running_containers', 'running')) === 2,
  );
  expect(await value('kubelet_pod_start_duration_seconds_count')).toBe(1);
  expect(await value('kubelet_started_pods_total')).toBe(1);

  await testbed.remove('web.json');
  await testbed.untilAllRemoved();
  expect(await value('kubelet_working_pods')).toBe(0);
  expect(registry.probesText()).not.toContain('web-goldennode');
});
