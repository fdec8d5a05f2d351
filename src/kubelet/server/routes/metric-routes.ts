import {readFile} from 'node:fs/promises';
import {release} from 'node:os';
import type {Pod} from '../../../api/types/v1-pod.js';
import {podRef} from '../../contract/pod-ref.js';
import {formatExposition, EXPOSITION_TYPE, type MetricFamily} from '../../managers/metrics/exposition.js';
import {jsonResponse, type BufferedResponse} from '../kubelet-response.js';
import type {ServerOptions} from '../http-server-options.js';
import type {Route} from '../router.js';
import type {ServedKubelet} from '../served-kubelet.js';
import {shareResponse} from '../shared-response.js';
import {collectBuildInfo} from '../stats/build-info.js';
import {collectKubeletGauges} from '../stats/kubelet-gauges.js';
import {collectResourceMetrics} from '../stats/resource-metrics.js';
import {readMachineIds} from '../../../base/host/machine-ids.js';
import {readOsImage} from '../../../base/host/os-release.js';
import {collectCgroupMetrics} from '../stats/cadvisor-metrics.js';
import {collectMachineMetrics, type MachineFacts} from '../stats/machine-metrics.js';
import {readCriMetrics} from '../stats/cri-metrics.js';
import {addCgroupDetails} from '../stats/cgroups/cgroup-details.js';
import {addKernelUsage} from '../stats/cgroups/add-kernel-usage.js';
import {measuredCgroups} from '../stats/measured-cgroups.js';
import {readNodeUsage} from '../stats/node-usage.js';
import {buildSummaryJson, type SummaryOptions} from '../stats/stats-summary.js';
import {readNodeFilesystems} from '../stats/storage/node-filesystems.js';
import {collectVolumeCounts, collectVolumeStats, hasClaims} from '../stats/volume-gauges.js';
import {VolumeUsageReader} from '../stats/storage/volume-usage.js';
import {UsageReader} from '../stats/usage-reader.js';

/**
 * Returns the routes of /metrics, /metrics/probes, /metrics/slis, /metrics/resource, /metrics/cadvisor and
 * /stats/summary. The signal aborts calls to the runtime.
 */
export function metricRoutes(
  kubelet: ServedKubelet,
  options: ServerOptions,
  signal: AbortSignal,
): readonly Route[] {
  const {metrics} = options;
  const usage = new UsageReader(kubelet, options);
  const volumeReader = new VolumeUsageReader(options, (pod) => kubelet.volumes(pod));
  const summary = shareResponse(async () =>
    statsSummary(
      kubelet,
      {...options, usage},
      {
        ...{onlyCpuAndMemory: false, signal},
        volumes: await volumeReader.read(kubelet.pods()),
      },
    ),
  );
  const cpuAndMemory = shareResponse(() =>
    statsSummary(kubelet, {...options, usage}, {onlyCpuAndMemory: true, signal, volumes: new Map()}),
  );
  return [
    {
      pattern: '/metrics',
      registeredAs: 'exact',
      handle: shareResponse(async () =>
        metricsText(await metrics.metricsText(await currentMetrics(kubelet, options, volumeReader))),
      ),
    },
    {
      pattern: '/metrics/probes',
      registeredAs: 'exact',
      handle: shareResponse(async () => metricsText(metrics.probesText())),
    },
    {
      pattern: '/metrics/slis',
      registeredAs: 'exact',
      handle: shareResponse(async () => metricsText(metrics.slisText())),
    },
    {
      pattern: '/metrics/resource',
      registeredAs: 'exact',
      handle: shareResponse(() => resourceMetrics(usage, options, signal)),
    },
    {
      pattern: '/metrics/cadvisor',
      registeredAs: 'exact',
      handle: shareResponse(() => cadvisorMetrics(kubelet, {...options, usage}, signal)),
    },
    {
      pattern: '/stats/summary',
      registeredAs: '/stats/',
      methods: ['GET', 'POST'],
      handle: ({query}) => (query.get('only_cpu_and_memory') === 'true' ? cpuAndMemory() : summary()),
    },
  ];
}

/** Returns the metrics of /metrics that are computed from the kubelet's current state. */
async function currentMetrics(
  kubelet: ServedKubelet,
  {program}: Pick<ServerOptions, 'program'>,
  volumeReader: VolumeUsageReader,
): Promise<readonly MetricFamily[]> {
  const volumes = await volumeReader.read(kubelet.pods(), (pod) => hasClaims(kubelet, pod));
  return [
    ...collectKubeletGauges(kubelet),
    collectVolumeCounts(kubelet),
    ...collectVolumeStats([...volumes.values()].flat()),
    ...(program === undefined ? [] : [collectBuildInfo(program.version)]),
  ];
}

async function statsSummary(
  kubelet: ServedKubelet,
  {usage, ...options}: ServerOptions & {readonly usage: UsageReader},
  request: Pick<SummaryOptions, 'onlyCpuAndMemory' | 'signal' | 'volumes'>,
): Promise<BufferedResponse> {
  const read = await usage.read(request.signal);
  const pods = await addCgroupDetails(read.pods, {...options.node, pods: podsByUid(kubelet)});
  return jsonResponse(await buildSummaryJson({...read, pods}, {...options, ...request}));
}

function podsByUid(kubelet: ServedKubelet): ReadonlyMap<string, Pod> {
  return new Map(kubelet.pods().map((pod) => [podRef(pod).uid, pod]));
}

/**
 * Responds with the runtime's metrics under cAdvisor's names or, if it has none, with metrics from the same usage as
 * /stats/summary and from the cgroups.
 */
async function cadvisorMetrics(
  kubelet: ServedKubelet,
  {usage, node, ...options}: ServerOptions & {readonly usage: UsageReader},
  signal: AbortSignal,
): Promise<BufferedResponse> {
  const [provided, machine] = await Promise.all([readCriMetrics(options, signal), readMachineFacts()]);
  if (provided !== undefined) {
    const measured = readNodeUsage(options.clock.now());
    return metricsText(formatExposition([...collectMachineMetrics(measured, machine), ...provided]));
  }
  const [measured, filesystems] = await Promise.all([usage.read(signal), readNodeFilesystems()]);
  const pods = podsByUid(kubelet);
  const cgroups = await addKernelUsage(measuredCgroups(measured, {pods, cgroup: node.cgroup, filesystems}), {
    node,
    nowMs: options.clock.now(),
  });
  return metricsText(
    formatExposition([...collectMachineMetrics(measured.node, machine), ...collectCgroupMetrics(cgroups)]),
  );
}

async function readMachineFacts(): Promise<MachineFacts> {
  const [ids, cpuInfo, osImage] = await Promise.all([
    readMachineIds(),
    readFile('/proc/cpuinfo', 'utf8'),
    readOsImage(),
  ]);
  return {ids, cpuInfo, osImage, kernelRelease: release()};
}

function metricsText(body: string): BufferedResponse {
  return {kind: 'buffered', status: 200, body, type: EXPOSITION_TYPE};
}

/** Responds with the resource metrics; a failed scrape sets the metric `resource_scrape_error`. */
async function resourceMetrics(
  usage: UsageReader,
  {logger}: Pick<ServerOptions, 'logger'>,
  signal: AbortSignal,
): Promise<BufferedResponse> {
  try {
    return metricsText(formatExposition(collectResourceMetrics(await usage.read(signal))));
  } catch (error) {
    signal.throwIfAborted();
    logger
      .forFile('metric-routes.ts')
      .error(error, 'Error getting summary for resourceMetric prometheus endpoint');
    return metricsText(formatExposition(collectResourceMetrics(undefined)));
  }
}
