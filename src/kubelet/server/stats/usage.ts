import {readFile} from 'node:fs/promises';
import {cpus} from 'node:os';
import {
  CriError,
  podUid,
  type ContainerStats,
  type LinuxPodSandboxStats,
  type PodSandboxStats,
} from '../../../cri/index.js';
import {measureContainers, measureSandboxes} from '../../../operations/stats.js';
import type {ServerOptions} from '../options.js';
import type {ServedKubelet} from '../served-kubelet.js';

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

/** What a pod uses now. */
export interface PodUsage {
  readonly ref: PodReference;
  /** When the newest sandbox was made, nanoseconds since the epoch, of the kubelet's own pods. */
  readonly startedAtNanos: bigint | undefined;
  readonly containers: readonly ContainerUsage[];
  /** Of the pod as a whole, where the runtime tells. */
  readonly stats: LinuxPodSandboxStats | undefined;
}

/** What the node uses now. */
export interface NodeUsage {
  readonly timeNanos: bigint;
  readonly cpuNanos: bigint;
  readonly memoryBytes: bigint;
  readonly usedBytes: bigint;
  /** Without what is given up when somebody needs it. */
  readonly workingSetBytes: bigint;
  readonly anonymousBytes: bigint;
  readonly swapTotalBytes: bigint;
  readonly swapFreeBytes: bigint;
}

/** All that is used now. */
export interface Usage {
  readonly node: NodeUsage;
  readonly pods: readonly PodUsage[];
}

const LABELS = {
  name: 'io.kubernetes.pod.name',
  namespace: 'io.kubernetes.pod.namespace',
  uid: 'io.kubernetes.pod.uid',
  container: 'io.kubernetes.container.name',
} as const;

/** Asks runtime and kernel what node, pods and containers use. Rejects with CriError, or the signal's reason. */
export async function readUsage(
  kubelet: ServedKubelet,
  {runtime, clock}: Pick<ServerOptions, 'runtime' | 'clock'>,
  signal: AbortSignal,
): Promise<Usage> {
  const [node, containers, sandboxes] = await Promise.all([
    readNodeUsage(clock.now()),
    measureContainers(runtime, {}, {signal, thorough: true}),
    sandboxStats(runtime, signal),
  ]);
  return {node, pods: podsOf(kubelet, containers.stats, sandboxes)};
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
  stats: LinuxPodSandboxStats | undefined;
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
    const name = labels[LABELS.container];
    if (pod === undefined || name === undefined) continue;
    const other = pod.containers.get(name);
    // Of several instances the newest counts.
    if (other === undefined || attemptOf(stats) > attemptOf(other)) pod.containers.set(name, stats);
  }
  for (const {attributes, linux} of sandboxes) {
    const pod = gathered(pods, attributes?.labels ?? {});
    if (pod !== undefined) pod.stats = linux;
  }
  return [...pods.values()].map((pod) => finished(kubelet, pod));
}

function attemptOf({attributes}: ContainerStats): number {
  return attributes?.metadata?.attempt ?? 0;
}

/** Undefined for what is of no pod. */
function gathered(
  pods: Map<string, Gathered>,
  labels: Readonly<Record<string, string>>,
): Gathered | undefined {
  const [name = '', namespace = '', uid = ''] = [
    labels[LABELS.name],
    labels[LABELS.namespace],
    labels[LABELS.uid],
  ];
  if (uid === '') return undefined;
  const known = pods.get(uid) ?? {ref: {name, namespace, uid}, containers: new Map(), stats: undefined};
  pods.set(uid, known);
  return known;
}

function finished(kubelet: ServedKubelet, {ref, containers, stats}: Gathered): PodUsage {
  const status = knownStatus(kubelet, ref.uid);
  const startOf = (id: string | undefined) => status?.containers.find((one) => one.id === id)?.cri.startedAt;
  return {
    ref,
    startedAtNanos: status?.sandboxes[0]?.createdAt,
    containers: [...containers].map(([name, one]) => ({
      name,
      startedAtNanos: startOf(one.attributes?.id),
      stats: one,
    })),
    stats,
  };
}

function knownStatus(kubelet: ServedKubelet, uid: string) {
  try {
    return kubelet.runtimeStatus(podUid(uid));
  } catch {
    return undefined; // it is shown without when it began
  }
}

/** Only user, nice, system and interrupts: waiting is no use. */
async function readNodeUsage(nowMs: number): Promise<NodeUsage> {
  const cpuMs = cpus().reduce((sum, {times: {user, nice, sys, irq}}) => sum + user + nice + sys + irq, 0);
  const bytes = memoryOf(await readFile('/proc/meminfo', 'utf8'));
  const total = bytes('MemTotal');
  const used = total - bytes('MemFree');
  const inactive = bytes('Inactive(file)');
  return {
    timeNanos: BigInt(nowMs) * 1_000_000n,
    cpuNanos: BigInt(cpuMs) * 1_000_000n,
    memoryBytes: total,
    usedBytes: used,
    workingSetBytes: used > inactive ? used - inactive : 0n,
    anonymousBytes: bytes('AnonPages'),
    swapTotalBytes: bytes('SwapTotal'),
    swapFreeBytes: bytes('SwapFree'),
  };
}

function memoryOf(meminfo: string): (name: string) => bigint {
  const values = new Map(
    [...meminfo.matchAll(/^(\S+):\s+(\d+)/gm)].map(([, name = '', kibibytes = '0']) => [name, kibibytes]),
  );
  return (name) => BigInt(values.get(name) ?? '0') * 1024n;
}
