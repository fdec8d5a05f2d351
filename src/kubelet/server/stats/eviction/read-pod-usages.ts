import {allContainersOf} from '../../../../api/pod-containers.js';
import type {Pod} from '../../../../api/types/v1-pod.js';
import {NO_FILES, type FileUsage} from '../../../../base/fs/file-usage.js';
import type {ContainerStats, PodUid, RuntimeService} from '../../../../cri/index.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import type {PodStorageUsage} from '../../../contract/pod-filesystem.js';
import type {MeasuredContainer, MeasuredPod} from '../../../contract/resources/node-signals.js';
import {podRef} from '../../../contract/pod-ref.js';
import {measurePodStorage} from '../../../managers/pod-filesystem/measure-pod-storage.js';
import {fetchPodStats, type PodStats} from '../pod-stats.js';
import {sumUsage} from '../sum-usage.js';

/**
 * Reads the usage of the pods from the runtime and the node; a pod without stats of the runtime is absent. Rejects with
 * CriError, the system's error or the signal's reason.
 */
export async function readPodUsages(
  pods: readonly Pod[],
  {
    runtime,
    node,
  }: {readonly runtime: RuntimeService; readonly node: Pick<NodeFacts, 'rootDir' | 'podLogsDir'>},
  signal: AbortSignal,
): Promise<ReadonlyMap<PodUid, MeasuredPod>> {
  const stats = new Map((await fetchPodStats(runtime, signal)).map((each) => [each.ref.uid, each]));
  const usages = new Map<PodUid, MeasuredPod>();
  for (const pod of pods) {
    const {uid} = podRef(pod);
    const measured = stats.get(uid);
    if (measured !== undefined)
      usages.set(uid, toPodUsage(pod, measured, await measurePodStorage(node, pod)));
  }
  return usages;
}

function toPodUsage(
  pod: Pod,
  {containers, sandbox}: PodStats,
  {logs, volumes}: PodStorageUsage,
): MeasuredPod {
  const memory = sandbox?.linux?.memory ?? sumUsage([...containers.values()]).memory;
  return {
    memoryBytes: memory?.workingSetBytes?.value ?? 0n,
    processes: sandbox?.linux?.process?.processCount?.value ?? 0n,
    containers: allContainersOf(pod).flatMap(({name}) => {
      const stats = containers.get(name);
      return stats === undefined ? [] : [toContainerUsage(name, stats, logs.get(name) ?? NO_FILES)];
    }),
    volumes,
  };
}

function toContainerUsage(
  name: string,
  {memory, writableLayer}: ContainerStats,
  logs: FileUsage,
): MeasuredContainer {
  const {usedBytes, inodesUsed} = writableLayer ?? {};
  return {
    name,
    memoryBytes: memory?.workingSetBytes?.value,
    layer: usedBytes && {usedBytes: usedBytes.value, inodesUsed: inodesUsed?.value ?? 0n},
    logs,
  };
}
