import {
  CriError,
  podUid,
  type ContainerStats,
  type CpuUsage,
  type IoUsage,
  type LinuxPodSandboxStats,
  type MemoryUsage,
  type NetworkUsage,
  type PodSandboxStats,
  type SwapUsage,
} from '../../../../cri/index.js';
import {fetchContainerStats, fetchSandboxStats} from '../../../../operations/stats/fetch-stats.js';
import {
  CONTAINER_NAME_LABEL,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
  POD_UID_LABEL,
} from '../../kuberuntime/config/labels.js';
import type {ServerOptions} from '../http-server-options.js';
import type {ServedKubelet} from '../served-kubelet.js';
import {readSystemContainers, type SystemContainerUsage} from './cgroups/system-containers.js';
import {CpuRates} from './cpu-rates.js';
import {readNodeCpu, readNodeUsage, type NodeUsage} from './node-usage.js';
import {sumUsage} from './sum-usage.js';

/** Identity of a pod (stats/v1alpha1 PodReference). */
export interface PodReference {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

/** Current usage of a container. */
export interface ContainerUsage {
  readonly name: string;
  /** Start time in ns since the epoch; known for the kubelet's own containers only. */
  readonly startedAtNanos: bigint | undefined;
  /** Name of the image as the runtime reports it; known for the kubelet's own containers only. */
  readonly image: string | undefined;
  readonly stats: ContainerStats;
}

/** Current usage of a pod; values that the runtime does not report are undefined. */
export interface PodUsage {
  readonly ref: PodReference;
  /** Creation time of the newest sandbox in ns since the epoch; known for the kubelet's own pods only. */
  readonly startedAtNanos: bigint | undefined;
  /** ID of the newest sandbox; undefined if the runtime does not report sandboxes. */
  readonly sandboxId: string | undefined;
  readonly containers: readonly ContainerUsage[];
  /** CPU usage of the pod as reported by the runtime, otherwise the sum of its containers. */
  readonly cpu: CpuUsage | undefined;
  readonly memory: MemoryUsage | undefined;
  readonly swap: SwapUsage | undefined;
  readonly io: IoUsage | undefined;
  readonly network: NetworkUsage | undefined;
  readonly processCount: bigint | undefined;
}

/** Current usage of the node and all pods. */
export interface Usage {
  readonly node: NodeUsage;
  /** CPU usage of the node in nanocores; undefined in the first second. */
  readonly nodeNanoCores: bigint | undefined;
  readonly systemContainers: readonly SystemContainerUsage[];
  readonly pods: readonly PodUsage[];
}

const NODE = 'node';

/** Parts of the server options that readings need. */
type UsageOptions = Pick<ServerOptions, 'runtime' | 'clock' | 'node'>;

/** Reads the usage of node, pods and containers from kernel and runtime, and computes CPU rates between readings. */
export class UsageReader {
  readonly #kubelet: ServedKubelet;
  readonly #options: UsageOptions;
  readonly #rates = new CpuRates();
  readonly #startedAtMs: number;

  constructor(kubelet: ServedKubelet, options: UsageOptions) {
    this.#kubelet = kubelet;
    this.#options = options;
    this.#startedAtMs = options.clock.now();
    this.#rates.rate(NODE, readNodeCpu(options.clock.now()));
  }

