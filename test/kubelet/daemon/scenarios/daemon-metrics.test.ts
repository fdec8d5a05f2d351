import {expect, test} from 'vitest';
import {systemClock} from '../../../../src/base/clock.js';
import {KubeletMetricsRegistry} from '../../../../src/kubelet/managers/metrics/kubelet-metrics-registry.js';
import {collectKubeletGauges} from '../../../../src/kubelet/managers/server/stats/kubelet-gauges.js';
import {aContainerSpec, aManifest} from '../../../commands/pod-scene.js';
import {parseExposition} from '../../managers/metrics/parse-exposition.js';
import {DaemonTestbed} from '../daemon-testbed.js';

const manifest = aManifest({
  initContainers: [aContainerSpec('init', {command: ['true']})],
  containers: [
    aContainerSpec('main', {livenessProbe: {exec: {command: ['true']}, periodSeconds: 1}}),
    aContainerSpec('side'),
  ],
});

test('a pod is counted as started once, its containers each time, and nothing stays of it', async () => {
  const registry = new KubeletMetricsRegistry(systemClock, 'node');
  await using ground = await DaemonTestbed.start({metrics: registry});
  const value = async (name: string, label = ''): Promise<number> => {
    return parseExposition(await registry.metricsText(collectKubeletGauges(ground.view)))
      .filter((sample) => sample.name === name && Object.values(sample.labels).join().includes(label))
      .reduce((sum, sample) => sum + sample.value, 0);
  };
  await ground.put('web.json', manifest);
  await ground.until('it runs', () => ground.running.length === 2);
  await ground.until(
    'it is said to run',
    async () => (await value('kubelet_pod_start_duration_seconds_count')) === 1,
  );
  expect(await value('kubelet_started_pods_total')).toBe(1);
  expect(await value('kubelet_started_containers_total', 'init_container')).toBe(1);
  expect(await value('kubelet_containers_per_pod_count_sum')).toBe(2);
  expect(await value('kubelet_running_containers', 'running')).toBe(2);

  const [main] = ground.fake.containers.filter(({config}) => config.metadata?.name === 'main');
  ground.fake.exitContainer(main?.id ?? '', 1);
  await ground.until('it runs again', () => ground.running.includes('web-goldennode/main/1'));
  await ground.until(
    'the dead one is seen',
    async () => (await value('kubelet_running_containers', 'exited')) === 2,
  );
  await ground.stop();
  ground.run();
  await ground.until(
    'all is seen again',
    async () => (await value('kubelet_running_containers', 'running')) === 2,
  );
  expect(await value('kubelet_pod_start_duration_seconds_count')).toBe(1);
  expect(await value('kubelet_started_pods_total')).toBe(1);

  await ground.remove('web.json');
  await ground.untilNothingIsLeft();
  expect(await value('kubelet_working_pods')).toBe(0);
  expect(registry.probesText()).not.toContain('web-goldennode');
});
