import {once} from 'node:events';
import {access, constants} from 'node:fs/promises';
import type {ServerResponse} from 'node:http';
import type {Pod} from '../../api/v1.js';
import type {ContainerStatus} from '../../api/v1-status.js';
import {isSystemCallError, messageOf} from '../../base/errors.js';
import {systemReason} from '../../base/system-reason.js';
import {containerId, type ContainerId} from '../../cri/index.js';
import {goQuote} from '../../format/go-quote.js';
import {isRunning, logPathOf, statusOf} from '../../operations/logs/container-log.js';
import {readLog, type ReadLogOptions} from '../../operations/logs/read-log.js';
import {logTime} from '../../operations/logs/selection.js';
import {HttpError, type Answer, type KubeletRequest} from './answer.js';
import {containerSpec, podOf} from './find-pod.js';
import {logQuery, type LogQuery} from './log-query.js';
import type {ServerOptions} from './options.js';
import type {Route} from './routes.js';
import type {ServedKubelet} from './served-kubelet.js';

type LogServices = Pick<ServerOptions, 'runtime' | 'clock'>;

/** /containerLogs: a container's log (kubelet_pods.go GetKubeletContainerLogs), with what it was rotated into. */
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
): Promise<Answer> {
  const {podID = '', containerName = ''} = request.params;
  const query = logQuery(request.query);
  const pod = podOf(kubelet, request, `pod ${goQuote(podID)} does not exist`);
  if (containerSpec(pod, containerName) === undefined)
    throw new HttpError(404, `container ${goQuote(containerName)} not found in pod ${goQuote(podID)}`);
  const id = instanceWithLog(pod, containerName, query.previous);
  const path = await readablePath(services, id, request.signal);
  return {
    kind: 'streamed',
    write: async (response) => {
      await readLog(path, readOptions(query, id, services, request.signal), sinkOf(response, request.signal));
    },
  };
}

/** Which instance's log is meant. Throws HttpError 400 in the kubelet's words when there is none (validateContainerLogStatus). */
function instanceWithLog(
  {metadata, status: podStatus = {}}: Pod,
  name: string,
  previous: boolean,
): ContainerId {
  const inPod = `container ${goQuote(name)} in pod ${goQuote(metadata.name ?? '')}`;
  const {containerStatuses = [], initContainerStatuses = []} = podStatus;
  const status = [...containerStatuses, ...initContainerStatuses].find((one) => one.name === name);
  if (status === undefined) throw new HttpError(400, `${inPod} is not available`);
  const last = status.lastState?.terminated?.containerID ?? '';
  const id = previous ? last : currentInstance(status, last);
  if (id !== '') return idOf(id);
  throw new HttpError(
    400,
    previous ? `previous terminated ${inPod} not found` : `${inPod} is ${whyNoLog(status.state)}`,
  );
}

/** The one that runs, or else the last that has ended; empty when none has ever run. */
function currentInstance({state, containerID = ''}: ContainerStatus, last: string): string {
  if (state?.running !== undefined) return containerID;
  const ended = state?.terminated?.containerID ?? '';
  return ended === '' ? last : ended;
}

function whyNoLog(state: ContainerStatus['state']): string {
  if (state?.terminated !== undefined) return 'terminated';
  if (state?.waiting === undefined) return 'waiting to start - no logs yet';
  const {reason = ''} = state.waiting;
  if (reason === 'ErrImagePull') return "waiting to start: image can't be pulled";
  if (reason === 'ImagePullBackOff') return 'waiting to start: trying and failing to pull image';
  return `waiting to start: ${reason}`;
}

/** Of `containerd://abc` the second part. */
function idOf(text: string): ContainerId {
  return containerId(text.slice(text.indexOf('://') + 3));
}

/** Where the log is. Throws HttpError 400 when the runtime doesn't know the container any more, or there is no file. */
async function readablePath({runtime}: LogServices, id: ContainerId, signal: AbortSignal): Promise<string> {
  try {
    const path = logPathOf(await statusOf(runtime, id, signal));
    await access(path, constants.R_OK);
    return path;
  } catch (error) {
    signal.throwIfAborted();
    const reason = isSystemCallError(error) ? systemReason(error) : messageOf(error);
    throw new HttpError(400, `unable to retrieve container logs for ${id}: ${reason}`);
  }
}

const BOTH = ['stdout', 'stderr'] as const;
const STREAMS = {All: BOTH, Stdout: ['stdout'], Stderr: ['stderr']} as const;

function readOptions(
  query: LogQuery,
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
    ...(follow && {
      followed: true,
      follow: {
        clock,
        progress: async () => ({kind: (await isRunning(runtime, id, signal)) ? 'running' : 'ended'}),
      },
    }),
  };
}

/** Whoever reads slowly holds up the reading of the file. */
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
