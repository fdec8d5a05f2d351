import {observeCall, type CallObserver, type CallWatch, type ObservedCall} from './call-observer.js';
import type {CallOptions, MethodInfo} from './call-options.js';
import {Decoder, decodeMessage, encodeMessage} from './codec.js';
import {deadlineMs} from './deadlines.js';
import type {AnyMask, SchemaSet} from './message-schema.js';
import {rpcFailure, type Transport} from './transport.js';
import {malformedDetails, WireError} from './wire-format.js';

/** Connection that the methods of a service use, and what all of their calls have in common. */
export interface ServiceWire {
  readonly transport: Transport;
  readonly endpoint: string;
  /** Schemas of the messages. */
  readonly schemas: SchemaSet;
  /** Base deadline of a call in milliseconds, to which the rules of deadlines.ts apply. */
  readonly timeoutMs: number;
  /** Metadata of every call. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Observers of the calls, which know CRI messages only. */
  readonly observers: readonly CallObserver[];
  /** Returns the error to report for a failed call. */
  readonly explain?: ((error: unknown) => Promise<unknown>) | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** A call as the transport sees it. */
interface PreparedCall {
  readonly path: string;
  readonly watch: Required<CallWatch> | undefined;
  readonly fields: AnyMask | undefined;
  readonly metadata: Readonly<Record<string, string>> | undefined;
}

/**
 * Builds a client of the service with the full name `service`, such as `runtime.v1.RuntimeService`, from its generated
 * table. `Service` is the generated interface, which declares the types of its methods.
 */
export function createServiceClient<Service>(
  service: string,
  methods: Readonly<Record<keyof Service & string, MethodInfo>>,
  wire: ServiceWire,
): Service {
  const entries = Object.entries<MethodInfo>(methods).map(([key, info]) => [
    key,
    createMethod(service, info, wire),
  ]);
  return Object.fromEntries(entries) as Service;
}

function createMethod(service: string, info: MethodInfo, wire: ServiceWire): unknown {
  if (info.stream) return streamMethod(service, info, wire);
  return unaryMethod(service, info, wire);
}

function unaryMethod(service: string, info: MethodInfo, wire: ServiceWire) {
  return async (message: Fields = {}, options: CallOptions = {}): Promise<unknown> => {
    const {path, watch, fields, metadata} = prepare(service, info, {message, options, wire});
    try {
      const createDecoder = (): Decoder => new Decoder(wire.schemas.message(info.response), fields);
      const decoder = await wire.transport.unary(
        path,
        encodeRequest(wire, path, info.request, message),
        createDecoder,
        {
          signal: options.signal,
          timeoutMs: options.timeoutMs ?? deadlineMs(info.rpc, message, wire.timeoutMs),
          metadata,
        },
      );
      const decoded = decodeResponse(wire.endpoint, path, () => decoder.end());
      const missing = missingField(info.rpc, decoded as Fields, fields);
      if (missing !== undefined)
        throw rpcFailure(wire.endpoint, path, {grpcCode: 'INTERNAL', details: `${missing} is not set`});
      watch?.received(decoded);
      watch?.ended();
      return decoded;
    } catch (error) {
      watch?.ended(error);
      throw await explained(error, wire);
    }
  };
}

/** Creates a method with a stream of responses, and of requests if `requestStream` is set. */
function streamMethod(service: string, info: MethodInfo, wire: ServiceWire) {
  const encodeRequests = (sent: Fields | AsyncIterable<Fields>): Buffer | AsyncIterable<Buffer> =>
    info.requestStream === true
      ? mapEach(sent as AsyncIterable<Fields>, (message) =>
          encodeMessage(wire.schemas.message(info.request), message),
        )
      : encodeMessage(wire.schemas.message(info.request), sent as Fields);
  return async function* (
    sent: Fields | AsyncIterable<Fields> = {},
    options: CallOptions = {},
  ): AsyncGenerator {
    const message = info.requestStream === true ? {} : (sent as Fields);
    const {path, watch, fields, metadata} = prepare(service, info, {message, options, wire});
    let failure: unknown;
    try {
      const frames = wire.transport.stream(path, encodeRequests(sent), {
        signal: options.signal,
        timeoutMs: options.timeoutMs ?? Infinity,
        metadata,
      });
      for await (const bytes of frames) {
        const decoded = decodeResponse(wire.endpoint, path, () =>
          decodeMessage(wire.schemas.message(info.response), bytes, fields),
        );
        watch?.received(decoded);
        yield decoded;
      }
    } catch (error) {
      // A reader ends a stream by aborting or by leaving its loop.
      if (options.signal?.aborted !== true) failure = error;
      throw await explained(error, wire);
    } finally {
      watch?.ended(failure);
    }
  };
}

async function explained(error: unknown, {explain}: ServiceWire): Promise<unknown> {
  return explain === undefined ? error : await explain(error);
}

function prepare(
  service: string,
  method: MethodInfo,
  {
    message,
    options,
    wire,
  }: {readonly message: Fields; readonly options: CallOptions; readonly wire: ServiceWire},
): PreparedCall {
  const watch = observe(service, method, message, wire);
  const metadata =
    wire.metadata === undefined ? watch?.metadata : {...wire.metadata, ...(watch?.metadata ?? {})};
  const fields = watch === undefined ? options.fields : undefined;
  return {path: `/${service}/${method.rpc}`, watch, fields, metadata};
}

/** Starts observing a call. Returns undefined if there are no observers, which is the usual case. */
function observe(
  service: string,
  method: MethodInfo,
  request: Fields,
  {observers, endpoint}: ServiceWire,
): Required<CallWatch> | undefined {
  if (observers.length === 0) return undefined;
  return observeCall(observers, {service, endpoint, method: method as ObservedCall['method'], request});
}

/** Encodes a request. Throws CriError with grpc-go's code and text if it has bytes that are not UTF-8. */
function encodeRequest(
  {endpoint, schemas}: ServiceWire,
  path: string,
  name: string,
  message: Fields,
): Buffer {
  try {
    return encodeMessage(schemas.message(name), message);
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    const details = `grpc: error while marshaling: ${cause.goMessage}`;
    throw rpcFailure(endpoint, path, {grpcCode: 'INTERNAL', details, cause});
  }
}

/** Decodes a response. Throws CriError with grpc-go's code and text if it is malformed. */
function decodeResponse<T>(endpoint: string, path: string, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    if (!(cause instanceof WireError)) throw cause;
    throw rpcFailure(endpoint, path, {grpcCode: 'INTERNAL', details: malformedDetails(cause), cause});
  }
}

async function* mapEach<T, U>(items: AsyncIterable<T>, map: (item: T) => U): AsyncGenerator<U> {
  for await (const item of items) yield map(item);
}

/** Fields without which a response is useless, by RPC. cri-client rejects these responses too. */
const REQUIRED: Readonly<Record<string, string>> = {
  RunPodSandbox: 'podSandboxId',
  PodSandboxStatus: 'status',
  CreateContainer: 'containerId',
  ContainerStatus: 'status',
  PullImage: 'imageRef',
  Exec: 'url',
  Attach: 'url',
  PortForward: 'url',
};

/** Returns the required field that a response lacks; undefined if it has it, or if the mask excludes it. */
function missingField(
  rpc: string,
  response: Readonly<Record<string, unknown>>,
  fields?: AnyMask,
): string | undefined {
  const name = Object.hasOwn(REQUIRED, rpc) ? REQUIRED[rpc] : undefined;
  if (name === undefined || (fields !== undefined && fields[name] === undefined)) return undefined;
  const value = response[name];
  return value === undefined || value === '' ? name : undefined;
}
