import {KcriError} from '../base/errors.js';
import {DEFAULT_TIMEOUT_MS} from './deadlines.js';
import {CriError, isUnimplemented} from './errors.js';
import type {Init} from './call-options.js';
import type {FieldMask} from './message-schema.js';
import type {ImageService, RuntimeService} from './gen/services.js';
import type {
  Container,
  ContainerFilter,
  Image,
  PodSandbox,
  PodSandboxFilter,
  PodSandboxMetrics,
} from './gen/types.js';

/** Error of a list that is too large for one message, from a runtime without a streaming RPC for it. */
export class ListTooLongError extends KcriError {
  readonly code = 'LIST_TOO_LONG';
}

/** The two RPCs that return the same list: unary and in pages. */
export interface ListCalls<T> {
  readonly whole: () => Promise<readonly T[]>;
  readonly pages: () => AsyncIterable<readonly T[]>;
}

/** Options of a streaming list call. It has a deadline, since it ends, unlike an event stream. */
export interface PageCallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Returns the options of a Stream… RPC that returns a list. */
export function pageCallOptions(signal: AbortSignal): PageCallOptions {
  return {signal, timeoutMs: DEFAULT_TIMEOUT_MS};
}

/**
 * Returns a list of any length: from its List… RPC, or from its Stream… RPC if the response exceeds the maximum
 * message size (RESOURCE_EXHAUSTED; 16 MiB with common runtimes). Rejects with ListTooLongError if the runtime has no
 * Stream… RPC.
 */
export async function listAll<T>({whole, pages}: ListCalls<T>): Promise<readonly T[]> {
  try {
    return await whole();
  } catch (error) {
    if (!(error instanceof CriError) || error.grpcCode !== 'RESOURCE_EXHAUSTED') throw error;
    return await collectPages(pages(), error);
  }
}

async function collectPages<T>(pages: AsyncIterable<readonly T[]>, tooLong: CriError): Promise<readonly T[]> {
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
    'this runtime does not support paged lists; use --id, --pod, --state or --label, which it filters itself';
  return new ListTooLongError(`the list is too large for one message: ${cause.message}`, {cause, hint});
}

/**
 * Returns all containers that match the filter, with the fields of the mask `each`. Like all functions of this file,
 * rejects with CriError and ListTooLongError.
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
      mapAsyncIterable(
        runtime.streamContainers({filter}, {...pageCallOptions(signal), fields}),
        ({containers}) => containers,
      ),
  });
}

/** Returns all PodSandboxes that match the filter. */
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
      mapAsyncIterable(
        runtime.streamPodSandboxes({filter}, {...pageCallOptions(signal), fields: pageFields}),
        (page) => page.podSandboxes,
      ),
  });
}

/** Returns all images. */
export async function listAllImages(
  images: ImageService,
  signal: AbortSignal,
  each?: FieldMask<Image>,
): Promise<readonly Image[]> {
  const fields = each === undefined ? undefined : {images: each};
  return await listAll({
    whole: async () => (await images.listImages({}, {signal, fields})).images,
    pages: () =>
      mapAsyncIterable(images.streamImages({}, {...pageCallOptions(signal), fields}), (page) => page.images),
  });
}

/** Returns the metrics of all PodSandboxes. */
export async function listAllPodMetrics(
  runtime: RuntimeService,
  signal: AbortSignal,
): Promise<readonly PodSandboxMetrics[]> {
  return await listAll({
    whole: async () => (await runtime.listPodSandboxMetrics({}, {signal})).podMetrics,
    pages: () =>
      mapAsyncIterable(
        runtime.streamPodSandboxMetrics({}, pageCallOptions(signal)),
        (page) => page.podSandboxMetrics,
      ),
  });
}

/** Applies `change` to each item of a stream. */
export async function* mapAsyncIterable<T, U>(
  items: AsyncIterable<T>,
  change: (item: T) => U,
): AsyncGenerator<U> {
  for await (const item of items) yield change(item);
}
