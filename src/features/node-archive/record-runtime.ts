import {KcriError} from '../../base/errors.js';
import {isObject} from '../../base/is-object.js';
import {forEachLimit} from '../../base/async/for-each-limit.js';
import {
  RECORDED_CALLS,
  RUNTIME_ID,
  SAMPLED_CALLS,
  type DetailsRecording,
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
  type VerboseInfo,
} from '../../operations/inspect/verbose-info.js';
import {fetchContainerStats, fetchSandboxStats} from '../../operations/stats/fetch-stats.js';

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
  readonly details: DetailsRecording;
  /** Number of objects whose verbose information was left out because of its size. */
  readonly withoutDetails: number;
  /** Number of images that were not asked for theirs, since it took too long. */
  readonly imagesNotAsked: number;
  readonly containers: readonly LoggedContainer[];
}

/** Time in which images are asked for their verbose information, in ms: a node may have thousands. */
const IMAGES_MS = 2000;
/** Time between two samples of the usage at least, in ms. */
const SAMPLE_MS = 250;

/** Largest verbose information of one object, in bytes. */
const MAX_INFO_BYTES = 128 * 1024;

/**
 * Records what lists, statuses and statistics of a runtime say; of the verbose information at most `maxInfoBytes` together.
 * Calls that fail are recorded with their reasons. Values of variables are not masked yet. Rejects with the signal's reason,
 * and with ConfigError without a runtime.
 */
export async function recordRuntime(
  {connections, context: {clock}, signal}: RuntimeContext,
  maxInfoBytes: number,
): Promise<RuntimeRecord> {
  const connection = await connections.default();
  const infos = new InfoRecorder(maxInfoBytes);
  const caller = {connection, infos, signal};
  const before = await callEach(SAMPLED_CALLS, caller);
  const sampledAt = clock.monotonic();
  const lists = await callEach(LISTS, caller);
  const {runtime, images} = connection;
  const sandboxes = await recordEach(idsOf(lists.answers.ListPodSandbox), signal, async (id) => {
    const {status, info} = await runtime.podSandboxStatus(
      {podSandboxId: podSandboxId(id), verbose: true},
      {signal},
    );
    infos.add('sandboxes', id, info);
    return toJson('PodSandboxStatusResponse', {status, info: processInfo(parseSandboxInfo(info))});
  });
  const logged: LoggedContainer[] = [];
  const containers = await recordEach(idsOf(lists.answers.ListContainers), signal, async (id) => {
    const {status, info} = await runtime.containerStatus(
      {containerId: containerId(id), verbose: true},
      {signal},
    );
    infos.add('containers', id, info);
    const facts = parseContainerInfo(info);
    if (status !== undefined) logged.push({status, env: facts.env});
    return toJson('ContainerStatusResponse', {status, info: processInfo({pid: facts.pid})});
  });
  let imagesNotAsked = 0;
  const imagesUntil = clock.monotonic() + IMAGES_MS;
  await recordEach(idsOf(lists.answers.ListImages), signal, async (id) => {
    if (infos.isFull) infos.leftOut += 1;
    else if (clock.monotonic() >= imagesUntil) imagesNotAsked += 1;
    else
      infos.add('images', id, (await images.imageStatus({image: {image: id}, verbose: true}, {signal})).info);
  });
  await clock.sleep(Math.max(SAMPLE_MS - (clock.monotonic() - sampledAt), 0), signal);
  const after = await callEach(SAMPLED_CALLS, caller);
  const answers = {...lists.answers, ...after.answers};
  const failures = {...lists.failures, ...after.failures};
  return {
    recording: {answers, before: before.answers, sandboxes, containers, failures},
    details: infos.details,
    withoutDetails: infos.leftOut,
    imagesNotAsked,
    containers: logged,
  };
}

/** Collects verbose information up to a size. */
class InfoRecorder {
  readonly details = {
    sandboxes: {} as Record<string, VerboseInfo>,
    containers: {} as Record<string, VerboseInfo>,
    images: {} as Record<string, VerboseInfo>,
    runtime: {} as Record<string, VerboseInfo>,
  };
  leftOut = 0;
  #available: number;
  #isFull = false;

  constructor(maxBytes: number) {
    this.#available = maxBytes;
  }

  /** True if something was left out because of the size of all. */
  get isFull(): boolean {
    return this.#isFull;
  }

  add(kind: keyof DetailsRecording, id: string, info: VerboseInfo): void {
    const size = Buffer.byteLength(JSON.stringify(info));
    if (size > MAX_INFO_BYTES || size > this.#available) {
      this.#isFull ||= size <= MAX_INFO_BYTES;
      this.leftOut += 1;
      return;
    }
    this.#available -= size;
    this.details[kind][id] = info;
  }
}

const LISTS = RECORDED_CALLS.filter((rpc) => !SAMPLED_CALLS.some((sampled) => sampled === rpc));

/** Connection for the calls, and collector of the verbose information in their responses. */
interface Caller {
  readonly connection: Connection;
  readonly infos: InfoRecorder;
  readonly signal: AbortSignal;
}

/** Calls methods one after the other. Returns the responses as proto JSON, or the reasons why there are none, by method. */
async function callEach(
  rpcs: readonly RecordedCall[],
  caller: Caller,
): Promise<{
  readonly answers: Partial<Record<RecordedCall, unknown>>;
  readonly failures: Partial<Record<RecordedCall, string>>;
}> {
  const answers: Partial<Record<RecordedCall, unknown>> = {};
  const failures: Partial<Record<RecordedCall, string>> = {};
  for (const rpc of rpcs) {
    try {
      answers[rpc] = await CALLS[rpc](caller);
    } catch (error) {
      caller.signal.throwIfAborted();
      if (!(error instanceof KcriError)) throw error;
      failures[rpc] = error.plainMessage;
    }
  }
  return {answers, failures};
}

const CALLS: Readonly<Record<RecordedCall, (caller: Caller) => Promise<unknown>>> = {
  Version: async ({connection: {runtime}, signal}) =>
    toJson('VersionResponse', await runtime.version({}, {signal})),
  Status: async ({connection: {runtime}, infos, signal}) => {
    const status = await runtime.status({verbose: true}, {signal});
    infos.add('runtime', RUNTIME_ID, status.info);
    return toJson('StatusResponse', {...status, info: {}});
  },
  ListPodSandbox: async ({connection: {runtime}, signal}) =>
    toJson('ListPodSandboxResponse', {items: await listAllSandboxes(runtime, {}, signal)}),
  ListContainers: async ({connection: {runtime}, signal}) =>
    toJson('ListContainersResponse', {containers: await listAllContainers(runtime, {}, signal)}),
  ListImages: async ({connection: {images}, signal}) =>
    toJson('ListImagesResponse', {images: await listAllImages(images, signal)}),
  ListContainerStats: async ({connection: {runtime}, signal}) => {
    const {stats} = await fetchContainerStats(runtime, {}, {signal, thorough: true});
    return toJson('ListContainerStatsResponse', {stats});
  },
  ListPodSandboxStats: async ({connection: {runtime}, signal}) => {
    const {stats} = await fetchSandboxStats(runtime, {}, {signal, thorough: true});
    return toJson('ListPodSandboxStatsResponse', {stats});
  },
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
