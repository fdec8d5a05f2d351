import {findContainer} from '../../../../api/pod-containers.js';
import type {Pod} from '../../../../api/types/v1-pod.js';
import {messageOf} from '../../../../base/errors.js';
import {CriError} from '../../../../cri/index.js';
import {podRef} from '../../../contract/pod-ref.js';
import {UpgradeRefusedError} from '../../../../streaming/errors.js';
import {HttpError, type KubeletResponse, type KubeletRequest} from '../kubelet-response.js';
import {
  toHttpError,
  findRequestedPod,
  findRunningContainer,
  getRuntimeStatus,
} from '../find-requested-pod.js';
import type {ServerOptions} from '../http-server-options.js';
import type {Route} from '../router.js';
import type {ServedKubelet} from '../served-kubelet.js';
import {offersWebSocket} from './accept-websocket.js';
import {
  upgradeAwareProxy,
  createTranslatingProxy,
  tunnelingProxy,
  TUNNEL_PROTOCOL,
  V5_CHANNEL_PROTOCOL,
  type StreamProxy,
  type StreamProxyOptions,
} from './stream-proxies.js';
import {parsePortQuery, parseStreamQuery, type StreamQuery} from './stream-query.js';

type StreamServices = Pick<ServerOptions, 'runtime'> & StreamProxyOptions;

/** Streaming URL of a session in the runtime, and the proxy for the client's protocol. */
interface Session {
  readonly url: string;
  readonly proxy: StreamProxy;
}

type CreateSession = (request: KubeletRequest) => Promise<Session>;

const METHODS = ['GET', 'POST'];
const CONTAINER_PATHS = [
  '/{podNamespace}/{podID}/{containerName}',
  '/{podNamespace}/{podID}/{uid}/{containerName}',
];
const POD_PATHS = ['/{podNamespace}/{podID}', '/{podNamespace}/{podID}/{uid}'];

/**
 * Returns the routes of /exec, /attach and /portForward. They request a session from the runtime (GetExec, GetAttach,
 * GetPortForward) and proxy the client's connection to the runtime's streaming server. WebSocket subprotocols that
 * runtimes do not support are translated to SPDY (ExtendWebSocketsToKubelet).
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
  createSession: CreateSession,
): readonly Route[] {
  const handle = async (request: KubeletRequest): Promise<KubeletResponse> =>
    await openSession(services, createSession, request);
  return paths.map((path) => ({pattern: `${root}${path}`, methods: METHODS, handle}));
}

function execSession(kubelet: ServedKubelet, {runtime}: StreamServices): CreateSession {
  return async (request) => {
    const streams = parseStreamQuery(request.query);
    const pod = findRequestedPod(kubelet, request);
    const containerId = findRunningContainer(kubelet, pod, request);
    const cmd = request.query.getAll('command');
    const {signal} = request;
    const {url} = await runtime.exec({containerId, cmd, ...streams}, {signal});
    return {url, proxy: selectProxy(request, streams)};
  };
}

function attachSession(kubelet: ServedKubelet, {runtime}: StreamServices): CreateSession {
  return async (request) => {
    const streams = parseStreamQuery(request.query);
    const pod = findRequestedPod(kubelet, request);
    const {containerName = ''} = request.params;
    const {namespace, name} = podRef(pod);
    const missing = `container ${containerName} not found in pod ${name}_${namespace}`;
    const containerId = findRunningContainer(kubelet, pod, request, missing);
    // The spec decides whether the container has a TTY, not the request.
    const {tty = false} = findContainer(pod, containerName) ?? {};
    const {signal} = request;
    const {url} = await runtime.attach({containerId, ...streams, tty}, {signal});
    return {url, proxy: selectProxy(request, {...streams, tty})};
  };
}

function portForwardSession(kubelet: ServedKubelet, {runtime}: StreamServices): CreateSession {
  return async (request) => {
    const {headers} = request.raw;
    const isTunnelled = offersWebSocket(headers, TUNNEL_PROTOCOL);
    const port = isTunnelled ? [] : parsePortQuery(request.query, headers);
    const pod = findRequestedPod(kubelet, request);
    const {uid} = request.params;
    if (uid !== undefined && uid !== podRef(pod).uid) throw new HttpError(404, 'pod not found');
    const podSandboxId = newestSandbox(kubelet, pod);
    const {signal} = request;
    const {url} = await runtime.portForward({podSandboxId, port}, {signal});
    return {url, proxy: isTunnelled ? tunnelingProxy : upgradeAwareProxy};
  };
}

/** Returns the proxy for the client's protocol; runtimes do not support the v5 subprotocol. */
function selectProxy({raw}: KubeletRequest, streams: StreamQuery): StreamProxy {
  return offersWebSocket(raw.headers, V5_CHANNEL_PROTOCOL)
    ? createTranslatingProxy(streams)
    : upgradeAwareProxy;
}

function newestSandbox(kubelet: ServedKubelet, pod: Pod) {
  const [newest] = getRuntimeStatus(kubelet, pod).sandboxes;
  if (newest === undefined) throw new HttpError(500, `failed to find sandboxID for pod ${podRef(pod).uid}`);
  return newest.id;
}

async function openSession(
  options: StreamProxyOptions,
  createSession: CreateSession,
  request: KubeletRequest,
): Promise<KubeletResponse> {
  // Checked first: an unused session would remain in the runtime.
  if (!request.canUpgrade) throw new HttpError(400, 'unable to upgrade: missing upgrade headers in request');
  try {
    const {url, proxy} = await createSession(request);
    return await proxy(url, request, options);
  } catch (error) {
    request.signal.throwIfAborted();
    if (error instanceof HttpError) throw error;
    if (error instanceof UpgradeRefusedError) throw new HttpError(502, error.message);
    throw error instanceof CriError ? toHttpError(error) : new HttpError(500, messageOf(error));
  }
}
