import {constants} from 'node:fs';
import {readdir, unlink} from 'node:fs/promises';
import {join} from 'node:path';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {RandomSource} from '../../../base/clock.js';
import {writeFileAtomicWithoutSync} from '../../../base/fs/atomic-write.js';
import {
  ifPresent,
  pathExists,
  makeDirectories,
  MAX_SEGMENT_LENGTH,
  validatePathSegment,
  withFile,
  withFileErrors,
  type DirectoryToMake,
} from '../../../base/fs/files.js';
import {removeTree} from '../../../base/fs/remove-tree.js';
import {podDir, podLogsDirectory, podLogsDirectoryName, type NodeFacts} from '../../contract/node-facts.js';
import type {ContainerInstance} from '../../contract/pod-filesystem.js';
import {podRef} from '../../contract/pod-ref.js';

/** Pod data is readable by root and its group only. */
const DATA_MODE = 0o750;
const LOG_MODE = 0o755;
/** Writable for all users, because a container may run as any user. */
const TERMINATION_LOG_MODE = 0o666;

type RootFacts = Pick<NodeFacts, 'rootDir'>;
type LogFacts = Pick<NodeFacts, 'podLogsDir'>;

function podDataDir(node: RootFacts, pod: Pod): string {
  return podDir(node, validatePathSegment('pod UID', podRef(pod).uid));
}

/** Creates the pod's data directories (Kubelet.makePodDataDirs). Idempotent. Rejects with SystemError. */
export async function makePodDirs(node: RootFacts, pod: Pod): Promise<void> {
  const directory = podDataDir(node, pod);
  const innermost = [join(directory, 'volumes'), join(directory, 'plugins')];
  // Usually the innermost directories exist, and therefore all. A failed check is reported by makeDirectories.
  const exist = await Promise.all(innermost.map(pathExists)).catch(() => [false]);
  if (!exist.includes(false)) return;
  await makeDirectories(
    [node.rootDir, join(node.rootDir, 'pods'), directory, ...innermost].map((path) => ({
      path,
      mode: DATA_MODE,
    })),
  );
}

/**
 * Reports whether a container gets the pod's hosts file: if the pod has an IP address, and the container does not mount
 * a volume at /etc/hosts (shouldMountHostsFile).
 */
export function needsHostsFile({pod, container, podIps}: ContainerInstance): boolean {
  const {volumeMounts = []} = container;
  const hasAddress = pod.spec.hostNetwork === true || podIps.length > 0;
  return hasAddress && volumeMounts.every(({mountPath}) => mountPath !== '/etc/hosts');
}

/**
 * Writes the pod's hosts file and returns its path (ensureHostsFile). An unchanged file is not written; a changed one
 * is overwritten in place, because running containers have this file mounted. Not fsynced: the content is compared with
 * each call. Rejects with SystemError.
 */
export async function writeHostsFile(node: RootFacts, pod: Pod, content: string): Promise<string> {
  const path = join(podDataDir(node, pod), 'etc-hosts');
  const isSame = await withFileErrors('reading', path, () => ifPresent(() => hasContent(path, content)));
  if (isSame === undefined)
    await withFileErrors('writing', path, () => writeFileAtomicWithoutSync(path, content, 0o644));
  else if (!isSame)
    await withFileErrors('writing', path, () =>
      withFile(path, constants.O_WRONLY | constants.O_NOFOLLOW, 0, async (file) => {
        // Overwrite before truncating, so that a full disk does not leave an empty file.
        await file.writeFile(content);
        await file.truncate(Buffer.byteLength(content));
      }),
    );
  return path;
}

/** Compares a file with `content` without reading more than its length. */
async function hasContent(path: string, content: string): Promise<boolean> {
  const expected = Buffer.from(content);
  return await withFile(path, constants.O_RDONLY | constants.O_NOFOLLOW, 0, async (file) => {
    if ((await file.stat()).size !== expected.length) return false;
    const {buffer, bytesRead} = await file.read(Buffer.alloc(expected.length), 0, expected.length, 0);
    return buffer.subarray(0, bytesRead).equals(expected);
  });
}

/** Creates the empty termination log of a new container instance and returns its path. Rejects with SystemError. */
export async function createTerminationLog(
  node: RootFacts,
  pod: Pod,
  containerName: string,
  random: RandomSource,
): Promise<string> {
  const containers = join(podDataDir(node, pod), 'containers');
  const directory = join(containers, validatePathSegment('container name', containerName));
  const path = join(directory, random().toString(16).padStart(8, '0'));
  await makeDirectories([containers, directory].map((each) => ({path: each, mode: DATA_MODE})));
  await withFileErrors('creating', path, () =>
    withFile(path, 'wx', TERMINATION_LOG_MODE, async (file) => {
      // The umask has restricted the mode passed to open.
      await file.chmod(TERMINATION_LOG_MODE);
    }),
  );
  return path;
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
  const names = await fileNames(containerLogDir(node, pod, containerName));
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
  const names = await fileNames(directory);
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

async function fileNames(directory: string): Promise<readonly string[]> {
  return (await withFileErrors('reading', directory, () => ifPresent(() => readdir(directory)))) ?? [];
}
