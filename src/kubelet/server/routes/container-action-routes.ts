import {findContainer} from '../../../api/pod-containers.js';
import {join} from 'node:path';
import {messageOf} from '../../../base/errors.js';
import {makeDirectoryPath} from '../../../base/fs/make-directory-path.js';
import {execErrorMessage} from '../../../format/exec-error.js';
import {formatRfc3339Seconds} from '../../../format/time.js';
import {podRef} from '../../contract/pod-ref.js';
import {HttpError, jsonResponse, type KubeletResponse, type KubeletRequest} from '../kubelet-response.js';
import {findRequestedPod, findRunningContainer} from '../find-requested-pod.js';
import type {ServerOptions} from '../http-server-options.js';
import type {Route} from '../router.js';
import type {ServedKubelet} from '../served-kubelet.js';

type ActionServices = Pick<ServerOptions, 'runtime' | 'clock' | 'node'>;

/** Shortest and default timeout of a checkpoint, in seconds; equals the default of runtimeRequestTimeout. */
const DEFAULT_CHECKPOINT_SECONDS = 120;
const MAX_TIMEOUT_SECONDS = 24 * 60 * 60;

/** Returns the routes of /run, which runs a command and responds with its output as JSON (getRun, RunInContainer). */
export function createRunRoutes(kubelet: ServedKubelet, services: ActionServices): readonly Route[] {
  return [
    '/run/{podNamespace}/{podID}/{containerName}',
    '/run/{podNamespace}/{podID}/{uid}/{containerName}',
  ].map((pattern) => ({
    pattern,
    methods: ['POST'],
    handle: async (request) => await run(kubelet, services, request),
  }));
}

async function run(
  kubelet: ServedKubelet,
  {runtime}: ActionServices,
  request: KubeletRequest,
): Promise<KubeletResponse> {
  const {query, signal} = request;
  const containerId = findRunningContainer(kubelet, findRequestedPod(kubelet, request), request);
  const cmd = (query.get('cmd') ?? '').split(' ');
  const {stdout, stderr, exitCode} = await orHttpError(
    runtime.execSync({containerId, cmd, timeout: 0n}, {signal}),
    (error) => execErrorMessage(error, cmd, 0),
    signal,
  );
  if (exitCode !== 0)
    throw new HttpError(500, `command '${cmd.join(' ')}' exited with ${exitCode}: ${stderr.toString()}`);
  return jsonResponse(Buffer.concat([stdout, stderr]));
}

/**
 * Returns the route of /checkpoint, which writes an archive of a container's state to the root directory
 * (CheckpointContainer).
 */
export function createCheckpointRoute(kubelet: ServedKubelet, services: ActionServices): Route {
  return {
    pattern: '/checkpoint/{podNamespace}/{podID}/{containerName}',
    methods: ['POST'],
    handle: async (request) => await checkpoint(kubelet, services, request),
  };
}

async function checkpoint(
  kubelet: ServedKubelet,
  {runtime, clock, node}: ActionServices,
  request: KubeletRequest,
): Promise<KubeletResponse> {
  const {params, query, signal} = request;
  const {podNamespace = '', podID = '', containerName = ''} = params;
  const pod = findRequestedPod(kubelet, request);
  if (findContainer(pod, containerName) === undefined)
    throw new HttpError(404, `container ${containerName} does not exist`);
  const timeout = timeoutSeconds(query);
  const message = (error: unknown): string =>
    `checkpointing of ${podNamespace}/${podID}/${containerName} failed (${messageOf(error)})`;
  const directory = join(node.rootDir, 'checkpoints');
  const {name, namespace} = podRef(pod);
  const createdAt = formatRfc3339Seconds(clock.now());
  const location = join(directory, `checkpoint-${name}_${namespace}-${containerName}-${createdAt}.tar`);
  const notFound = message(`container ${containerName} not found`);
  const containerId = findRunningContainer(kubelet, pod, request, notFound);
  if (timeout < 0)
    throw new HttpError(500, message('CheckpointContainer requires the timeout value to be > 0'));
  await orHttpError(makeDirectoryPath(directory, 0o700), message, signal);
  await orHttpError(
    runtime.checkpointContainer(
      {containerId, location, timeout: BigInt(timeout)},
      {signal, timeoutMs: timeout * 1000},
    ),
    message,
    signal,
  );
  return jsonResponse(JSON.stringify({items: [location]}));
}

/** Returns the timeout of the query, negative or at least the default, as for a kubelet's client of the runtime. */
function timeoutSeconds(query: URLSearchParams): number {
  const text = query.getAll('timeout').at(-1);
  if (text === undefined) return DEFAULT_CHECKPOINT_SECONDS;
  const seconds = Number(text);
  if (!/^[+-]?\d+$/.test(text) || seconds > MAX_TIMEOUT_SECONDS)
    throw new HttpError(404, 'cannot parse value of timeout parameter');
  return seconds < 0 ? seconds : Math.max(seconds, DEFAULT_CHECKPOINT_SECONDS);
}

/** Rejects with HttpError 500 and the message if the promise rejects, or with the signal's reason. */
async function orHttpError<T>(
  promise: Promise<T>,
  message: (error: unknown) => string,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    signal.throwIfAborted();
    throw new HttpError(500, message(error));
  }
}
