import {unlink} from 'node:fs/promises';
import {dirname, join} from 'node:path';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {RandomSource} from '../../../base/clock.js';
import {ensureMode, withDescriptor} from '../../../base/fs/descriptors.js';
import {
  ifPresent,
  makeDirectories,
  MAX_SEGMENT_LENGTH,
  validatePathSegment,
  withFileErrors,
  type DirectoryToMake,
  listNames,
} from '../../../base/fs/files.js';
import {removeTree} from '../../../base/fs/remove-tree.js';
import {podDir, podLogsDirectory, podLogsDirectoryName, type NodeFacts} from '../../contract/node-facts.js';
import {podRef} from '../../contract/pod-ref.js';

/** Pod data is readable by root and its group only. */
const DATA_MODE = 0o750;
/** Checkpoints, which contain the memory of containers, and pull records are readable by root only. */
const SECRET_MODE = 0o700;
const LOG_MODE = 0o755;
/** Writable for all users, because a container may run as any user. */
const TERMINATION_LOG_MODE = 0o666;

type RootFacts = Pick<NodeFacts, 'rootDir'>;
type LogFacts = Pick<NodeFacts, 'podLogsDir'>;

/** Directories of a root directory with their modes, parents first (setupDataDirs, NewFSPullRecordsAccessor). */
const NODE_DIRECTORIES: Readonly<Record<string, number>> = {
  pods: DATA_MODE,
  plugins: DATA_MODE,
  plugins_registry: DATA_MODE,
  checkpoints: SECRET_MODE,
  image_manager: SECRET_MODE,
  'image_manager/pulling': SECRET_MODE,
  'image_manager/pulled': SECRET_MODE,
};

/** Creates the directories that a running kubelet has in its root directory. Idempotent. Rejects with SystemError. */
export async function makeNodeDirs({rootDir}: RootFacts): Promise<void> {
  const directories = Object.entries(NODE_DIRECTORIES).map(([name, mode]) => ({
    path: join(rootDir, name),
    mode,
  }));
  await makeDirectories([{path: rootDir, mode: DATA_MODE}, ...directories]);
}

/** Creates the pod's data directories (Kubelet.makePodDataDirs). Idempotent. Rejects with SystemError. */
export async function makePodDirs(node: RootFacts, pod: Pod): Promise<void> {
  const directory = podDir(node, podRef(pod).uid);
  const innermost = [join(directory, 'volumes'), join(directory, 'plugins')];
  await makeDirectories(
    [node.rootDir, join(node.rootDir, 'pods'), directory, ...innermost].map((path) => ({
      path,
      mode: DATA_MODE,
    })),
  );
}

/** Returns a path for the termination log of a new container instance. Throws SystemError for an invalid name. */
export function newTerminationLogPath(
  node: RootFacts,
  pod: Pod,
  containerName: string,
  random: RandomSource,
): string {
  const name = validatePathSegment('container name', containerName);
  return join(podDir(node, podRef(pod).uid), 'containers', name, random().toString(16).padStart(8, '0'));
}

/** Creates the empty termination log of a new container instance. Rejects with SystemError. */
export async function createTerminationLog(path: string): Promise<void> {
  const directory = dirname(path);
  await makeDirectories([dirname(directory), directory].map((each) => ({path: each, mode: DATA_MODE})));
  await withFileErrors('creating', path, () =>
    withDescriptor(path, 'wx', TERMINATION_LOG_MODE, async (file) => {
      await ensureMode(file, TERMINATION_LOG_MODE);
    }),
  );
}

function podLogDir(node: LogFacts, pod: Pod): string {
  const {namespace, name, uid} = podRef(pod);
  validatePathSegment('pod log directory', podLogsDirectoryName({namespace, name, uid}));
  return podLogsDirectory(node, {namespace, name, uid});
}

function containerLogDir(node: LogFacts, pod: Pod, containerName: string): string {
  return join(podLogDir(node, pod), validatePathSegment('container name', containerName));
}

/** Returns the log directory of all pods and that of the pod. */
function logDirectories(node: LogFacts, pod: Pod): readonly DirectoryToMake[] {
  return [
    {path: node.podLogsDir, mode: DATA_MODE},
    {path: podLogDir(node, pod), mode: LOG_MODE},
  ];
}

/** Creates the pod's log directory, which the runtime writes to. Idempotent. Rejects with SystemError. */
export async function makeLogDirectory(node: LogFacts, pod: Pod): Promise<void> {
  await makeDirectories(logDirectories(node, pod));
}

/** Creates the log directory of a container. Idempotent. Rejects with SystemError. */
export async function makeContainerLogDirectory(
  node: LogFacts,
  pod: Pod,
  containerName: string,
): Promise<void> {
  const path = containerLogDir(node, pod, containerName);
  await makeDirectories([...logDirectories(node, pod), {path, mode: LOG_MODE}]);
}

/**
 * Returns the attempt after that of the newest log, including rotated ones; 0 without logs (calcRestartCountByLogDir).
 * Rejects with SystemError.
 */
export async function nextLogAttempt(node: LogFacts, pod: Pod, containerName: string): Promise<number> {
  const names = await listNames(containerLogDir(node, pod, containerName));
  const attempts = names.flatMap((name) => {
    const attempt = /^(\d{1,15})\.log(?:\..*)?$/.exec(name)?.[1];
    return attempt === undefined ? [] : [Number(attempt) + 1];
  });
  return Math.max(0, ...attempts);
}

/** Removes the logs of a container instance, including rotated ones. Rejects with SystemError. */
export async function removeContainerLogs(
  node: LogFacts,
  pod: Pod,
  containerName: string,
  attempt: number,
): Promise<void> {
  const directory = containerLogDir(node, pod, containerName);
  const log = `${attempt}.log`;
  const names = await listNames(directory);
  for (const name of names.filter((name) => name === log || name.startsWith(`${log}.`))) {
    const path = join(directory, name);
    await withFileErrors('removing', path, () => ifPresent(() => unlink(path)));
  }
}

/** Removes all logs of a pod, if it has any. Rejects with SystemError. */
export async function removePodLogs(node: LogFacts, pod: Pod): Promise<void> {
  if (podLogsDirectoryName(podRef(pod)).length > MAX_SEGMENT_LENGTH) return;
  await removeTree(podLogDir(node, pod));
}
