import {concurrently} from '../base/concurrently.js';
import {CriError, isNotFound} from '../cri/errors.js';
import type {
  Container,
  ContainerStatusResponse,
  Image,
  ImageService,
  PodSandbox,
  PodSandboxStatusResponse,
  RuntimeService,
} from '../cri/index.js';
import {
  annotatedPorts,
  containerFacts,
  imageFacts,
  sandboxFacts,
  type ImageFacts,
  type PortFact,
} from './verbose-info.js';

/** What a list doesn't say of a sandbox and `-o wide` shows. */
export interface SandboxDetails {
  readonly ips: readonly string[];
  readonly pid: number | undefined;
  readonly ports: readonly PortFact[];
}

/** What a list doesn't say of a container and `-o wide` shows. */
export interface ContainerDetails {
  readonly ips: readonly string[];
  readonly pid: number | undefined;
  /** Of a container that has exited. */
  readonly exitCode: number | undefined;
  readonly ports: readonly PortFact[];
}

/** What was found out by id, and the first failure; what is gone by now is no failure. */
export interface Details<T> {
  readonly byId: ReadonlyMap<string, T>;
  readonly failure: CriError | undefined;
}

/** How many calls run at a time. */
const AT_ONCE = 16;

/** The details of sandboxes: one PodSandboxStatus each. */
export async function sandboxDetails(
  runtime: RuntimeService,
  sandboxes: readonly PodSandbox[],
  signal: AbortSignal,
): Promise<Details<SandboxDetails>> {
  return await detailsOf(
    sandboxes.map(({id}) => id),
    async (podSandboxId) =>
      sandboxDetailsOf(await runtime.podSandboxStatus({podSandboxId, verbose: true}, {signal})),
  );
}

/** The details of containers: one PodSandboxStatus for each pod, one ContainerStatus for each that has started. */
export async function containerDetails(
  runtime: RuntimeService,
  containers: readonly Container[],
  signal: AbortSignal,
): Promise<Details<ContainerDetails>> {
  const pods = await detailsOf(
    [...new Set(containers.map((container) => container.podSandboxId))],
    async (podSandboxId) =>
      sandboxDetailsOf(await runtime.podSandboxStatus({podSandboxId, verbose: true}, {signal})),
  );
  const started = containers.filter(({state}) => state !== 'CONTAINER_CREATED');
  const statuses = await detailsOf(
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

/** How images were built: one ImageStatus each. */
export async function imageDetails(
  service: ImageService,
  images: readonly Image[],
  signal: AbortSignal,
): Promise<Details<ImageFacts>> {
  return await detailsOf(
    images.map(({id}) => id),
    async (image) => imageFacts((await service.imageStatus({image: {image}, verbose: true}, {signal})).info),
  );
}

function sandboxDetailsOf({status, info}: PodSandboxStatusResponse): SandboxDetails {
  const {pid, ports} = sandboxFacts(info);
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
    pid: state === 'CONTAINER_RUNNING' ? containerFacts(response?.info ?? {}).pid : undefined,
    exitCode: state === 'CONTAINER_EXITED' ? response?.status?.exitCode : undefined,
    ports: annotatedPorts(annotations) ?? pod?.ports ?? [],
  };
}

async function detailsOf<Id extends string, T>(
  ids: readonly Id[],
  ask: (id: Id) => Promise<T>,
): Promise<Details<T>> {
  const byId = new Map<string, T>();
  let failure: CriError | undefined;
  await concurrently(ids, AT_ONCE, async (id) => {
    try {
      byId.set(id, await ask(id));
    } catch (error) {
      if (!(error instanceof CriError)) throw error;
      if (!isNotFound(error)) failure ??= error;
    }
  });
  return {byId, failure};
}
