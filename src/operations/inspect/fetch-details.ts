import {forEachLimit} from '../../base/async/for-each-limit.js';
import {CriError, isNotFound} from '../../cri/errors.js';
import type {
  Container,
  ContainerStatusResponse,
  Image,
  ImageService,
  PodSandbox,
  PodSandboxStatusResponse,
  RuntimeService,
} from '../../cri/index.js';
import {
  portsFromAnnotations,
  parseContainerInfo,
  parseImageInfo,
  parseSandboxInfo,
  type ImageInfo,
  type ForwardedPort,
} from './verbose-info.js';

/** Details of a sandbox for `-o wide` that lists lack. */
export interface SandboxDetails {
  readonly ips: readonly string[];
  readonly pid: number | undefined;
  readonly ports: readonly ForwardedPort[];
}

/** Details of a container for `-o wide` that lists lack. */
export interface ContainerDetails {
  readonly ips: readonly string[];
  readonly pid: number | undefined;
  /** Set for an exited container. */
  readonly exitCode: number | undefined;
  readonly ports: readonly ForwardedPort[];
}

/** Details by ID, and the first failure. Objects that were removed in the meantime do not count as failures. */
export interface DetailsById<T> {
  readonly byId: ReadonlyMap<string, T>;
  readonly failure: CriError | undefined;
}

/** Maximum number of concurrent calls. */
const MAX_CONCURRENT_CALLS = 16;

/** Fetches details of sandboxes with one PodSandboxStatus call each. */
export async function fetchSandboxDetails(
  runtime: RuntimeService,
  sandboxes: readonly PodSandbox[],
  signal: AbortSignal,
): Promise<DetailsById<SandboxDetails>> {
  return await fetchEach(
    sandboxes.map(({id}) => id),
    async (podSandboxId) =>
      sandboxDetailsOf(await runtime.podSandboxStatus({podSandboxId, verbose: true}, {signal})),
  );
}

/**
 * Fetches details of containers with one PodSandboxStatus call per pod and one ContainerStatus call per started
 * container.
 */
export async function fetchContainerDetails(
  runtime: RuntimeService,
  containers: readonly Container[],
  signal: AbortSignal,
): Promise<DetailsById<ContainerDetails>> {
  const pods = await fetchEach(
    [...new Set(containers.map((container) => container.podSandboxId))],
    async (podSandboxId) =>
      sandboxDetailsOf(await runtime.podSandboxStatus({podSandboxId, verbose: true}, {signal})),
  );
  const started = containers.filter(({state}) => state !== 'CONTAINER_CREATED');
  const statuses = await fetchEach(
    started.map(({id}) => id),
    async (containerId) => await runtime.containerStatus({containerId, verbose: true}, {signal}),
  );
  const byId = new Map(
    containers.map((container) => [
      container.id,
      containerDetailsOf(container, pods.byId.get(container.podSandboxId), statuses.byId.get(container.id)),
    ]),
  );
  return {byId, failure: pods.failure ?? statuses.failure};
}

/** Fetches build information of images with one ImageStatus call each. */
export async function fetchImageDetails(
  service: ImageService,
  images: readonly Image[],
  signal: AbortSignal,
): Promise<DetailsById<ImageInfo>> {
  return await fetchEach(
    images.map(({id}) => id),
    async (image) =>
      parseImageInfo((await service.imageStatus({image: {image}, verbose: true}, {signal})).info),
  );
}

function sandboxDetailsOf({status, info}: PodSandboxStatusResponse): SandboxDetails {
  const {pid, ports} = parseSandboxInfo(info);
  const {ip = '', additionalIps = []} = status?.network ?? {};
  return {ips: [ip, ...additionalIps.map((more) => more.ip)].filter((address) => address !== ''), pid, ports};
}

function containerDetailsOf(
  {annotations, state}: Container,
  pod: SandboxDetails | undefined,
  response: ContainerStatusResponse | undefined,
): ContainerDetails {
  return {
    ips: pod?.ips ?? [],
    pid: state === 'CONTAINER_RUNNING' ? parseContainerInfo(response?.info ?? {}).pid : undefined,
    exitCode: state === 'CONTAINER_EXITED' ? response?.status?.exitCode : undefined,
    ports: portsFromAnnotations(annotations) ?? pod?.ports ?? [],
  };
}

async function fetchEach<Id extends string, T>(
  ids: readonly Id[],
  fetch: (id: Id) => Promise<T>,
): Promise<DetailsById<T>> {
  const byId = new Map<string, T>();
  let failure: CriError | undefined;
  await forEachLimit(ids, MAX_CONCURRENT_CALLS, async (id) => {
    try {
      byId.set(id, await fetch(id));
    } catch (error) {
      if (!(error instanceof CriError)) throw error;
      if (!isNotFound(error)) failure ??= error;
    }
  });
  return {byId, failure};
}
