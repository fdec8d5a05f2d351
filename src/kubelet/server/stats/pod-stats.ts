import {
  CriError,
  type ContainerStats,
  type PodSandboxStats,
  type RuntimeService,
} from '../../../cri/index.js';
import {fetchContainerStats, fetchSandboxStats} from '../../../operations/stats/fetch-stats.js';
import {
  CONTAINER_NAME_LABEL,
  POD_NAME_LABEL,
  POD_NAMESPACE_LABEL,
  POD_UID_LABEL,
} from '../../managers/kuberuntime/config/labels.js';

/** Identity of a pod (stats/v1alpha1 PodReference). */
export interface PodReference {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

/** Stats of a pod, as the runtime reports them. */
export interface PodStats {
  readonly ref: PodReference;
  /** Stats of the newest instance of each container with usage, by its name. */
  readonly containers: ReadonlyMap<string, ContainerStats>;
  /** Stats of the newest sandbox; undefined if the runtime does not report sandboxes. */
  readonly sandbox: PodSandboxStats | undefined;
}

/** Fetches the stats of all pods of the runtime. Rejects with CriError or the signal's reason. */
export async function fetchPodStats(
  runtime: RuntimeService,
  signal: AbortSignal,
): Promise<readonly PodStats[]> {
  const [containers, sandboxes] = await Promise.all([
    fetchContainerStats(runtime, {}, {signal, thorough: true}),
    sandboxStats(runtime, signal),
  ]);
  return groupByPod(containers.stats.filter(hasUsage), sandboxes);
}

/** Fetches the stats of sandboxes. Resolves with an empty list if the runtime does not implement them. */
async function sandboxStats(
  runtime: RuntimeService,
  signal: AbortSignal,
): Promise<readonly PodSandboxStats[]> {
  try {
    return (await fetchSandboxStats(runtime, {}, {signal, thorough: true})).stats;
  } catch (error) {
    if (error instanceof CriError && error.grpcCode === 'UNIMPLEMENTED') return [];
    throw error;
  }
}

interface PodStatsGroup extends PodStats {
  readonly containers: Map<string, ContainerStats>;
  sandbox: PodSandboxStats | undefined;
}

function groupByPod(
  containers: readonly ContainerStats[],
  sandboxes: readonly PodSandboxStats[],
): readonly PodStats[] {
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
  return [...pods.values()];
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
  const group: PodStatsGroup = pods.get(uid) ?? {
    ref: {name, namespace, uid},
    containers: new Map(),
    sandbox: undefined,
  };
  pods.set(uid, group);
  return group;
}
