import type {Pod} from '../../../api/v1.js';
import {messageOf} from '../../../base/errors.js';
import {CriError} from '../../../cri/index.js';
import {podRef} from '../../container/pod-ref.js';
import {UpgradeRefusedError} from '../../../streaming/errors.js';
import {HttpError, type Answer, type KubeletRequest} from '../answer.js';
import {containerSpec, criFault, podOf, runningContainer, runtimeStatusOf} from '../find-pod.js';
import type {ServerOptions} from '../options.js';
import type {Route} from '../routes.js';
import type {ServedKubelet} from '../served-kubelet.js';
import {offersWebSocket} from './accept-websocket.js';
import {
  passOn,
  translateV5,
  tunnel,
  TUNNEL,
  V5_CHANNELS,
  type Carrier,
  type CarrierOptions,
} from './carriers.js';
import {portQuery, streamQuery, type StreamQuery} from './stream-query.js';

type StreamServices = Pick<ServerOptions, 'runtime'> & CarrierOptions;

/** A session that the runtime has ready at a URL. */
interface Session {
  readonly url: string;
  readonly carrier: Carrier;
}

type AskForSession = (request: KubeletRequest) => Promise<Session>;

const METHODS = ['GET', 'POST'];
const CONTAINER_PATHS = [
  '/{podNamespace}/{podID}/{containerName}',
  '/{podNamespace}/{podID}/{uid}/{containerName}',
];
const POD_PATHS = ['/{podNamespace}/{podID}', '/{podNamespace}/{podID}/{uid}'];

/**
 * /exec, /attach and /portForward: the runtime is asked for a session (GetExec and its sisters), and the client's
 * connection is joined to the runtime's streaming server, whichever protocol the two agree on. Where a client speaks
 * WebSocket in a way that runtimes don't, kcri translates it into SPDY (ExtendWebSocketsToKubelet).
 */
export function streamRoutes(kubelet: ServedKubelet, services: StreamServices): readonly Route[] {
  return [
    ...routesFor('/exec', CONTAINER_PATHS, services, execSession(kubelet, services)),
    ...routesFor('/attach', CONTAINER_PATHS, services, attachSession(kubelet, services)),
    ...routesFor('/portForward', POD_PATHS, services, portForwardSession(kubelet, services)),
  ];
}

function routesFor(
  root: string,
  paths: readonly string[],
  services: StreamServices,
  askForSession: AskForSession,
): readonly Route[] {
  const handle = async (request: KubeletRequest): Promise<Answer> =>
    await opened(services, askForSession, request);
  return paths.map((path) => ({pattern: `${root}${path}`, methods: METHODS, handle}));
}

function execSession(kubelet: ServedKubelet, {runtime}: StreamServices): AskForSession {
  return async (request) => {
    const streams = streamQuery(request.query);
    const pod = podOf(kubelet, request);
    const containerId = runningContainer(kubelet, pod, request);
    const cmd = request.query.getAll('command');
    const {signal} = request;
    const {url} = await runtime.exec({containerId, cmd, ...streams}, {signal});
    return {url, carrier: carrierOf(request, streams)};
  };
}

function attachSession(kubelet: ServedKubelet, {runtime}: StreamServices): AskForSession {
  return async (request) => {
    const streams = streamQuery(request.query);
    const pod = podOf(kubelet, request);
    const containerId = runningContainer(kubelet, pod, request);
    // The container has a terminal or not, whatever is asked for.
    const {tty = false} = containerSpec(pod, request.params['containerName'] ?? '') ?? {};
    const {signal} = request;
    const {url} = await runtime.attach({containerId, ...streams, tty}, {signal});
    return {url, carrier: carrierOf(request, {...streams, tty})};
  };
}

function portForwardSession(kubelet: ServedKubelet, {runtime}: StreamServices): AskForSession {
  return async (request) => {
    const {headers} = request.raw;
    const isTunnelled = offersWebSocket(headers, TUNNEL);
    const port = isTunnelled ? [] : portQuery(request.query, headers);
    const pod = podOf(kubelet, request);
    const {uid} = request.params;
    if (uid !== undefined && uid !== podRef(pod).uid) throw new HttpError(404, 'pod not found');
    const podSandboxId = newestSandbox(kubelet, pod);
    const {signal} = request;
    const {url} = await runtime.portForward({podSandboxId, port}, {signal});
    return {url, carrier: isTunnelled ? tunnel : passOn};
  };
}

/** Runtimes speak no WebSocket in which a client can end its input. */
function carrierOf({raw}: KubeletRequest, streams: StreamQuery): Carrier {
  return offersWebSocket(raw.headers, V5_CHANNELS) ? translateV5(streams) : passOn;
}

function newestSandbox(kubelet: ServedKubelet, pod: Pod) {
  const [newest] = runtimeStatusOf(kubelet, pod).sandboxes;
  if (newest === undefined) throw new HttpError(500, `failed to find sandboxID for pod ${podRef(pod).uid}`);
  return newest.id;
}

async function opened(
  options: CarrierOptions,
  askForSession: AskForSession,
  request: KubeletRequest,
): Promise<Answer> {
  // A session that nobody takes up would wait in the runtime.
  if (!request.canUpgrade) throw new HttpError(400, 'unable to upgrade: missing upgrade headers in request');
  try {
    const {url, carrier} = await askForSession(request);
    return await carrier(url, request, options);
  } catch (error) {
    request.signal.throwIfAborted();
    if (error instanceof HttpError) throw error;
    if (error instanceof UpgradeRefusedError) throw new HttpError(502, error.message);
    throw error instanceof CriError ? criFault(error) : new HttpError(500, messageOf(error));
  }
}
