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
} from '../../../cri/index.js';
import {measureContainers, measureSandboxes} from '../../../operations/stats.js';
import {
  CONTAINER_NAME_LABEL,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
  POD_UID_LABEL,
} from '../../kuberuntime/labels.js';
import type {ServerOptions} from '../options.js';
import type {ServedKubelet} from '../served-kubelet.js';
import {CpuRates} from './cpu-rates.js';
import {readNodeCpu, readNodeUsage, type NodeUsage} from './node-usage.js';
import {summed} from './summed-usage.js';

/** What a pod is called. */
export interface PodReference {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

/** What a container uses now. */
export interface ContainerUsage {
  readonly name: string;
  /** Nanoseconds since the epoch, of the kubelet's own containers. */
  readonly startedAtNanos: bigint | undefined;
  readonly stats: ContainerStats;
}

/** What a pod uses now; what nobody tells is undefined. */
export interface PodUsage {
  readonly ref: PodReference;
  /** When the newest sandbox was made, nanoseconds since the epoch, of the kubelet's own pods. */
  readonly startedAtNanos: bigint | undefined;
  readonly containers: readonly ContainerUsage[];
  /** Of the pod as a whole where the runtime tells, otherwise of its containers together. */
  readonly cpu: CpuUsage | undefined;
  readonly memory: MemoryUsage | undefined;
  readonly swap: SwapUsage | undefined;
  readonly io: IoUsage | undefined;
  readonly network: NetworkUsage | undefined;
  readonly processCount: bigint | undefined;
}

/** All that is used now. */
export interface Usage {
  readonly node: NodeUsage;
  /** Billionths of a core; undefined in the first second. */
  readonly nodeNanoCores: bigint | undefined;
  readonly pods: readonly PodUsage[];
}

const NODE = 'node';

/** Asks runtime and kernel what node, pods and containers use, and remembers enough to say how fast. */
export class UsageReader {
  readonly #kubelet: ServedKubelet;
  readonly #options: Pick<ServerOptions, 'runtime' | 'clock'>;
  readonly #rates = new CpuRates();

  constructor(kubelet: ServedKubelet, options: Pick<ServerOptions, 'runtime' | 'clock'>) {
    this.#kubelet = kubelet;
    this.#options = options;
    this.#rates.rate(NODE, readNodeCpu(options.clock.now()));
  }

