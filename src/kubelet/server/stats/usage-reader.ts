import {
  podUid,
  type ContainerStats,
  type CpuUsage,
  type IoUsage,
  type LinuxPodSandboxStats,
  type MemoryUsage,
  type NetworkUsage,
  type SwapUsage,
} from '../../../cri/index.js';
import type {ServerOptions} from '../http-server-options.js';
import type {ServedKubelet} from '../served-kubelet.js';
import {readSystemContainers, type SystemContainerUsage} from './cgroups/system-containers.js';
import {CpuRates} from './cpu-rates.js';
import {readNodeCpu, readNodeUsage, type NodeUsage} from './node-usage.js';
import {fetchPodStats, type PodReference, type PodStats} from './pod-stats.js';
import {sumUsage} from './sum-usage.js';

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
    const node = readNodeUsage(nowMs);
    const [system, groups] = await Promise.all([
      readSystemContainers({node: facts, nowMs, startedAtMs: this.#startedAtMs}),
      fetchPodStats(runtime, signal),
    ]);
    const pods = groups.map((group) => toPodUsage(this.#kubelet, group));
    const keys = new Set([NODE]);
    const addRate: AddRate = (key, cpu, startedAtNanos) => {
      keys.add(key);
      return this.#addRate(key, cpu, startedAtNanos);
    };
    const podsWithRates = pods.map((pod) => addRates(pod, addRate));
    const systemContainers = system.map((each) => ({
      ...each,
      stats: {...each.stats, cpu: addRate(`system ${each.name}`, each.stats.cpu, each.startedAtNanos)},
    }));
    this.#rates.retain(keys);
    const nodeNanoCores = this.#rates.rate(NODE, {timeNanos: node.timeNanos, usedNanos: node.cpuNanos});
    return {node, nodeNanoCores, systemContainers, pods: podsWithRates};
  }

  /** Adds usageNanoCores if the runtime does not report it, or reports 0, as containerd does from its first reading. */
  #addRate(...[key, cpu, startedAtNanos]: Parameters<AddRate>): CpuUsage | undefined {
    if (cpu?.usageCoreNanoSeconds === undefined) return cpu;
    const {timestamp, usageCoreNanoSeconds} = cpu;
    const reading = {timeNanos: timestamp, usedNanos: usageCoreNanoSeconds.value};
    const rate = this.#rates.rate(key, reading, startedAtNanos);
    const {value: reported = 0n} = cpu.usageNanoCores ?? {};
    if (reported !== 0n || rate === undefined) return cpu;
    return {...cpu, usageNanoCores: {value: rate}};
  }
}

/** Adds the rate of a reading of the CPU usage of something that has started at a time, if that is known. */
type AddRate = (
  key: string,
  cpu: CpuUsage | undefined,
  startedAtNanos: bigint | undefined,
) => CpuUsage | undefined;

function addRates(pod: PodUsage, addRate: AddRate): PodUsage {
  return {
    ...pod,
    cpu: addRate(`pod ${pod.ref.uid}`, pod.cpu, pod.startedAtNanos),
    containers: pod.containers.map(({stats, ...rest}) => ({
      ...rest,
      stats: {
        ...stats,
        cpu: addRate(`container ${stats.attributes?.id ?? ''}`, stats.cpu, rest.startedAtNanos),
      },
    })),
  };
}

function toPodUsage(kubelet: ServedKubelet, {ref, containers, sandbox}: PodStats): PodUsage {
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
    network: timedNetwork(stats),
    processCount: stats.process?.processCount?.value,
  };
}

/** Returns the usage of the network with the time of the reading, which containerd sets only in that of the CPU. */
function timedNetwork({network, cpu}: Partial<LinuxPodSandboxStats>): NetworkUsage | undefined {
  if (network === undefined || network.timestamp !== 0n) return network;
  return {...network, timestamp: cpu?.timestamp ?? 0n};
}

function runtimeStatusIfAvailable(kubelet: ServedKubelet, uid: string) {
  try {
    return kubelet.runtimeStatus(podUid(uid));
  } catch {
    return undefined; // the usage is reported without start times
  }
}
