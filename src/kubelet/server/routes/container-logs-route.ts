import {findContainer} from '../../../api/pod-containers.js';
import {once} from 'node:events';
import type {ServerResponse} from 'node:http';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {ContainerStatus, PodStatus} from '../../../api/types/v1-status.js';
import {isSystemCallError, messageOf} from '../../../base/errors.js';
import {systemErrorMessage} from '../../../base/system-error-message.js';
import {type ContainerId} from '../../../cri/index.js';
import {goQuote} from '../../../format/go-quote.js';
import {logPathOf, getContainerStatus} from '../../../operations/logs/container-log.js';
import {isRunning} from '../../../operations/logs/follow/container-state.js';
import {CRI_CLIENT_LOG_STRATEGY} from '../../../operations/logs/crictl-log-strategy.js';
import {checkLogFile} from '../../../operations/logs/log-file.js';
import {readLog, type ReadLogOptions} from '../../../operations/logs/read-log.js';
import {logTime} from '../../../operations/logs/log-selection.js';
import {isGateEnabled} from '../../configuration/feature-gates.js';
import {parseContainerId} from '../../contract/parse-container-id.js';
import {HttpError, type KubeletResponse, type KubeletRequest} from '../kubelet-response.js';
import {findRequestedPod} from '../find-requested-pod.js';
import {parsePodLogOptions, type PodLogOptions} from './pod-log-options.js';
import type {ServerOptions} from '../http-server-options.js';
import type {Route} from '../router.js';
import type {ServedKubelet} from '../served-kubelet.js';

type LogServices = Pick<ServerOptions, 'runtime' | 'clock' | 'configuration'>;

/**
 * Returns the route of /containerLogs, which streams a container's log: the current file without rotated ones, with
 * physical lines counted (kubelet_pods.go GetKubeletContainerLogs).
 */
export function containerLogsRoute(kubelet: ServedKubelet, services: LogServices): Route {
  return {
    pattern: '/containerLogs/{podNamespace}/{podID}/{containerName}',
    methods: ['GET'],
    handle: async (request) => await containerLogs(kubelet, services, request),
  };
}

async function containerLogs(
  kubelet: ServedKubelet,
  services: LogServices,
  request: KubeletRequest,
): Promise<KubeletResponse> {
  const {podID = '', containerName = ''} = request.params;
  const query = parsePodLogOptions(request.query);
  const pod = findRequestedPod(kubelet, request, `pod ${goQuote(podID)} does not exist`);
  if (findContainer(pod, containerName) === undefined)
    throw new HttpError(404, `container ${goQuote(containerName)} not found in pod ${goQuote(podID)}`);
  if (query.stream !== 'All' && !canSplitStreams(services))
    throw new HttpError(
      400,
      `unable to return the given log stream: ${goQuote(query.stream)}. Please enable PodLogsQuerySplitStreams feature gate in kubelet`,
    );
  const containerId = selectInstance(pod, containerName, query.previous);
  const path = await readablePath(services, containerId, request.signal);
  const id = parseContainerId(containerId);
  return {
    kind: 'streamed',
    write: async (response) => {
      await readLog(path, readOptions(query, id, services, request.signal), sinkOf(response, request.signal));
    },
  };
}

function canSplitStreams({configuration}: LogServices): boolean {
  const featureGates = (configuration['featureGates'] ?? {}) as Readonly<Record<string, boolean>>;
  return isGateEnabled({featureGates}, 'PodLogsQuerySplitStreams');
}

const STATUS_LISTS = [
  'containerStatuses',
  'initContainerStatuses',
  'ephemeralContainerStatuses',
] as const satisfies readonly (keyof PodStatus)[];

/**
 * Returns the ID of the instance whose log is requested, with the runtime's prefix. Throws HttpError 400 with the
 * kubelet's message without such an instance (validateContainerLogStatus).
 */
function selectInstance({metadata, status: podStatus = {}}: Pod, name: string, previous: boolean): string {
  const inPod = `container ${goQuote(name)} in pod ${goQuote(metadata.name ?? '')}`;
  const status = STATUS_LISTS.flatMap((list) => podStatus[list] ?? []).find((each) => each.name === name);
  if (status === undefined) throw new HttpError(400, `${inPod} is not available`);
  const last = status.lastState?.terminated?.containerID ?? '';
  const id = previous ? last : currentInstance(status, last);
  if (id !== '') return id;
  throw new HttpError(
    400,
    previous ? `previous terminated ${inPod} not found` : `${inPod} is ${noLogReason(status.state)}`,
  );
}

/** Returns the ID of the running instance, or else of the last terminated one; empty if the container never ran. */
function currentInstance({state, containerID = ''}: ContainerStatus, last: string): string {
  if (state?.running !== undefined) return containerID;
  const terminated = state?.terminated?.containerID ?? '';
  return terminated === '' ? last : terminated;
}

function noLogReason(state: ContainerStatus['state']): string {
  if (state?.terminated !== undefined) return 'terminated';
  if (state?.waiting === undefined) return 'waiting to start - no logs yet';
  const {reason = ''} = state.waiting;
  if (reason === 'ErrImagePull') return "waiting to start: image can't be pulled";
  if (reason === 'ImagePullBackOff') return 'waiting to start: trying and failing to pull image';
  return `waiting to start: ${reason}`;
}

/**
 * Resolves with the path of the log. Rejects with HttpError 400 if the container or its log file does not exist, or the log
 * is a pipe or device. A kubelet responds with 200 and the error as the log, so that kubectl cannot report a failure.
 */
async function readablePath({runtime}: LogServices, id: string, signal: AbortSignal): Promise<string> {
  try {
    const path = logPathOf(await getContainerStatus(runtime, parseContainerId(id), signal));
    await checkLogFile(path);
    return path;
  } catch (error) {
    signal.throwIfAborted();
    const reason = isSystemCallError(error) ? systemErrorMessage(error) : messageOf(error);
    throw new HttpError(400, `unable to retrieve container logs for ${id}: ${reason}`);
  }
}

const BOTH = ['stdout', 'stderr'] as const;
const STREAMS = {All: BOTH, Stdout: ['stdout'], Stderr: ['stderr']} as const;

function readOptions(
  query: PodLogOptions,
  id: ContainerId,
  {runtime, clock}: LogServices,
  signal: AbortSignal,
): ReadLogOptions {
  const {sinceSeconds, sinceTime, tailLines, limitBytes, timestamps, follow, stream} = query;
  const sinceMs = sinceSeconds === undefined ? sinceTime : clock.now() - sinceSeconds * 1000;
  return {
    streams: new Set(STREAMS[stream]),
    since: sinceMs === undefined ? undefined : logTime(BigInt(Math.trunc(sinceMs)) * 1_000_000n),
    tailLines,
    limitBytes,
    timestamps,
    signal,
    strategy: CRI_CLIENT_LOG_STRATEGY,
    ...(follow && {
      followed: true,
      follow: {
        clock,
        progress: async () => ({kind: (await isRunning(runtime, id, signal)) ? 'running' : 'ended'}),
      },
    }),
  };
}

/** Returns a sink that writes to the response and respects its backpressure. */
function sinkOf(response: ServerResponse, signal: AbortSignal) {
  return {
    together: true,
    write: (_stream: string, bytes: Uint8Array): void => {
      response.write(bytes);
    },
    ready: async (): Promise<void> => {
      if (response.writableNeedDrain) await once(response, 'drain', {signal});
    },
  };
}
