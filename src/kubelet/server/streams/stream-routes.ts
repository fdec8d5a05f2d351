import type {Socket} from 'node:net';
import type {Pod} from '../../../api/v1.js';
import {messageOf} from '../../../base/errors.js';
import {podRef} from '../../container/pod-ref.js';
import {UpgradeRefusedError} from '../../../streaming/errors.js';
import {HttpError, type Answer, type KubeletRequest} from '../answer.js';
import {containerSpec, criFault, podOf, runningContainer, runtimeStatusOf} from '../find-pod.js';
import type {ServerOptions} from '../options.js';
import type {Route} from '../routes.js';
import type {ServedKubelet} from '../served-kubelet.js';
import {openBackend} from './backend.js';
import {join} from './join.js';
import {portQuery, streamQuery} from './stream-query.js';

type StreamServices = Pick<ServerOptions, 'runtime' | 'clock' | 'streamingIdleTimeoutMs'>;

/** Asks the runtime for a session and gives its URL. */
type AskForUrl = (request: KubeletRequest) => Promise<string>;

const METHODS = ['GET', 'POST'];
const CONTAINER_PATHS = [
  '/{podNamespace}/{podID}/{containerName}',
  '/{podNamespace}/{podID}/{uid}/{containerName}',
];
const POD_PATHS = ['/{podNamespace}/{podID}', '/{podNamespace}/{podID}/{uid}'];

/**
 * /exec, /attach and /portForward: the runtime is asked for a session (GetExec and its sisters), and the client's
 * connection is joined to the runtime's streaming server, whichever protocol the two agree on.
 */
export function streamRoutes(kubelet: ServedKubelet, services: StreamServices): readonly Route[] {
  return [
    ...routesFor('/exec', CONTAINER_PATHS, services, execUrl(kubelet, services)),
    ...routesFor('/attach', CONTAINER_PATHS, services, attachUrl(kubelet, services)),
    ...routesFor('/portForward', POD_PATHS, services, portForwardUrl(kubelet, services)),
  ];
}

function routesFor(
  root: string,
  paths: readonly string[],
  services: StreamServices,
  askForUrl: AskForUrl,
): readonly Route[] {
  const handle = async (request: KubeletRequest): Promise<Answer> =>
    await proxied(services, askForUrl, request);
  return paths.map((path) => ({pattern: `${root}${path}`, methods: METHODS, handle}));
}

function execUrl(kubelet: ServedKubelet, {runtime}: StreamServices): AskForUrl {
  return async (request) => {
    const streams = streamQuery(request.query);
    const pod = podOf(kubelet, request);
    const containerId = runningContainer(kubelet, pod, request);
    const cmd = request.query.getAll('command');
    const {signal} = request;
    return (await runtime.exec({containerId, cmd, ...streams}, {signal})).url;
  };
}

function attachUrl(kubelet: ServedKubelet, {runtime}: StreamServices): AskForUrl {
  return async (request) => {
    const streams = streamQuery(request.query);
    const pod = podOf(kubelet, request);
    const containerId = runningContainer(kubelet, pod, request);
    // The container has a terminal or not, whatever is asked for.
    const {tty = false} = containerSpec(pod, request.params['containerName'] ?? '') ?? {};
    const {signal} = request;
    return (await runtime.attach({containerId, ...streams, tty}, {signal})).url;
  };
}

function portForwardUrl(kubelet: ServedKubelet, {runtime}: StreamServices): AskForUrl {
  return async (request) => {
    const port = portQuery(request.query, request.raw.headers);
    const pod = podOf(kubelet, request);
    const {uid} = request.params;
    if (uid !== undefined && uid !== podRef(pod).uid) throw new HttpError(404, 'pod not found');
    const podSandboxId = newestSandbox(kubelet, pod);
    const {signal} = request;
    return (await runtime.portForward({podSandboxId, port}, {signal})).url;
  };
}

function newestSandbox(kubelet: ServedKubelet, pod: Pod) {
  const [newest] = runtimeStatusOf(kubelet, pod).sandboxes;
  if (newest === undefined) throw new HttpError(500, `failed to find sandboxID for pod ${podRef(pod).uid}`);
  return newest.id;
}

async function proxied(
  {clock, streamingIdleTimeoutMs}: StreamServices,
  askForUrl: AskForUrl,
  request: KubeletRequest,
): Promise<Answer> {
  const {signal, method} = request;
  // A session that nobody takes up would wait in the runtime.
  if (!request.canUpgrade) throw new HttpError(400, 'unable to upgrade: missing upgrade headers in request');
  try {
    const url = await askForUrl(request);
    const backend = await openBackend(url, {method, headers: request.raw.headers}, {clock, signal});
    return {
      kind: 'upgraded',
      take: async (socket: Socket, head: Buffer) => {
        socket.write(switching(backend.rawHeaders));
        socket.write(backend.head);
        backend.socket.write(head);
        await join(socket, backend.socket, {
          transport: socket,
          idleMs: streamingIdleTimeoutMs,
          clock,
          signal,
        });
      },
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof HttpError) throw error;
    if (error instanceof UpgradeRefusedError)
      throw new HttpError(error.status >= 400 ? error.status : 502, error.message);
    throw error instanceof Error && 'grpcCode' in error
      ? criFault(error)
      : new HttpError(500, messageOf(error));
  }
}

/** The runtime's own 101, as it came. */
function switching(rawHeaders: readonly string[]): string {
  const lines = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1] ?? ''}\r\n`] : [],
  );
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`;
}
