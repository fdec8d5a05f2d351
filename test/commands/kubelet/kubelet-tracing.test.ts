import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {systemClock, type Clock} from '../../../src/base/clock.js';
import {timeBudget} from '../../base/time-budget.js';
import {until} from '../../base/until.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {startHostileCollector} from '../../cli/diagnostics/hostile-collector.js';
import {OtlpReceiver} from '../../cli/diagnostics/otlp-receiver.js';
import {runKcri} from '../../cli/run-kcri.js';
import {realTimeClock} from '../../fakes/fake-clock.js';
import {aManifest} from '../command-testbed.js';
import {startKubelet, type KubeletTestbed} from './kubelet-testbed.js';

/** The machine's clock, on which a kubelet that ends waits long for its last traces. */
const PATIENT_CLOCK = realTimeClock({sleepMs: (ms) => (ms === 2000 ? timeBudget(300_000) : ms)});

/** Starts a kubelet that sends its traces to the endpoint, with a pod that runs. */
async function startTraced(
  endpoint: string,
  perMillion: number,
  clock: Clock = PATIENT_CLOCK,
): Promise<KubeletTestbed> {
  const config = join(await temporaryDirectory(), 'kubelet.yaml');
  const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
  await writeFile(
    config,
    `${head}tracing: {endpoint: "${endpoint}", samplingRatePerMillion: ${perMillion}}\n`,
  );
  const kubelet = await startKubelet({flags: ['--config', config], clock});
  await kubelet.writeManifest('web.json', aManifest({}));
  const {runtime} = kubelet.testbed;
  await until(() => runtime.callsTo('StartContainer').length === 1);
  return kubelet;
}

test('the kubelet traces syncs with the calls of the runtime, which get their spans', async () => {
  await using receiver = await OtlpReceiver.start();
  const kubelet = await startTraced(receiver.endpoint, 1_000_000);
  await until(async () => (await kubelet.run(['get', 'pods'])).stdout.includes('1/1'));
  await kubelet.stop();
  const {spans, resource} = receiver;
  expect(resource).toMatchObject({'service.name': 'kubelet'});
  const run = spans.find(({name}) => name === 'runtime.v1.RuntimeService/RunPodSandbox');
  const sync = spans.find(({spanId}) => spanId === run?.parentSpanId);
  expect(sync).toMatchObject({
    name: 'syncPod',
    parentSpanId: '',
    attributes: {
      'k8s.pod': 'default/web-n1',
      'k8s.pod.name': 'web-n1',
      'k8s.namespace.name': 'default',
      'k8s.pod.update_type': 'create',
    },
  });
  const ofSync = spans.filter(({parentSpanId}) => parentSpanId === sync?.spanId).map(({name}) => name);
  expect(ofSync).toEqual(
    expect.arrayContaining([
      'runtime.v1.RuntimeService/CreateContainer',
      'runtime.v1.RuntimeService/StartContainer',
      'runtime.v1.ImageService/ImageStatus',
    ]),
  );
  const [call] = kubelet.testbed.runtime.callsTo('RunPodSandbox');
  expect(call?.metadata).toMatchObject({traceparent: `00-${run?.traceId ?? ''}-${run?.spanId ?? ''}-01`});
});

test('without a sampling rate nothing is traced', async () => {
  await using receiver = await OtlpReceiver.start();
  const kubelet = await startTraced(receiver.endpoint, 0);
  await kubelet.stop();
  expect(receiver.spans).toEqual([]);
  expect(kubelet.testbed.runtime.callsTo('RunPodSandbox')[0]?.metadata).not.toHaveProperty('traceparent');
});

test('a collector that never answers stalls neither pods nor the end of the kubelet', async () => {
  await using collector = await startHostileCollector({request: () => undefined});
  const kubelet = await startTraced(collector.endpoint, 1_000_000, systemClock);
  expect(await kubelet.stop()).toMatchObject({exitCode: 0});
});

test('a missing collector is logged', async () => {
  const kubelet = await startTraced('127.0.0.1:1', 1_000_000);
  expect(await kubelet.stop()).toMatchObject({exitCode: 0});
  expect(kubelet.log().match(/Failed to send traces/g)).toHaveLength(1);
});

test.each([
  ['endpoint: "http://x:1"', 'tracing.endpoint has the unsupported scheme "http"'],
  ['samplingRatePerMillion: -1', 'tracing.samplingRatePerMillion -1 must be between 0 and 1000000'],
])('tracing with %s is rejected', async (text, message) => {
  const config = join(await temporaryDirectory(), 'kubelet.yaml');
  const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
  await writeFile(config, `${head}tracing:\n  ${text}\n`);
  const {stderr, exitCode} = await runKcri(['kubelet', '--config', config]);
  expect(stderr).toContain(message);
  expect(exitCode).not.toBe(0);
});
