import {findContainer} from '../../../api/pod-containers.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {messageOf} from '../../../base/errors.js';
import {CriError, type PodSandboxId} from '../../../cri/index.js';
import {goQuote} from '../../../format/go-quote.js';
import {podRef} from '../../contract/pod-ref.js';
import {isLive} from '../../contract/runtime-pod-status.js';
import {UpgradeRefusedError} from '../../../streaming/session/errors.js';
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
import {offersWebSocket} from '../../../http-server/accept-websocket.js';
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

/** A valid request for a session, and the proxy for the client's protocol. */
interface RequestedSession {
  /** Creates the session in the runtime and resolves with its streaming URL. */
  readonly create: () => Promise<{readonly url: string}>;
  readonly proxy: StreamProxy;
}

/** Validates a request for a session. Throws HttpError. */
type RequestSession = (request: KubeletRequest) => RequestedSession;

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
  requestSession: RequestSession,
): readonly Route[] {
  const handle = async (request: KubeletRequest): Promise<KubeletResponse> =>
    await openSession(services, requestSession, request);
  return paths.map((path) => ({pattern: `${root}${path}`, methods: METHODS, handle}));
}

function execSession(kubelet: ServedKubelet, {runtime}: StreamServices): RequestSession {
  return (request) => {
    const streams = parseStreamQuery(request.query);
    const pod = findRequestedPod(kubelet, request);
    const containerId = findRunningContainer(kubelet, pod, request);
    const cmd = request.query.getAll('command');
    const {signal} = request;
    return {
      create: () => runtime.exec({containerId, cmd, ...streams}, {signal}),
      proxy: selectProxy(request, streams),
    };
  };
}

function attachSession(kubelet: ServedKubelet, {runtime}: StreamServices): RequestSession {
  return (request) => {
    const streams = parseStreamQuery(request.query);
    const pod = findRequestedPod(kubelet, request);
    const {containerName = ''} = request.params;
    const missing = `container ${containerName} not found in pod ${fullName(pod)}`;
    const containerId = findRunningContainer(kubelet, pod, request, missing);
    if (isOtherPod(pod, request)) throw new HttpError(500, `pod ${fullName(pod)} not found`);
    // The spec decides whether the container has a TTY, not the request.
    const {tty = false} = findContainer(pod, containerName) ?? {};
    const {signal} = request;
    return {
      create: () => runtime.attach({containerId, ...streams, tty}, {signal}),
      proxy: selectProxy(request, {...streams, tty}),
    };
  };
}

function portForwardSession(kubelet: ServedKubelet, {runtime}: StreamServices): RequestSession {
  return (request) => {
    const isTunnelled = offersWebSocket(request.raw.headers, TUNNEL_PROTOCOL);
    const port = isTunnelled ? [] : parsePortQuery(request);
    const pod = findRequestedPod(kubelet, request);
    if (isOtherPod(pod, request)) throw new HttpError(404, 'pod not found');
    const podSandboxId = newestSandbox(kubelet, pod);
    const {signal} = request;
    return {
      create: () => runtime.portForward({podSandboxId, port}, {signal}),
      proxy: isTunnelled ? tunnelingProxy : upgradeAwareProxy,
    };
  };
}

/** Reports whether the UID in the path is that of another pod with the same name. */
function isOtherPod(pod: Pod, {params: {uid}}: KubeletRequest): boolean {
  return uid !== undefined && uid !== podRef(pod).uid;
}

/** Returns the pod's name and namespace as in messages of the kubelet (kubecontainer.GetPodFullName). */
function fullName(pod: Pod): string {
  const {name, namespace} = podRef(pod);
  return `${name}_${namespace}`;
}

/** Returns the proxy for the client's protocol; runtimes do not support the v5 subprotocol. */
function selectProxy({raw}: KubeletRequest, streams: StreamQuery): StreamProxy {
  return offersWebSocket(raw.headers, V5_CHANNEL_PROTOCOL)
    ? createTranslatingProxy(streams)
    : upgradeAwareProxy;
}

/** Returns the ID of the pod's newest sandbox. Throws HttpError 500 if nothing of the pod runs (GetPortForward). */
function newestSandbox(kubelet: ServedKubelet, pod: Pod): PodSandboxId {
  const status = getRuntimeStatus(kubelet, pod);
  if (!isLive(status)) throw new HttpError(500, `pod not found (${goQuote(fullName(pod))})`);
  const [newest] = status.sandboxes;
  if (newest === undefined) throw new HttpError(500, `failed to find sandboxID for pod ${podRef(pod).uid}`);
  return newest.id;
}

async function openSession(
  options: StreamProxyOptions,
  requestSession: RequestSession,
  request: KubeletRequest,
): Promise<KubeletResponse> {
  const {create, proxy} = requestSession(request);
  // Checked before the session is created: an unused one would remain in the runtime.
  if (!request.canUpgrade) throw new HttpError(500, 'Upgrade request required\n');
  try {
    const {url} = await create();
    return await proxy(url, request, options);
  } catch (error) {
    request.signal.throwIfAborted();
    if (error instanceof HttpError) throw error;
    if (error instanceof UpgradeRefusedError) throw new HttpError(502, error.message);
    throw error instanceof CriError ? toHttpError(error) : new HttpError(500, messageOf(error));
  }
}
