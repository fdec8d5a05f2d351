import {isDeepStrictEqual} from 'node:util';
import {describe, expect, test} from 'vitest';
import type {ProbeMeasurement} from '../../../../src/kubelet/contract/kubelet-metrics.js';
import {formatExposition} from '../../../../src/kubelet/managers/metrics/exposition.js';
import {
  Counter,
  exponentialBuckets,
  Histogram,
} from '../../../../src/kubelet/managers/metrics/metric-types.js';
import {KubeletMetricsRegistry} from '../../../../src/kubelet/managers/metrics/kubelet-metrics-registry.js';
import {ConnectionMetrics} from '../../../../src/kubelet/managers/metrics/connection-metrics.js';
import {parseExposition, type ParsedSample} from './parse-exposition.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

const clock = new FakeClock({nowMs: 5000, sleep: 'instant'});

async function samplesOf(use: (registry: KubeletMetricsRegistry) => void): Promise<readonly ParsedSample[]> {
  const registry = new KubeletMetricsRegistry(clock, 'node-1');
  use(registry);
  return parseExposition(await registry.metricsText([]));
}

function valueOf(
  samples: readonly ParsedSample[],
  name: string,
  labels: Record<string, string> = {},
): unknown {
  return samples.find((sample) => sample.name === name && isDeepStrictEqual(sample.labels, labels))?.value;
}

describe('the exposition format', () => {
  test('escapes labels and help texts', () => {
    const counter = new Counter({name: 'a_total', help: 'back\\slash\nline', labels: ['name']});
    counter.increase('say "hi"\\\n');
    const text = formatExposition([counter.family()]);
    expect(text).toBe(
      '# HELP a_total [ALPHA] back\\\\slash\\nline\n# TYPE a_total counter\na_total{name="say \\"hi\\"\\\\\\n"} 1\n',
    );
    expect(parseExposition(text)).toEqual([{name: 'a_total', labels: {name: 'say "hi"\\\n'}, value: 1}]);
  });

  test('counts an observation in its bucket and in all larger ones', () => {
    const histogram = new Histogram({name: 'h', help: 'h', buckets: [1, 2]});
    for (const value of [0.5, 1, 1.5, 7]) histogram.observe(value);
    const samples = parseExposition(formatExposition([histogram.family()]));
    expect(samples.map(({labels, value}) => [labels['le'], value])).toEqual([
      ['1', 2],
      ['2', 3],
      ['+Inf', 4],
      [undefined, 10],
      [undefined, 4],
    ]);
  });

  test('has exponential buckets like the Prometheus client', () => {
    expect(exponentialBuckets(1, 2, 4)).toEqual([1, 2, 4, 8]);
  });
});

