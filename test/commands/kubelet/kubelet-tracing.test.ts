import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {systemClock, type Clock} from '../../../src/base/clock.js';
import {freePorts} from '../../base/free-ports.js';
import {timeBudget} from '../../base/time-budget.js';
import {until} from '../../base/until.js';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {startHostileCollector} from '../../cli/diagnostics/hostile-collector.js';
import {OtlpReceiver} from '../../cli/diagnostics/otlp-receiver.js';
import {runKcri} from '../../cli/run-kcri.js';
import {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import type {FakeRuntimeOptions} from '../../fakes/fake-runtime.js';
import {realTimeClock} from '../../fakes/fake-clock.js';
import {shapesOf} from '../../golden/tracing/span-shapes.js';
import {aManifest} from '../command-testbed.js';
import {startKubelet, type KubeletTestbed} from './kubelet-testbed.js';

/** The machine's clock, on which a kubelet that ends waits long for its last traces. */
const PATIENT_CLOCK = realTimeClock({sleepMs: (ms) => (ms === 2000 ? timeBudget(300_000) : ms)});
const KUBELET_SPANS = new URL('../../golden/tracing/kubelet-spans.json', import.meta.url);
/** Kind of the spans of a server. */
const SERVER = 2;

interface TracedOptions {
  /** Fields of the configuration besides the tracing. */
  readonly config?: readonly string[];
  readonly flags?: readonly string[];
  readonly runtime?: FakeRuntimeOptions;
  readonly clock?: Clock;
}

/** Starts a kubelet that sends its traces to the endpoint, with a manifest. */
async function startTraced(
  endpoint: string,
  perMillion: number,
  {config: fields = [], flags = [], runtime, clock = PATIENT_CLOCK}: TracedOptions = {},
): Promise<KubeletTestbed> {
  const config = join(await temporaryDirectory(), 'kubelet.yaml');
  const lines = [
    ...['apiVersion: kubelet.config.k8s.io/v1beta1', 'kind: KubeletConfiguration'],
    `tracing: {endpoint: "${endpoint}", samplingRatePerMillion: ${perMillion}}`,
  ];
  await writeFile(config, [...lines, ...fields, ''].join('\n'));
  const kubelet = await startKubelet({
    flags: ['--config', config, ...flags],
    clock,
    ...(runtime && {runtime}),
  });
  await kubelet.writeManifest('web.json', aManifest({}));
  return kubelet;
}

/** Starts the same with a pod that runs. */
async function startTracedPod(...args: Parameters<typeof startTraced>): Promise<KubeletTestbed> {
  const kubelet = await startTraced(...args);
  const {runtime} = kubelet.testbed;
  await until(() => runtime.callsTo('StartContainer').length === 1);
  return kubelet;
}

test('the kubelet traces syncs with the calls of the runtime, which get their spans', async () => {
  await using receiver = await OtlpReceiver.start();
  const kubelet = await startTracedPod(receiver.endpoint, 1_000_000);
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
  // A kubelet's calls have no network.peer.address: otelgrpc sends the path of the socket as the server's address.
  expect(run?.attributes).toEqual({
    'rpc.method': 'runtime.v1.RuntimeService/RunPodSandbox',
    'rpc.system.name': 'grpc',
    'rpc.response.status_code': 'OK',
    'server.address': kubelet.testbed.runtime.socketPath,
  });
  const [call] = kubelet.testbed.runtime.callsTo('RunPodSandbox');
  expect(call?.metadata).toMatchObject({traceparent: `00-${run?.traceId ?? ''}-${run?.spanId ?? ''}-01`});
});

test('a sync that fails and requests to the server are traced as by a kubelet', async () => {
  await using receiver = await OtlpReceiver.start();
  const [readOnlyPort = 0] = await freePorts(1);
  const kubelet = await startTraced(receiver.endpoint, 1_000_000, {
    config: ['address: 127.0.0.1', `readOnlyPort: ${readOnlyPort}`],
    runtime: {images: []},
  });
  kubelet.testbed.runtime.injectError('PullImage', {code: 'UNKNOWN', message: 'no such image'});
  await until(() => /Error syncing pod, skipping.*ErrImagePull/.test(kubelet.log()));
  // Another trace is not continued: a kubelet does not do it, either.
  const traceparent = `00-${'a'.repeat(32)}-${'1'.repeat(16)}-01`;
  for (const path of ['/pods', '/healthz', '/exec/default/web-n1/main', '/nope'])
    await fetch(`http://127.0.0.1:${readOnlyPort}${path}`, {headers: {traceparent}});
  await kubelet.stop();
  const {spans} = receiver;
  const failed = spans.find(({name, failed: isFailed}) => name === 'syncPod' && isFailed);
  expect(failed?.message).toMatch(
    /^failed to "StartContainer" for "main" with ErrImagePull: "no such image"$/,
  );
  expect(failed?.exceptions).toMatchObject([{'exception.message': failed?.message}]);
  const pull = spans.find(({name}) => name === 'runtime.v1.ImageService/PullImage');
  expect(pull?.attributes).toEqual({
    'rpc.method': 'runtime.v1.ImageService/PullImage',
    'rpc.system.name': 'grpc',
    'rpc.response.status_code': 'Unknown',
    'server.address': kubelet.testbed.runtime.socketPath,
  });
  const served = spans.filter(({kind}) => kind === SERVER);
  expect(
    served.map(({name, parentSpanId, attributes}) => [
      ...[name, parentSpanId, attributes['http.route'], attributes['http.response.status_code']],
    ]),
  ).toEqual([
    ['/pods/', '', '/pods/', 200],
    ['', '', '/healthz', 200],
    ['', '', '/exec/', 405],
  ]);
  expect(served[0]?.attributes).toMatchObject({
    ...{'server.address': 'kubelet', 'server.port': readOnlyPort, 'client.address': '127.0.0.1'},
    ...{'network.peer.address': '127.0.0.1', 'network.peer.port': expect.any(Number) as number},
    ...{'http.request.method': 'GET', 'url.path': '/pods', 'url.scheme': 'http'},
  });
});

/** Shapes without which traces tell nothing: the work on pods, and in it the calls of the runtime and of the API server. */
const ESSENTIAL =
  /"(syncPod|syncTerminatingPod|HTTP (GET|PATCH|POST))" \| in none \| unset|(RunPodSandbox|CreateContainer|StartContainer)" \| in syncPod \| unset/;

function aKubeconfig(server: string): string {
  return JSON.stringify({
    'current-context': 'x',
    contexts: [{name: 'x', context: {cluster: 'c', user: 'u'}}],
    clusters: [{name: 'c', cluster: {server}}],
    users: [{name: 'u', user: {token: 'secret'}}],
  });
}

/** Shapes that another run of a kubelet has not, for a known reason. */
const OTHER_SHAPES: readonly RegExp[] = [
  // A kubelet has this only with the feature gate EventedPLEG.
  /GetContainerEvents/,
  // A kubelet removes them with its garbage collection, later.
  /(Stop|Remove)PodSandbox" \| in none/,
  // What the end of the kubelet cuts off.
  /"(runtime\.v1\S+|HTTP \w+)" \| in \w+ \| error \|/,
];

test('spans have the shapes of those of a kubelet', async () => {
  const golden = JSON.parse(await readFile(KUBELET_SPANS, 'utf8')) as readonly string[];
  await using receiver = await OtlpReceiver.start();
  await using api = await FakeApiServer.start();
  const kubeconfig = join(await temporaryDirectory(), 'kubeconfig');
  await writeFile(kubeconfig, aKubeconfig(api.url));
  const kubelet = await startTracedPod(receiver.endpoint, 1_000_000, {flags: ['--kubeconfig', kubeconfig]});
  await until(() => api.requests.some(({method, path}) => method === 'POST' && path.endsWith('/pods')));
  await kubelet.removeManifest('web.json');
  await until(() => api.requests.some(({method, path}) => method === 'DELETE' && path.includes('/pods/')));
  await kubelet.stop();
  const shapes = shapesOf(receiver.spans);
  expect(
    shapes.filter((shape) => !golden.includes(shape) && !OTHER_SHAPES.some((one) => one.test(shape))),
  ).toEqual([]);
  expect(shapes).toEqual(expect.arrayContaining(golden.filter((shape) => ESSENTIAL.test(shape))));
  expect(receiver.resource).toEqual({'service.name': 'kubelet', 'host.name': 'n1'});
  // The API server gets the spans.
  const posts = receiver.spans.filter(({name}) => name === 'HTTP POST');
  const sent = api.requests.map(({headers}) => headers['traceparent']);
  expect(sent).toEqual(
    expect.arrayContaining(posts.map(({traceId, spanId}) => `00-${traceId}-${spanId}-01`)),
  );
});

/** Returns the IDs of the traces that were sent with the calls of the runtime, each once, of those with a flag: 01 if sampled. */
function tracesOf({testbed: {runtime}}: KubeletTestbed, flag: '00' | '01'): readonly string[] {
  const parents = runtime.calls.map(({metadata}) => String(metadata['traceparent']));
  const ids = parents.filter((parent) => parent.endsWith(`-${flag}`)).map((parent) => parent.split('-')[1]);
  return [...new Set(ids.filter((id) => id !== undefined))];
}

test('at a rate, the traces are sampled that a kubelet would sample, with all their spans and calls', async () => {
  await using receiver = await OtlpReceiver.start();
  const kubelet = await startTracedPod(receiver.endpoint, 500_000);
  // Each relist is a trace of its own.
  const flags = ['00', '01'] as const;
  await until(() => flags.every((flag) => tracesOf(kubelet, flag).length > 3));
  await kubelet.stop();
  const [others, sampled] = flags.map((flag) => tracesOf(kubelet, flag));
  // The first bit of the last eight bytes decides at one half.
  expect(sampled?.filter((id) => !/^.{16}[0-7]/.test(id))).toEqual([]);
  expect(others?.filter((id) => !/^.{16}[89a-f]/.test(id))).toEqual([]);
  const received = receiver.spans.map(({traceId}) => traceId);
  expect(received).toEqual(expect.arrayContaining([...(sampled ?? [])]));
  expect(others?.filter((id) => received.includes(id))).toEqual([]);
});

test('without a sampling rate no span is sent, and the runtime and the API server do not sample theirs', async () => {
  await using receiver = await OtlpReceiver.start();
  const kubelet = await startTracedPod(receiver.endpoint, 0);
  await kubelet.stop();
  expect(receiver.spans).toEqual([]);
  expect(tracesOf(kubelet, '01')).toEqual([]);
  expect(kubelet.testbed.runtime.callsTo('RunPodSandbox')[0]?.metadata['traceparent']).toMatch(/-00$/);
});

test('without tracing in the configuration the runtime gets no spans', async () => {
  const kubelet = await startKubelet({});
  await kubelet.writeManifest('web.json', aManifest({}));
  const {runtime} = kubelet.testbed;
  await until(() => runtime.callsTo('StartContainer').length === 1);
  await kubelet.stop();
  expect(runtime.callsTo('RunPodSandbox')[0]?.metadata).not.toHaveProperty('traceparent');
});

test('a collector that never answers stalls neither pods nor the end of the kubelet', async () => {
  await using collector = await startHostileCollector({request: () => undefined});
  const kubelet = await startTracedPod(collector.endpoint, 1_000_000, {clock: systemClock});
  expect(await kubelet.stop()).toMatchObject({exitCode: 0});
});

test('a missing collector is logged', async () => {
  const kubelet = await startTracedPod('127.0.0.1:1', 1_000_000);
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
