import {KcriError} from '../../base/errors.js';
import {isObject} from '../../base/is-object.js';
import {forEachLimit} from '../../base/async/for-each-limit.js';
import {
  RECORDED_CALLS,
  type RecordedCall,
  type RuntimeRecording,
} from '../../cli/archive/recorded-runtime.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import {
  containerId,
  CriError,
  podSandboxId,
  toJson,
  type Connection,
  type ContainerStatus,
} from '../../cri/index.js';
import {listAllContainers, listAllImages, listAllSandboxes} from '../../cri/list-all.js';
import {
  parseContainerInfo,
  parseSandboxInfo,
  type SandboxInfo,
} from '../../operations/inspect/verbose-info.js';

/** Number of status calls at once. */
const AT_ONCE = 8;

/** A container with a log, and the values of its variables, which its log may contain. */
export interface LoggedContainer {
  readonly status: ContainerStatus;
  readonly env: readonly string[];
}

/** Recording of a runtime, and what its containers have for the recording of their logs. */
export interface RuntimeRecord {
  readonly recording: RuntimeRecording;
  readonly containers: readonly LoggedContainer[];
}

/**
 * Records what lists and statuses of a runtime say. Of the verbose information only process IDs are kept, since it has values
 * of variables. Calls that fail are recorded with their reasons. Rejects with the signal's reason, and with ConfigError
 * without a runtime.
 */
export async function recordRuntime({connections, signal}: RuntimeContext): Promise<RuntimeRecord> {
  const connection = await connections.default();
  const answers: Partial<Record<RecordedCall, unknown>> = {};
  const failures: Partial<Record<RecordedCall, string>> = {};
  for (const rpc of RECORDED_CALLS) {
    try {
      answers[rpc] = await CALLS[rpc](connection, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof KcriError)) throw error;
      failures[rpc] = error.plainMessage;
    }
  }
  const {runtime} = connection;
  const sandboxes = await recordEach(idsOf(answers.ListPodSandbox), signal, async (id) => {
    const {status, info} = await runtime.podSandboxStatus(
      {podSandboxId: podSandboxId(id), verbose: true},
      {signal},
    );
    return toJson('PodSandboxStatusResponse', {status, info: processInfo(parseSandboxInfo(info))});
  });
  const logged: LoggedContainer[] = [];
  const containers = await recordEach(idsOf(answers.ListContainers), signal, async (id) => {
    const {status, info} = await runtime.containerStatus(
      {containerId: containerId(id), verbose: true},
      {signal},
    );
    const facts = parseContainerInfo(info);
    if (status !== undefined) logged.push({status, env: facts.env});
    return toJson('ContainerStatusResponse', {status, info: processInfo({pid: facts.pid})});
  });
  return {recording: {answers, sandboxes, containers, failures}, containers: logged};
}

const CALLS: Readonly<
  Record<RecordedCall, (connection: Connection, signal: AbortSignal) => Promise<unknown>>
> = {
  Version: async ({runtime}, signal) => toJson('VersionResponse', await runtime.version({}, {signal})),
  Status: async ({runtime}, signal) => toJson('StatusResponse', await runtime.status({}, {signal})),
  ListPodSandbox: async ({runtime}, signal) =>
    toJson('ListPodSandboxResponse', {items: await listAllSandboxes(runtime, {}, signal)}),
  ListContainers: async ({runtime}, signal) =>
    toJson('ListContainersResponse', {containers: await listAllContainers(runtime, {}, signal)}),
  ListImages: async ({images}, signal) =>
    toJson('ListImagesResponse', {images: await listAllImages(images, signal)}),
};

/** Returns the IDs in the response of a list. */
function idsOf(response: unknown): readonly string[] {
  const lists = isObject(response) ? Object.values(response) : [];
  return lists.flatMap((list) =>
    Array.isArray(list) ? list.flatMap((item: unknown) => (isObject(item) ? String(item['id']) : [])) : [],
  );
}

/** Records each object, in their order. One that was removed in the meantime, or whose call fails, is left out. */
async function recordEach(
  ids: readonly string[],
  signal: AbortSignal,
  record: (id: string) => Promise<unknown>,
): Promise<readonly unknown[]> {
  const records = new Map<string, unknown>();
  await forEachLimit(ids, AT_ONCE, async (id) => {
    try {
      records.set(id, await record(id));
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof CriError)) throw error;
    }
  });
  return ids.flatMap((id) => records.get(id) ?? []);
}

/** Returns the process ID and the host ports of verbose information as runtimes report them. */
function processInfo({
  pid = 0,
  ports = [],
}: Partial<Pick<SandboxInfo, 'pid' | 'ports'>>): Readonly<Record<string, string>> {
  const mappings = ports.map(({hostIp, hostPort, containerPort, protocol}) => ({
    ...{protocol, container_port: containerPort, host_port: hostPort, host_ip: hostIp},
  }));
  return {info: JSON.stringify({pid, ...(mappings.length > 0 && {config: {port_mappings: mappings}})})};
}
