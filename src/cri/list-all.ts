import {KcriError} from '../base/errors.js';
import {DEFAULT_TIMEOUT_MS} from './deadlines.js';
import {CriError, isUnimplemented} from './errors.js';
import type {Init} from './call.js';
import type {FieldMask} from './schema.js';
import type {ImageService, RuntimeService} from './gen/services.js';
import type {
  Container,
  ContainerFilter,
  Image,
  PodSandbox,
  PodSandboxFilter,
  PodSandboxMetrics,
} from './gen/types.js';

/** The list is too long for one message, and the runtime knows no other way to give it. */
export class ListTooLongError extends KcriError {
  readonly code = 'LIST_TOO_LONG';
}

/** The two RPCs that give the same list: at once, and in pages. */
export interface ListCalls<T> {
  readonly whole: () => Promise<readonly T[]>;
  readonly pages: () => AsyncIterable<readonly T[]>;
}

/** What a call that gives pages is made with: unlike an endless stream, a list has an end to wait for. */
export interface PageCallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** The options of a Stream… RPC that gives a list. */
export function pageCall(signal: AbortSignal): PageCallOptions {
  return {signal, timeoutMs: DEFAULT_TIMEOUT_MS};
}

/**
 * A list of any length: from its List… RPC, and from its Stream… RPC when the answer is larger than a message
 * may be (RESOURCE_EXHAUSTED; runtimes end at 16 MiB). Throws ListTooLongError when the runtime has no Stream… RPC.
 */
export async function listAll<T>({whole, pages}: ListCalls<T>): Promise<readonly T[]> {
  try {
    return await whole();
  } catch (error) {
    if (!(error instanceof CriError) || error.grpcCode !== 'RESOURCE_EXHAUSTED') throw error;
    return await inPages(pages(), error);
  }
}

async function inPages<T>(pages: AsyncIterable<readonly T[]>, tooLong: CriError): Promise<readonly T[]> {
  const items: T[] = [];
  try {
    for await (const page of pages) for (const item of page) items.push(item);
  } catch (error) {
    throw isUnimplemented(error) ? listTooLong(tooLong) : error;
  }
  return items;
}

function listTooLong(cause: CriError): ListTooLongError {
  const hint =
    'this runtime does not send lists in pages; ask for less with --id, --pod, --state or --label, which it filters itself';
  return new ListTooLongError(`the list is too long for one message: ${cause.message}`, {cause, hint});
}

/**
 * All containers that the runtime lets through its filter, with the fields that are wanted of `each`. Throws CriError
 * and ListTooLongError, as all of these.
 */
export async function listAllContainers(
  runtime: Pick<RuntimeService, 'listContainers' | 'streamContainers'>,
  filter: Init<ContainerFilter>,
  signal: AbortSignal,
  each?: FieldMask<Container>,
): Promise<readonly Container[]> {
  const fields = each === undefined ? undefined : {containers: each};
  return await listAll({
    whole: async () => (await runtime.listContainers({filter}, {signal, fields})).containers,
    pages: () =>
      mapped(runtime.streamContainers({filter}, {...pageCall(signal), fields}), ({containers}) => containers),
  });
}

/** All sandboxes that the runtime lets through its filter. */
export async function listAllSandboxes(
  runtime: Pick<RuntimeService, 'listPodSandbox' | 'streamPodSandboxes'>,
  filter: Init<PodSandboxFilter>,
  signal: AbortSignal,
  each?: FieldMask<PodSandbox>,
): Promise<readonly PodSandbox[]> {
  const [fields, pageFields] = each === undefined ? [] : [{items: each}, {podSandboxes: each}];
  return await listAll({
    whole: async () => (await runtime.listPodSandbox({filter}, {signal, fields})).items,
    pages: () =>
      mapped(
        runtime.streamPodSandboxes({filter}, {...pageCall(signal), fields: pageFields}),
        (page) => page.podSandboxes,
      ),
  });
}

/** All images. */
export async function listAllImages(
  images: ImageService,
  signal: AbortSignal,
  each?: FieldMask<Image>,
): Promise<readonly Image[]> {
  const fields = each === undefined ? undefined : {images: each};
  return await listAll({
    whole: async () => (await images.listImages({}, {signal, fields})).images,
    pages: () => mapped(images.streamImages({}, {...pageCall(signal), fields}), (page) => page.images),
  });
}

/** The metrics of all sandboxes. */
export async function listAllPodMetrics(
  runtime: RuntimeService,
  signal: AbortSignal,
): Promise<readonly PodSandboxMetrics[]> {
  return await listAll({
    whole: async () => (await runtime.listPodSandboxMetrics({}, {signal})).podMetrics,
    pages: () =>
      mapped(runtime.streamPodSandboxMetrics({}, pageCall(signal)), (page) => page.podSandboxMetrics),
  });
}

/** What `change` makes of each item of a stream. */
export async function* mapped<T, U>(items: AsyncIterable<T>, change: (item: T) => U): AsyncGenerator<U> {
  for await (const item of items) yield change(item);
}
