import {join} from 'node:path';
import {messageOf} from '../../base/errors.js';
import {makeDirectoryPath} from '../../base/make-directory-path.js';
import {podRef} from '../container/pod-ref.js';
import {HttpError, json, type Answer, type KubeletRequest} from './answer.js';
import {containerSpec, podOf, runningContainer} from './find-pod.js';
import type {ServerOptions} from './options.js';
import type {Route} from './routes.js';
import type {ServedKubelet} from './served-kubelet.js';

type ActionServices = Pick<ServerOptions, 'runtime' | 'clock' | 'node'>;

/** How long a checkpoint may take, in seconds, unless it is said: what every call may (runtimeRequestTimeout). */
const CHECKPOINT_SECONDS = 120;
const MAX_TIMEOUT_SECONDS = 24 * 60 * 60;

/** /run: a command's output, all at once, as JSON whatever it is (RunInContainer). */
export function runRoutes(kubelet: ServedKubelet, services: ActionServices): readonly Route[] {
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
): Promise<Answer> {
  const {query, signal} = request;
  const containerId = runningContainer(kubelet, podOf(kubelet, request), request);
  const cmd = (query.get('cmd') ?? '').split(' ');
  const {stdout, stderr, exitCode} = await orFault(
    runtime.execSync({containerId, cmd, timeout: 0n}, {signal}),
    (reason) => reason,
    signal,
  );
  if (exitCode !== 0)
    throw new HttpError(500, `command '${cmd.join(' ')}' exited with ${exitCode}: ${stderr.toString()}`);
  return json(Buffer.concat([stdout, stderr]));
}

/** /checkpoint: an archive of a container's state below the root directory (CheckpointContainer). */
export function checkpointRoute(kubelet: ServedKubelet, services: ActionServices): Route {
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
): Promise<Answer> {
  const {params, query, signal} = request;
  const {podNamespace = '', podID = '', containerName = ''} = params;
  const pod = podOf(kubelet, request);
  if (containerSpec(pod, containerName) === undefined)
    throw new HttpError(404, `container ${containerName} does not exist`);
  const timeout = timeoutSeconds(query);
  const why = (reason: string): string =>
    `checkpointing of ${podNamespace}/${podID}/${containerName} failed (${reason})`;
  const directory = join(node.rootDir, 'checkpoints');
  const {name, namespace} = podRef(pod);
  const at = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const location = join(directory, `checkpoint-${name}_${namespace}-${containerName}-${at}.tar`);
  const containerId = runningContainer(kubelet, pod, request);
  await orFault(makeDirectoryPath(directory, 0o700), why, signal);
  await orFault(
    runtime.checkpointContainer(
      {containerId, location, timeout: BigInt(timeout)},
      {signal, timeoutMs: timeout * 1000},
    ),
    why,
    signal,
  );
  return json(JSON.stringify({items: [location]}));
}

function timeoutSeconds(query: URLSearchParams): number {
  const text = query.getAll('timeout').at(-1);
  if (text === undefined) return CHECKPOINT_SECONDS;
  const seconds = Number(text);
  if (!/^\d+$/.test(text) || seconds > MAX_TIMEOUT_SECONDS)
    throw new HttpError(404, 'cannot parse value of timeout parameter');
  return seconds === 0 ? CHECKPOINT_SECONDS : seconds;
}

async function orFault<T>(
  act: Promise<T>,
  message: (reason: string) => string,
  signal: AbortSignal,
): Promise<T> {
  try {
    return await act;
  } catch (error) {
    signal.throwIfAborted();
    throw new HttpError(500, message(messageOf(error)));
  }
}
