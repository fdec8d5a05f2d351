import {allContainersOf} from '../../api/pod-containers.js';
import type {Container, Pod} from '../../api/types/v1-pod.js';
import type {ContainerStatus} from '../../api/types/v1-status.js';
import {isSystemCallError, KcriError} from '../../base/errors.js';
import {containerId, type RuntimeService} from '../../cri/index.js';
import {escapeToLine} from '../../format/escape-controls.js';
import {getContainerStatus, logPathOf} from '../../operations/logs/container-log.js';
import type {LogFiles} from '../../operations/logs/log-files.js';
import {readLog} from '../../operations/logs/read-log.js';
import {maskSecretText} from '../../cli/redaction/mask-secrets.js';

/** Number of lines per container. */
const LINES = 8;
/** Maximum number of bytes read per container. */
const MAX_BYTES = 16 * 1024;
/** Maximum length of a line, in characters. */
const MAX_LENGTH = 200;
const STREAMS = new Set(['stdout', 'stderr'] as const);

/** Access to the logs of a node. */
interface LogAccess {
  /** Log files of a remote node; undefined for those of this machine. */
  readonly files: LogFiles | undefined;
  readonly signal: AbortSignal;
}

/** Text instead of the lines of a container that has values of Secrets. */
const HIDDEN = '(not shown, since the container uses a Secret; see "kcri logs")';

/**
 * Returns the last lines of the logs of containers that failed, by container name. Controls are escaped, and texts that
 * look like secrets are masked. Logs that cannot be read are omitted. Rejects with the signal's reason.
 */
export async function readLastLogLines(
  connect: () => Promise<{readonly runtime: RuntimeService}>,
  pod: Pod,
  {files, signal}: LogAccess,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const logs = new Map<string, readonly string[]>();
  const failed = failedContainers(pod);
  if (failed.length === 0) return logs;
  const {runtime} = await connect();
  const containers = new Map(allContainersOf(pod).map((container) => [container.name, container]));
  for (const {name, containerID = ''} of failed) {
    const container = containers.get(name);
    if (containerID === '') continue;
    const hides = container !== undefined && usesSecrets(pod, container);
    const lines = hides ? [HIDDEN] : await lastLines(runtime, containerID, {files, signal});
    if (lines.length > 0) logs.set(name, lines);
  }
  return logs;
}

/** Returns the containers that exited with an error and do not run. */
function failedContainers({status = {}}: Pod): readonly ContainerStatus[] {
  const {initContainerStatuses = [], containerStatuses = []} = status;
  return [...initContainerStatuses, ...containerStatuses].filter(({state = {}, lastState = {}}) => {
    if (state.running !== undefined) return false;
    return ((state.terminated ?? lastState.terminated)?.exitCode ?? 0) !== 0;
  });
}

/** Reports whether a container has values of Secrets, which it may have written to its log. */
function usesSecrets({spec}: Pod, {env = [], envFrom = [], volumeMounts = []}: Container): boolean {
  const mounted = new Set(volumeMounts.map(({name}) => name));
  return (
    env.some(({valueFrom}) => valueFrom?.secretKeyRef !== undefined || valueFrom?.fileKeyRef !== undefined) ||
    envFrom.some(({secretRef}) => secretRef !== undefined) ||
    (spec.volumes ?? []).some(
      ({name, secret, projected}) =>
        mounted.has(name) &&
        (secret !== undefined || projected?.sources.some((source) => source.secret !== undefined) === true),
    )
  );
}

async function lastLines(
  runtime: RuntimeService,
  fullId: string,
  {files, signal}: LogAccess,
): Promise<readonly string[]> {
  const parts: Uint8Array[] = [];
  const sink = {
    write: (_stream: string, bytes: Uint8Array) => {
      parts.push(bytes);
    },
    ready: async () => undefined,
  };
  try {
    const id = containerId(fullId.replace(/^.*:\/\//, ''));
    const path = logPathOf(await getContainerStatus(runtime, id, signal));
    await readLog(path, {streams: STREAMS, tailLines: LINES, limitBytes: MAX_BYTES, files, signal}, sink);
  } catch (error) {
    signal.throwIfAborted();
    // The description is useful without the log, which may have been removed.
    if (!(error instanceof KcriError) && !isSystemCallError(error)) throw error;
  }
  const text = Buffer.concat(parts).toString().replace(/\n$/, '');
  return text === '' ? [] : text.split('\n').map(shownLine);
}

function shownLine(line: string): string {
  const text = escapeToLine(maskSecretText(line.replace(/\r$/, '')));
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
}
