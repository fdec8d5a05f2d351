import {SystemError} from '../../../base/errors.js';
import type {RuntimeContext} from '../../../cli/command/contexts.js';
import {isObject} from '../../../base/is-object.js';
import {parseJsonObject} from '../../../base/parse-json-object.js';
import {readCgroupDriver} from '../../../cri/read-cgroup-driver.js';
import {
  socketPath,
  type Connection,
  type Container,
  type Image,
  type PodSandbox,
  type RuntimeCondition,
} from '../../../cri/index.js';
import {mapFact, type Fact} from '../fact.js';
import type {
  ContainerFacts,
  ImageFacts,
  RuntimeCall,
  RuntimeConditionFacts,
  RuntimeConfigFacts,
  RuntimeFacts,
  SandboxFacts,
} from '../node-snapshot.js';
import type {RemoteRuntime} from '../../../cli/remote/remote-runtime.js';
import {parseSshEndpoint} from '../../../remote/ssh-endpoint.js';
import {LATENCIES, readRunHistory} from './run-history.js';
import type {FileReader} from './file-reader.js';

/** Reads what the runtime says about itself, with all calls at once. */
export async function readRuntime(
  services: RuntimeContext,
  node: FileReader,
  signal: AbortSignal,
): Promise<RuntimeFacts> {
  const {connections, context} = services;
  const isRemote = connections.remote !== undefined;
  const endpoint = await node.fact(async () => await connections.endpoint());
  const socket =
    'value' in endpoint ? await node.file(socketOf(endpoint.value, connections.remote)) : endpoint;
  const connected = await node.fact(async () => await connections.default());
  const connection: Fact<Connection> =
    'error' in connected ? {error: 'no runtime to ask (see runtime/reachable)'} : connected;
  const calls: RuntimeCall[] = [];
  const call = async <T>(rpc: string, make: (connection: Connection) => Promise<T>): Promise<Fact<T>> => {
    if (!('value' in connection)) return connection;
    const start = context.clock.monotonic();
    const answer = await node.fact(async () => await make(connection.value), rpc);
    const ms = context.clock.monotonic() - start;
    calls.push({rpc, ms, ...('error' in answer && {error: answer.error})});
    return answer;
  };
  const [version, status, cgroupDriver, sandboxes, containers, images] = await Promise.all([
    call('Version', async ({runtime}) => await runtime.version({}, {signal})),
    call('Status', async ({runtime}) => await runtime.status({verbose: true}, {signal})),
    node.fact(async () => {
      if (!('value' in connection)) throw new SystemError(connection.error);
      return await readCgroupDriver(connection.value.runtime, signal);
    }),
    call('ListPodSandbox', async ({runtime}) => await runtime.listPodSandbox({}, {signal})),
    call('ListContainers', async ({runtime}) => await runtime.listContainers({}, {signal})),
    call('ListImages', async ({images: service}) => await service.listImages({}, {signal})),
  ]);
  return {
    endpoint,
    socket,
    calls: calls.toSorted((a, b) => (a.rpc < b.rpc ? -1 : 1)),
    version: mapFact(version, ({runtimeName, runtimeVersion}) => ({
      name: runtimeName,
      version: runtimeVersion,
    })),
    conditions: mapFact(status, (response) => (response.status?.conditions ?? []).map(conditionFacts)),
    config: mapFact(status, ({info}) => parseConfig(info['config'] ?? '')),
    cgroupDriver,
    handlers: mapFact(status, ({runtimeHandlers}) => runtimeHandlers.map(({name}) => name)),
    sandboxes: mapFact(sandboxes, ({items}) => items.map(sandboxFacts)),
    containers: mapFact(containers, (response) => response.containers.map(containerFacts)),
    images: mapFact(images, (response) => response.images.map(imageFacts)),
    history: await readRunHistory(LATENCIES, services.settings.rootDir, {node, isRemote}),
  };
}

/** Returns the path of the socket on its node. */
function socketOf(endpoint: string, remote: RemoteRuntime | undefined): string {
  return remote === undefined ? socketPath(endpoint) : (parseSshEndpoint(remote.endpoint).socketPath ?? '');
}

function conditionFacts({type, status, reason, message}: RuntimeCondition): RuntimeConditionFacts {
  return {type, status, reason, message};
}

function imageFacts({id, size, repoTags, repoDigests, pinned}: Image): ImageFacts {
  return {id, bytes: Number(size), tags: [...repoTags, ...repoDigests], isPinned: pinned};
}

function sandboxFacts({id, metadata, state}: PodSandbox): SandboxFacts {
  return {
    id,
    namespace: metadata?.namespace ?? '',
    name: metadata?.name ?? '',
    uid: metadata?.uid ?? '',
    isReady: state === 'SANDBOX_READY',
  };
}

function containerFacts({
  id,
  metadata,
  podSandboxId,
  state,
  image,
  imageRef,
  imageId,
}: Container): ContainerFacts {
  const images = [image?.image ?? '', imageRef, imageId].filter((each) => each !== '');
  return {id, name: metadata?.name ?? '', sandboxId: podSandboxId, state, images: [...new Set(images)]};
}

/** Returns the configuration in the verbose status of containerd; empty for CRI-O, whose configuration is not JSON. */
export function parseConfig(text: string): RuntimeConfigFacts {
  const config = parseJsonObject(text);
  const cni = objectIn(config, 'cni');
  const containerd = objectIn(config, 'containerd');
  const {defaultRuntimeName, runtimes} = containerd;
  const {sandboxImage, containerdRootDir, stateDir, netnsMountsUnderStateDir} = config;
  // containerd 2 has several directories of plugins, and the sandbox image among the pinned images.
  const pinned =
    objectIn(objectIn(config, 'imageConfig'), 'pinned_images')['sandbox'] ??
    objectIn(config, 'pinnedImages')['sandbox'];
  const binDirs = Array.isArray(cni['binDirs']) ? cni['binDirs'] : [cni['binDir']];
  return {
    ...textField('defaultHandler', defaultRuntimeName),
    ...(isObject(runtimes) && {handlers: Object.keys(runtimes).sort()}),
    ...textField('sandboxImage', sandboxImage ?? pinned),
    ...textField('rootDir', containerdRootDir),
    ...textField('stateDir', stateDir),
    ...textField('cniConfDir', cni['confDir']),
    ...(binDirs.some(isText) && {cniBinDirs: binDirs.filter(isText)}),
    ...(typeof netnsMountsUnderStateDir === 'boolean' && {netnsUnderStateDir: netnsMountsUnderStateDir}),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const textField = (name: keyof RuntimeConfigFacts, value: unknown): RuntimeConfigFacts =>
  isText(value) ? {[name]: value} : {};

function objectIn(
  object: Readonly<Record<string, unknown>>,
  name: string,
): Readonly<Record<string, unknown>> {
  const value = object[name];
  return isObject(value) ? value : {};
}