  /** Reads the current usage. Rejects with CriError, the system's error or the signal's reason. */
  async read(signal: AbortSignal): Promise<Usage> {
    const {runtime, clock, node: facts} = this.#options;
    const nowMs = clock.now();
    const [node, system, containers, sandboxes] = await Promise.all([
      readNodeUsage(nowMs),
      readSystemContainers({node: facts, nowMs, startedAtMs: this.#startedAtMs}),
      fetchContainerStats(runtime, {}, {signal, thorough: true}),
      sandboxStats(runtime, signal),
    ]);
    const pods = groupByPod(this.#kubelet, containers.stats.filter(hasUsage), sandboxes);
    const keys = new Set([NODE]);
    const addRate = (key: string, cpu: CpuUsage | undefined): CpuUsage | undefined => {
      keys.add(key);
      return this.#addRate(key, cpu);
    };
    const podsWithRates = pods.map((pod) => addRates(pod, addRate));
    const systemContainers = system.map((each) => ({
      ...each,
      stats: {...each.stats, cpu: addRate(`system ${each.name}`, each.stats.cpu)},
    }));
    this.#rates.retain(keys);
    const nodeNanoCores = this.#rates.rate(NODE, {timeNanos: node.timeNanos, usedNanos: node.cpuNanos});
    return {node, nodeNanoCores, systemContainers, pods: podsWithRates};
  }

  /** Adds usageNanoCores if the runtime does not report it. */
  #addRate(key: string, cpu: CpuUsage | undefined): CpuUsage | undefined {
    if (cpu?.usageCoreNanoSeconds === undefined) return cpu;
    const {timestamp, usageCoreNanoSeconds} = cpu;
    const rate = this.#rates.rate(key, {timeNanos: timestamp, usedNanos: usageCoreNanoSeconds.value});
    if (cpu.usageNanoCores !== undefined || rate === undefined) return cpu;
    return {...cpu, usageNanoCores: {value: rate}};
  }
}

function addRates(
  pod: PodUsage,
  addRate: (key: string, cpu: CpuUsage | undefined) => CpuUsage | undefined,
): PodUsage {
  return {
    ...pod,
    cpu: addRate(`pod ${pod.ref.uid}`, pod.cpu),
    containers: pod.containers.map(({stats, ...rest}) => ({
      ...rest,
      stats: {...stats, cpu: addRate(`container ${stats.attributes?.id ?? ''}`, stats.cpu)},
    })),
  };
}

/** Fetches the stats of sandboxes. Resolves with an empty list if the runtime does not implement them. */
async function sandboxStats(
  runtime: ServerOptions['runtime'],
  signal: AbortSignal,
): Promise<readonly PodSandboxStats[]> {
  try {
    return (await fetchSandboxStats(runtime, {}, {signal, thorough: true})).stats;
  } catch (error) {
    if (error instanceof CriError && error.grpcCode === 'UNIMPLEMENTED') return [];
    throw error;
  }
}

interface PodStatsGroup {
  readonly ref: PodReference;
  readonly containers: Map<string, ContainerStats>;
  sandbox: PodSandboxStats | undefined;
}

function groupByPod(
  kubelet: ServedKubelet,
  containers: readonly ContainerStats[],
  sandboxes: readonly PodSandboxStats[],
): readonly PodUsage[] {
  const pods = new Map<string, PodStatsGroup>();
  for (const stats of containers) {
    const labels = stats.attributes?.labels ?? {};
    const pod = getOrAddGroup(pods, labels);
    const name = labels[CONTAINER_NAME_LABEL];
    if (pod === undefined || name === undefined) continue;
    // The newest of several instances is used.
    if (isNewer(stats, pod.containers.get(name))) pod.containers.set(name, stats);
  }
  for (const sandbox of sandboxes) {
    const pod = getOrAddGroup(pods, sandbox.attributes?.labels ?? {});
    if (pod !== undefined && isNewer(sandbox, pod.sandbox)) pod.sandbox = sandbox;
  }
  return [...pods.values()].map((pod) => toPodUsage(kubelet, pod));
}

/**
 * Reports whether the stats have usage. They have none for a container that does not run: some runtimes report only its
 * writable layer.
 */
function hasUsage({cpu, memory}: ContainerStats): boolean {
  return cpu !== undefined || memory !== undefined;
}

type Attempt = Pick<ContainerStats, 'attributes'> | Pick<PodSandboxStats, 'attributes'>;

function isNewer(one: Attempt, other: Attempt | undefined): boolean {
  return other === undefined || attemptOf(one) > attemptOf(other);
}

function attemptOf({attributes}: Attempt): number {
  return attributes?.metadata?.attempt ?? 0;
}

/** Returns the group of the stats' pod; undefined without the labels of a pod. */
function getOrAddGroup(
  pods: Map<string, PodStatsGroup>,
  labels: Readonly<Record<string, string>>,
): PodStatsGroup | undefined {
  const {
    [POD_NAME_LABEL]: name = '',
    [POD_NAMESPACE_LABEL]: namespace = '',
    [POD_UID_LABEL]: uid = '',
  } = labels;
  if (uid === '') return undefined;
  const group = pods.get(uid) ?? {ref: {name, namespace, uid}, containers: new Map(), sandbox: undefined};
  pods.set(uid, group);
  return group;
}

function toPodUsage(kubelet: ServedKubelet, {ref, containers, sandbox}: PodStatsGroup): PodUsage {
  const status = runtimeStatusIfAvailable(kubelet, ref.uid);
  const criStatusOf = (id: string | undefined) => status?.containers.find((each) => each.id === id)?.cri;
  const stats: Partial<LinuxPodSandboxStats> = sandbox?.linux ?? {};
  const total = sumUsage([...containers.values()]);
  return {
    ref,
    startedAtNanos: status?.sandboxes[0]?.createdAt,
    sandboxId: sandbox?.attributes?.id,
    containers: [...containers].map(([name, containerStats]) => {
      const cri = criStatusOf(containerStats.attributes?.id);
      return {name, startedAtNanos: cri?.startedAt, image: cri?.image?.image, stats: containerStats};
    }),
    cpu: stats.cpu ?? total.cpu,
    memory: stats.memory ?? total.memory,
    swap: total.swap,
    io: stats.io,
    network: stats.network,
    processCount: stats.process?.processCount?.value,
  };
}

function runtimeStatusIfAvailable(kubelet: ServedKubelet, uid: string) {
  try {
    return kubelet.runtimeStatus(podUid(uid));
  } catch {
    return undefined; // the usage is reported without start times
  }
}
