import {allContainersOf} from '../../../api/pod-containers.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {podDir, podLogsDirectory, type NodeFacts} from '../../contract/node-facts.js';
import type {PodStorageUsage} from '../../contract/pod-filesystem.js';
import {podRef} from '../../contract/pod-ref.js';
import {NO_FILES, readFilesUsage, readFileUsage, type FileUsage} from '../../../base/fs/file-usage.js';
import {measureEmptyDirs} from '../volumes/empty-dir-size-limit.js';

/** Measures the logs, emptyDir volumes and hosts file of a pod (makePodStorageStats). What cannot be read counts as empty. */
export async function measurePodStorage(
  node: Pick<NodeFacts, 'rootDir' | 'podLogsDir'>,
  pod: Pod,
): Promise<PodStorageUsage> {
  const ref = podRef(pod);
  const directory = podLogsDirectory(node, ref);
  const logs = new Map<string, FileUsage>();
  for (const {name} of allContainersOf(pod))
    logs.set(name, (await readFilesUsage(`${directory}/${name}`)) ?? NO_FILES);
  const hostsFile = (await readFileUsage(`${podDir(node, ref.uid)}/etc-hosts`)) ?? NO_FILES;
  return {logs, volumes: await measureEmptyDirs(node, pod), hostsFile};
}
