import {constants} from 'node:fs';
import {readdir, unlink} from 'node:fs/promises';
import {join} from 'node:path';
import type {Pod} from '../../api/v1.js';
import type {RandomSource} from '../../base/clock.js';
import {
  ifPresent,
  isPresent,
  makeDirectories,
  MAX_SEGMENT_LENGTH,
  pathSegment,
  replaceFile,
  withFile,
  withFileErrors,
  type DirectoryToMake,
} from '../../base/files.js';
import {removeTree} from '../../base/remove-tree.js';
import {podDir, podLogsDirectory, podLogsName, type NodeFacts} from '../container/node.js';
import type {ContainerInstance} from '../container/pod-filesystem.js';
import {podRef} from '../container/pod-ref.js';

/** Only root and its group look into a pod's data. */
const DATA_MODE = 0o750;
const LOG_MODE = 0o755;
/** Any user that a container has may leave its last words. */
const TERMINATION_LOG_MODE = 0o666;

type RootFacts = Pick<NodeFacts, 'rootDir'>;
type LogFacts = Pick<NodeFacts, 'podLogsDir'>;

function podDataDir(node: RootFacts, pod: Pod): string {
  return podDir(node, pathSegment('pod UID', podRef(pod).uid));
}

/** Makes the pod's data directories (Kubelet.makePodDataDirs); idempotent. Rejects with SystemError. */
export async function makePodDirs(node: RootFacts, pod: Pod): Promise<void> {
  const directory = podDataDir(node, pod);
  const innermost = [join(directory, 'volumes'), join(directory, 'plugins')];
  // Nearly always these are there, and with them those in which they are; what keeps one from looking is told below.
  const isThere = await Promise.all(innermost.map(isPresent)).catch(() => [false]);
  if (!isThere.includes(false)) return;
  await makeDirectories(
    [node.rootDir, join(node.rootDir, 'pods'), directory, ...innermost].map((path) => ({
      path,
      mode: DATA_MODE,
    })),
  );
}

/**
 * Whether a container gets the pod's hosts file: once the pod has an address, unless the container brings its own
 * /etc/hosts in a volume (shouldMountHostsFile).
 */
export function needsHostsFile({pod, container, podIps}: ContainerInstance): boolean {
  const {volumeMounts = []} = container;
  const hasAddress = pod.spec.hostNetwork === true || podIps.length > 0;
  return hasAddress && volumeMounts.every(({mountPath}) => mountPath !== '/etc/hosts');
}

/**
 * Writes the pod's hosts file and gives its path. One that says the same is left alone; a changed one is written in
 * place, since running containers have this very file mounted. After a power failure it is compared again. Rejects with SystemError.
 */
export async function writeHostsFile(node: RootFacts, pod: Pod, content: string): Promise<string> {
  const path = join(podDataDir(node, pod), 'etc-hosts');
  const isSame = await withFileErrors('reading', path, () => ifPresent(() => holds(path, content)));
  if (isSame === undefined) await withFileErrors('writing', path, () => replaceFile(path, content, 0o644));
  else if (!isSame)
    await withFileErrors('writing', path, () =>
      withFile(path, constants.O_WRONLY | constants.O_NOFOLLOW, 0, async (file) => {
        // Over the old text, so that a full disk doesn't leave containers with none.
        await file.writeFile(content);
        await file.truncate(Buffer.byteLength(content));
      }),
    );
  return path;
}

/** Reads no more than it has to, however much a container has written there. */
async function holds(path: string, content: string): Promise<boolean> {
  const expected = Buffer.from(content);
  return await withFile(path, constants.O_RDONLY | constants.O_NOFOLLOW, 0, async (file) => {
    if ((await file.stat()).size !== expected.length) return false;
    const {buffer, bytesRead} = await file.read(Buffer.alloc(expected.length), 0, expected.length, 0);
    return buffer.subarray(0, bytesRead).equals(expected);
  });
}

/** Makes an empty file for the last words of a new container instance and gives its path. Rejects with SystemError. */
export async function makeTerminationLog(
  node: RootFacts,
  pod: Pod,
  containerName: string,
  random: RandomSource,
): Promise<string> {
  const containers = join(podDataDir(node, pod), 'containers');
  const directory = join(containers, pathSegment('container name', containerName));
  const path = join(directory, random().toString(16).padStart(8, '0'));
  await makeDirectories([containers, directory].map((made) => ({path: made, mode: DATA_MODE})));
  await withFileErrors('making', path, () =>
    withFile(path, 'wx', TERMINATION_LOG_MODE, async (file) => {
      // The umask has had its say at the opening.
      await file.chmod(TERMINATION_LOG_MODE);
    }),
  );
  return path;
}

function podLogDir(node: LogFacts, pod: Pod): string {
  const {namespace, name, uid} = podRef(pod);
  pathSegment('pod log directory', podLogsName({namespace, name, uid}));
  return podLogsDirectory(node, {namespace, name, uid});
}

function containerLogDir(node: LogFacts, pod: Pod, containerName: string): string {
  return join(podLogDir(node, pod), pathSegment('container name', containerName));
}

/** The directory for all logs and the pod's in it. */
function logDirectories(node: LogFacts, pod: Pod): readonly DirectoryToMake[] {
  return [
    {path: node.podLogsDir, mode: DATA_MODE},
    {path: podLogDir(node, pod), mode: LOG_MODE},
  ];
}

/** Makes the pod's log directory, in which the runtime writes; idempotent. Rejects with SystemError. */
export async function makeLogDirectory(node: LogFacts, pod: Pod): Promise<void> {
  await makeDirectories(logDirectories(node, pod));
}

/** Makes the log directory of one container; idempotent. Rejects with SystemError. */
export async function makeContainerLogDirectory(
  node: LogFacts,
  pod: Pod,
  containerName: string,
): Promise<void> {
  const path = containerLogDir(node, pod, containerName);
  await makeDirectories([...logDirectories(node, pod), {path, mode: LOG_MODE}]);
}

/**
 * The attempt after that of the newest log, rotated ones included; 0 without any (calcRestartCountByLogDir). Rejects
 * with SystemError.
 */
export async function nextLogAttempt(node: LogFacts, pod: Pod, containerName: string): Promise<number> {
  const names = await fileNames(containerLogDir(node, pod, containerName));
  const attempts = names.flatMap((name) => {
    const attempt = /^(\d{1,15})\.log(?:\..*)?$/.exec(name)?.[1];
    return attempt === undefined ? [] : [Number(attempt) + 1];
  });
  return Math.max(0, ...attempts);
}

/** Removes the logs of one container instance, rotated ones included. Rejects with SystemError. */
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

/**
 * Removes all logs of the pod; without any it does nothing, as for a pod whose log directory can't have been made.
 * Rejects with SystemError.
 */
export async function removePodLogs(node: LogFacts, pod: Pod): Promise<void> {
  if (podLogsName(podRef(pod)).length > MAX_SEGMENT_LENGTH) return;
  await removeTree(podLogDir(node, pod));
}

async function fileNames(directory: string): Promise<readonly string[]> {
  return (await withFileErrors('reading', directory, () => ifPresent(() => readdir(directory)))) ?? [];
}