  /** Rejects with CriError, or the signal's reason. */
  async read(signal: AbortSignal): Promise<Usage> {
    const {runtime, clock} = this.#options;
    const [node, containers, sandboxes] = await Promise.all([
      readNodeUsage(clock.now()),
      measureContainers(runtime, {}, {signal, thorough: true}),
      sandboxStats(runtime, signal),
    ]);
    const pods = podsOf(this.#kubelet, containers.stats.filter(isMeasured), sandboxes);
    const keys = new Set([NODE]);
    const rated = (key: string, cpu: CpuUsage | undefined): CpuUsage | undefined => {
      keys.add(key);
      return this.#rated(key, cpu);
    };
    const ratedPods = pods.map((pod) => withRates(pod, rated));
    this.#rates.keep(keys);
    const nodeNanoCores = this.#rates.rate(NODE, {timeNanos: node.timeNanos, usedNanos: node.cpuNanos});
    return {node, nodeNanoCores, pods: ratedPods};
  }

  /** With a rate also from a runtime that tells none. */
  #rated(key: string, cpu: CpuUsage | undefined): CpuUsage | undefined {
    if (cpu?.usageCoreNanoSeconds === undefined) return cpu;
    const {timestamp, usageCoreNanoSeconds} = cpu;
    const rate = this.#rates.rate(key, {timeNanos: timestamp, usedNanos: usageCoreNanoSeconds.value});
    if (cpu.usageNanoCores !== undefined || rate === undefined) return cpu;
    return {...cpu, usageNanoCores: {value: rate}};
  }
}

function withRates(
  pod: PodUsage,
  rated: (key: string, cpu: CpuUsage | undefined) => CpuUsage | undefined,
): PodUsage {
  return {
    ...pod,
    cpu: rated(`pod ${pod.ref.uid}`, pod.cpu),
    containers: pod.containers.map(({stats, ...rest}) => ({
      ...rest,
      stats: {...stats, cpu: rated(`container ${stats.attributes?.id ?? ''}`, stats.cpu)},
    })),
  };
}

/** None from a runtime that doesn't tell of pods. */
async function sandboxStats(
  runtime: ServerOptions['runtime'],
  signal: AbortSignal,
): Promise<readonly PodSandboxStats[]> {
  try {
    return (await measureSandboxes(runtime, {}, {signal, thorough: true})).stats;
  } catch (error) {
    if (error instanceof CriError && error.grpcCode === 'UNIMPLEMENTED') return [];
    throw error;
  }
}

interface Gathered {
  readonly ref: PodReference;
  readonly containers: Map<string, ContainerStats>;
  sandbox: PodSandboxStats | undefined;
}

function podsOf(
  kubelet: ServedKubelet,
  containers: readonly ContainerStats[],
  sandboxes: readonly PodSandboxStats[],
): readonly PodUsage[] {
  const pods = new Map<string, Gathered>();
  for (const stats of containers) {
    const labels = stats.attributes?.labels ?? {};
    const pod = gathered(pods, labels);
    const name = labels[CONTAINER_NAME_LABEL];
    if (pod === undefined || name === undefined) continue;
    // Of several instances the newest counts.
    if (isNewer(stats, pod.containers.get(name))) pod.containers.set(name, stats);
  }
  for (const sandbox of sandboxes) {
    const pod = gathered(pods, sandbox.attributes?.labels ?? {});
    if (pod !== undefined && isNewer(sandbox, pod.sandbox)) pod.sandbox = sandbox;
  }
  return [...pods.values()].map((pod) => finished(kubelet, pod));
}

/** Of what doesn't run some runtimes tell that it writes nothing. */
function isMeasured({cpu, memory}: ContainerStats): boolean {
  return cpu !== undefined || memory !== undefined;
}

type Attempt = Pick<ContainerStats, 'attributes'> | Pick<PodSandboxStats, 'attributes'>;

function isNewer(one: Attempt, other: Attempt | undefined): boolean {
  return other === undefined || attemptOf(one) > attemptOf(other);
}

function attemptOf({attributes}: Attempt): number {
  return attributes?.metadata?.attempt ?? 0;
}

/** Undefined for what is of no pod. */
function gathered(
  pods: Map<string, Gathered>,
  labels: Readonly<Record<string, string>>,
): Gathered | undefined {
  const {
    [POD_NAME_LABEL]: name = '',
    [POD_NAMESPACE_LABEL]: namespace = '',
    [POD_UID_LABEL]: uid = '',
  } = labels;
  if (uid === '') return undefined;
  const known = pods.get(uid) ?? {ref: {name, namespace, uid}, containers: new Map(), sandbox: undefined};
  pods.set(uid, known);
  return known;
}

function finished(kubelet: ServedKubelet, {ref, containers, sandbox}: Gathered): PodUsage {
  const status = knownStatus(kubelet, ref.uid);
  const startOf = (id: string | undefined) => status?.containers.find((one) => one.id === id)?.cri.startedAt;
  const stats: Partial<LinuxPodSandboxStats> = sandbox?.linux ?? {};
  const together = summed([...containers.values()]);
  return {
    ref,
    startedAtNanos: status?.sandboxes[0]?.createdAt,
    containers: [...containers].map(([name, one]) => ({
      name,
      startedAtNanos: startOf(one.attributes?.id),
      stats: one,
    })),
    cpu: stats.cpu ?? together.cpu,
    memory: stats.memory ?? together.memory,
    swap: together.swap,
    io: stats.io,
    network: stats.network,
    processCount: stats.process?.processCount?.value,
  };
}

function knownStatus(kubelet: ServedKubelet, uid: string) {
  try {
    return kubelet.runtimeStatus(podUid(uid));
  } catch {
    return undefined; // it is shown without when it began
  }
}