describe('kubelet metrics', () => {
  test('sum up the time of blocked event loops', async () => {
    const name = 'kcri_event_loop_blocked_seconds_total';
    expect(valueOf(await samplesOf(() => undefined), name)).toBe(0);
    const samples = await samplesOf((registry) => {
      registry.eventLoopBlocked(5000);
      registry.eventLoopBlocked(7000);
    });
    expect(valueOf(samples, name)).toBe(12);
  });

  test('are present before anything has been counted', async () => {
    const samples = await samplesOf(() => undefined);
    expect(valueOf(samples, 'kubelet_node_name', {node: 'node-1'})).toBe(1);
    expect(valueOf(samples, 'kubelet_started_pods_total')).toBe(0);
    expect(valueOf(samples, 'kubelet_pleg_discard_events')).toBe(0);
    expect(valueOf(samples, 'process_start_time_seconds')).toBeGreaterThan(1e9);
    expect(valueOf(samples, 'process_open_fds')).toBeGreaterThan(2);
    expect(valueOf(samples, 'nodejs_eventloop_lag_seconds')).toBeGreaterThan(0);
  });

  test('count started pods and containers and their errors', async () => {
    const samples = await samplesOf((registry) => {
      registry.podSynced(
        [
          {action: 'CreatePodSandbox', target: 'web'},
          {action: 'InitContainer', target: 'init'},
          {action: 'StartContainer', target: 'main'},
          {action: 'StartContainer', target: 'b', failure: {reason: 'ErrImagePull', message: ''}},
          {action: 'StartContainer', target: 'c', failure: {reason: 'CrashLoopBackOff', message: ''}},
          {action: 'KillContainer', target: 'd'},
        ],
        false,
      );
      registry.podSynced(
        [{action: 'CreatePodSandbox', target: 'x', failure: {reason: 'CreatePodSandboxError', message: ''}}],
        true,
      );
    });
    expect(valueOf(samples, 'kubelet_started_pods_total')).toBe(2);
    expect(valueOf(samples, 'kubelet_started_pods_errors_total')).toBe(1);
    expect(valueOf(samples, 'kubelet_started_user_namespaced_pods_total')).toBe(1);
    expect(valueOf(samples, 'kubelet_started_user_namespaced_pods_errors_total')).toBe(1);
    const total = 'kubelet_started_containers_total';
    expect(valueOf(samples, total, {container_type: 'init_container'})).toBe(1);
    expect(valueOf(samples, total, {container_type: 'container'})).toBe(2);
    const errors = samples.filter(({name}) => name === 'kubelet_started_containers_errors_total');
    expect(errors).toEqual([
      {
        name: 'kubelet_started_containers_errors_total',
        labels: {container_type: 'container', code: 'ErrImagePull'},
        value: 1,
      },
    ]);
  });

  test('count relists, their intervals, and the events of the event stream', async () => {
    const relistClock = new FakeClock({nowMs: 10_000});
    const registry = new KubeletMetricsRegistry(relistClock, 'n');
    registry.pleg({kind: 'relisted', durationMs: 20});
    relistClock.elapse(1030);
    registry.pleg({kind: 'relisted', durationMs: 30});
    registry.pleg({kind: 'stream-trusted'});
    registry.pleg({kind: 'event-received', delayMs: 40});
    registry.pleg({kind: 'stream-failed', error: new Error('x'), retryMs: 1});
    registry.pleg({kind: 'stream-failed', error: new Error('x'), retryMs: 1});
    const samples = parseExposition(await registry.metricsText([]));
    expect(valueOf(samples, 'kubelet_pleg_relist_duration_seconds_sum')).toBeCloseTo(0.05);
    expect(valueOf(samples, 'kubelet_pleg_relist_interval_seconds_sum')).toBeCloseTo(1.02);
    expect(valueOf(samples, 'kubelet_pleg_relist_interval_seconds_count')).toBe(1);
    expect(valueOf(samples, 'kubelet_pleg_last_seen_seconds')).toBe(11);
    expect(valueOf(samples, 'kubelet_evented_pleg_connection_success_count')).toBe(1);
    expect(valueOf(samples, 'kubelet_evented_pleg_connection_latency_seconds_sum')).toBe(0.04);
    expect(valueOf(samples, 'kubelet_evented_pleg_connection_error_count')).toBe(2);
  });

  test('measure pod workers without negative durations, whatever the clock', async () => {
    const mount = {operation: 'volume_mount', durationMs: 12_000} as const;
    const samples = await samplesOf((registry) => {
      registry.workCompleted('sync', -50);
      registry.workCompleted('create', 2000);
      registry.workerStarted(4990);
      registry.podStarted(3500);
      registry.podRestarted(true);
      registry.orphanedPodsRemoved(3, 1);
      registry.orphanedPodFound();
      registry.podAdded(3);
      registry.podEvicted('emptydirfs.limit');
      registry.evictionStatsUsed('memory.available', 250);
      registry.cgroupManaged('update', 20);
      registry.volumeOperated({plugin: 'kubernetes.io/nfs', ...mount, isSuccessful: false});
    });
    const age = {eviction_signal: 'memory.available'};
    expect(valueOf(samples, 'kubelet_eviction_stats_age_seconds_sum', age)).toBe(0.25);
    const update = {operation_type: 'update'};
    expect(valueOf(samples, 'kubelet_cgroup_manager_duration_seconds_sum', update)).toBe(0.02);
    const failed = {
      ...{volume_plugin: 'kubernetes.io/nfs', operation_name: 'volume_mount'},
      ...{status: 'fail-unknown', migrated: 'false'},
    };
    expect(valueOf(samples, 'storage_operation_duration_seconds_sum', failed)).toBe(12);
    const worker = 'kubelet_pod_worker_duration_seconds_sum';
    expect(valueOf(samples, worker, {operation_type: 'sync'})).toBe(0);
    expect(valueOf(samples, worker, {operation_type: 'create'})).toBe(2);
    expect(valueOf(samples, 'kubelet_pod_worker_start_duration_seconds_sum')).toBe(0.01);
    expect(valueOf(samples, 'kubelet_pod_start_duration_seconds_sum')).toBe(1.5);
    expect(valueOf(samples, 'kubelet_restarted_pods_total', {static: 'true'})).toBe(1);
    expect(valueOf(samples, 'kubelet_orphan_pod_cleaned_volumes')).toBe(3);
    expect(valueOf(samples, 'kubelet_orphan_pod_cleaned_volumes_errors')).toBe(1);
    expect(valueOf(samples, 'kubelet_orphaned_runtime_pods_total')).toBe(1);
    expect(valueOf(samples, 'kubelet_containers_per_pod_count_bucket', {le: '2'})).toBe(0);
    expect(valueOf(samples, 'kubelet_containers_per_pod_count_bucket', {le: '4'})).toBe(1);
    expect(valueOf(samples, 'kubelet_evictions', {eviction_signal: 'emptydirfs.limit'})).toBe(1);
  });

  test('count admissions by the topology manager, and memory of NUMA nodes', async () => {
    const samples = await samplesOf((registry) => {
      registry.topologyAdmitted({durationMs: 2, isFailed: false});
      registry.topologyAdmitted({durationMs: 1, isFailed: true});
      registry.resourcesAligned('pod', true);
      registry.resourcesAligned('container', false);
      registry.memoryPinned(false);
      registry.memoryPinned(true);
    });
    expect(valueOf(samples, 'kubelet_topology_manager_admission_requests_total')).toBe(2);
    expect(valueOf(samples, 'kubelet_topology_manager_admission_errors_total')).toBe(1);
    expect(valueOf(samples, 'kubelet_topology_manager_admission_duration_ms_sum')).toBe(3);
    const [ofPod, ofContainer] = ['pod', 'container'].map((scope) => ({scope, boundary: 'numa_node'}));
    const aligned = 'kubelet_container_aligned_compute_resources';
    expect(valueOf(samples, `${aligned}_failure_count`, ofPod)).toBe(1);
    expect(valueOf(samples, `${aligned}_count`, ofContainer)).toBe(1);
    expect(valueOf(samples, 'kubelet_memory_manager_pinning_requests_total')).toBe(2);
    expect(valueOf(samples, 'kubelet_memory_manager_pinning_errors_total')).toBe(1);
  });

  test('tell how much memory is protected, with memory QoS only', async () => {
    const names = ['min', 'low'].map((kind) => `kubelet_memory_qos_node_memory_${kind}_bytes`);
    const off = await samplesOf(() => undefined);
    expect(off.filter(({name}) => names.includes(name))).toEqual([]);
    const samples = await samplesOf((registry) => {
      registry.memoryProtected({guaranteed: 2n, burstable: 1n});
    });
    expect(names.map((name) => valueOf(samples, name))).toEqual([2, 1]);
  });

  test('count runtime operations under the names of the kubelet', async () => {
    const connections = new ConnectionMetrics(clock);
    const {observer} = connections.operations;
    const call = {service: 'runtime.v1.RuntimeService', endpoint: '', request: {runtimeHandler: 'runc'}};
    const begin = (rpc: string) =>
      observer({...call, method: {rpc} as Parameters<typeof observer>[0]['method']});
    begin('RunPodSandbox').ended?.(new Error('no'));
    begin('ListPodSandbox').ended?.();
    const registry = new KubeletMetricsRegistry(clock, 'n', connections);
    const samples = parseExposition(await registry.metricsText([]));
    const total = 'kubelet_runtime_operations_total';
    expect(valueOf(samples, total, {operation_type: 'run_podsandbox'})).toBe(1);
    expect(valueOf(samples, total, {operation_type: 'list_podsandbox'})).toBe(1);
    const errors = samples.filter(({name}) => name === 'kubelet_runtime_operations_errors_total');
    expect(errors.map(({labels}) => labels)).toEqual([{operation_type: 'run_podsandbox'}]);
    expect(valueOf(samples, 'kubelet_run_podsandbox_errors_total', {runtime_handler: 'runc'})).toBe(1);
  });

  test.each([
    [0n, 'N/A'],
    [1n, '0-10MB'],
    [10n * 2n ** 20n, '10MB-100MB'],
    [2n ** 30n - 1n, '500MB-1GB'],
    [2n ** 30n, '1GB-5GB'],
    [2n ** 40n, 'GT100GB'],
  ])('count a pulled image of %i bytes in the size class %s', async (bytes, size) => {
    const samples = await samplesOf((registry) => {
      registry.imagePulled(bytes, 7000);
    });
    const labels = {image_size_in_bytes: size};
    expect(valueOf(samples, 'kubelet_image_pull_duration_seconds_sum', labels)).toBe(7);
    expect(valueOf(samples, 'kubelet_image_pull_duration_seconds_bucket', {...labels, le: '5'})).toBe(0);
  });

  test('count image requests and removed images', async () => {
    const samples = await samplesOf((registry) => {
      registry.imageEnsured({pullPolicy: 'IfNotPresent', isPresent: true, mustPull: false});
      registry.imageEnsured({pullPolicy: 'Always', isPresent: undefined, mustPull: true});
      registry.imageCollected('space');
    });
    const ensured = samples.filter(({name}) => name === 'kubelet_image_manager_ensure_image_requests_total');
    expect(ensured.map(({labels}) => labels)).toEqual([
      {pull_policy: 'always', present_locally: 'unknown', pull_required: 'true'},
      {pull_policy: 'ifnotpresent', present_locally: 'true', pull_required: 'false'},
    ]);
    expect(valueOf(samples, 'kubelet_image_garbage_collected_total', {reason: 'space'})).toBe(1);
  });

  test('do not grow with the number of pods that come and go', async () => {
    const registry = new KubeletMetricsRegistry(clock, 'n');
    const live = (index: number) => ({name: `web-${index}`, namespace: 'team', uid: `u${index}`});
    const lengths: number[] = [];
    for (let index = 0; index < 200; index += 1) {
      const probe = {probe: 'liveness', result: 'failed', durationMs: 30, container: 'main'} as const;
      registry.probeCompleted({...probe, pod: live(index)});
      registry.podStarted(4000);
      registry.podSynced([{action: 'StartContainer', target: `c${index}`}], false);
      registry.podRemoved(live(index));
      lengths.push(
        (await registry.metricsText([])).split('\n').length + registry.probesText().split('\n').length,
      );
    }
    expect(new Set(lengths).size).toBe(1);
  });

  test('count probes until their pod is removed', () => {
    const registry = new KubeletMetricsRegistry(clock, 'n');
    const pod = {name: 'web', namespace: 'team', uid: 'u1'};
    const probe: ProbeMeasurement = {
      probe: 'liveness',
      result: 'failed',
      durationMs: 30,
      pod,
      container: 'main',
    };
    registry.probeCompleted(probe);
    registry.probeCompleted({...probe, result: 'unknown'});
    registry.probeCompleted({...probe, pod: {...pod, name: 'other', uid: 'u2'}});
    const samples = parseExposition(registry.probesText());
    const labels = {
      probe_type: 'Liveness',
      result: 'failed',
      container: 'main',
      pod: 'web',
      namespace: 'team',
      pod_uid: 'u1',
    };
    expect(valueOf(samples, 'prober_probe_total', labels)).toBe(1);
    const place = {probe_type: 'Liveness', container: 'main', pod: 'web', namespace: 'team'};
    expect(valueOf(samples, 'prober_probe_duration_seconds_count', place)).toBe(1);
    registry.podRemoved(pod);
    const left = parseExposition(registry.probesText()).filter(({labels}) => labels['pod'] === 'web');
    expect(left).toEqual([]);
    expect(registry.probesText()).toContain('u2');
  });
});
