import {
  Metadata,
  status,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type StatusObject,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type {FaultInjector} from './fault-injector.js';
import {
  goCodeName,
  toGrpcStatusError,
  unimplementedError,
  type GrpcStatusError,
} from './grpc-status-error.js';
import {criServices, type Handlers, type DecodedRequest, type ProtoJson} from './cri-messages.js';

/** A recorded call. */
export interface RecordedCall {
  readonly method: string;
  /** Request in the format of the kubelet's recordings: proto JSON, snake_case, without zero values. */
  readonly request: ProtoJson;
  /** Timeout of the caller in ms from the arrival, a little less than it was sent with. Undefined if there is none. */
  readonly deadlineMs: number | undefined;
  /** Metadata of the call, such as `traceparent`. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** `OK` or Go's name of the status. Undefined while the call runs. */
  code: string | undefined;
  /** Response of the handler. Undefined for streams and errors. */
  response: object | undefined;
}

/**
 * Runs in every call, before and after the handler has its effect. The call waits for it, and fails if it throws a
 * GrpcStatusError.
 */
export type CallInterceptor = (call: RecordedCall, stage: 'before' | 'after') => void | Promise<void>;

/** Differences between unary calls and streams. */
interface CallKind {
  readonly invoke: (handler: AnyHandler, signal: AbortSignal) => Promise<unknown>;
  /** Returns what a handler returns that responds with these bytes. */
  readonly respond: (bytes: Buffer) => unknown;
  /** Returns the handler of a call that is delivered twice. */
  readonly duplicate: (handler: AnyHandler) => AnyHandler;
}

type AnyHandler = (request: unknown, signal: AbortSignal) => unknown;
type UnaryCall = ServerUnaryCall<DecodedRequest, unknown>;
type StreamCall = ServerWritableStream<DecodedRequest, unknown>;

/** Records calls, applies faults, and calls the handlers. RPCs without a handler fail with UNIMPLEMENTED. */
export class CallDispatcher {
  readonly calls: RecordedCall[] = [];
  readonly #handlers: Readonly<Record<string, AnyHandler | undefined>>;
  readonly #faults: FaultInjector;
  readonly #intercept: CallInterceptor | undefined;
  readonly #running = new Set<AbortController>();

  constructor(handlers: Handlers, faults: FaultInjector, intercept?: CallInterceptor) {
    this.#handlers = handlers as Readonly<Record<string, AnyHandler | undefined>>;
    this.#faults = faults;
    this.#intercept = intercept;
  }

  /** Aborts all waiting handlers. */
  abortCalls(): void {
    for (const controller of this.#running) controller.abort();
  }

  /** Returns the methods of both services for grpc-js. */
  toServiceImplementation(): UntypedServiceImplementation {
    const methods = criServices().flatMap((service) => Object.entries(service));
    return Object.fromEntries(
      methods.map(([rpc, {responseStream}]) => [
        rpc,
        responseStream
          ? (call: StreamCall) => void this.#stream(rpc, call)
          : (call: UnaryCall, callback: sendUnaryData<unknown>) => void this.#unary(rpc, call, callback),
      ]),
    );
  }

  /** Never rejects: an error is the call's status. */
  async #unary(rpc: string, call: UnaryCall, callback: sendUnaryData<unknown>): Promise<void> {
    const answered = await this.#handle(rpc, call, {
      invoke: async (handler, signal) => handler(call.request.request, signal),
      respond: (bytes) => bytes,
      duplicate: (handler) => async (request, signal) => {
        await handler(request, signal);
        return handler(request, signal);
      },
    });
    if (answered.refusal === undefined) callback(null, answered.value);
    else callback(statusOf(answered.refusal), null);
  }

  async #stream(rpc: string, call: StreamCall): Promise<void> {
    const {refusal} = await this.#handle(rpc, call, {
      invoke: async (handler, signal) => {
        // Sends the metadata immediately, so that the client knows that the call was accepted.
        call.sendMetadata(new Metadata());
        for await (const message of (await handler(call.request.request, signal)) as AsyncIterable<unknown>)
          call.write(message);
      },
      respond: (bytes) => [bytes],
      duplicate: (handler) => async (request, signal) =>
        repeatEach((await handler(request, signal)) as AsyncIterable<unknown>),
    });
    if (refusal === undefined) call.end();
    else call.emit('error', statusOf(refusal));
  }

  async #handle(
    rpc: string,
    call: UnaryCall | StreamCall,
    {invoke, respond, duplicate}: CallKind,
  ): Promise<{readonly value?: unknown; readonly refusal?: GrpcStatusError}> {
    const {json} = call.request;
    const record: RecordedCall = {
      method: rpc,
      request: json,
      deadlineMs: deadlineMs(call),
      metadata: call.metadata.getMap(),
      code: undefined,
      response: undefined,
    };
    this.calls.push(record);
    const controller = new AbortController();
    this.#running.add(controller);
    call.on('cancelled', () => {
      controller.abort();
    });
    try {
      await this.#intercept?.(record, 'before');
      await this.#faults.applyFaults(rpc, json, 'before', controller.signal);
      const replaced = this.#faults.replacedResponse(rpc, json);
      const handler = this.#handlers[rpc] ?? refuseUnimplemented(rpc);
      const replacing: AnyHandler = async (request, signal) => {
        if (replaced?.afterEffect === true) await handler(request, signal);
        return replaced && respond(replaced.bytes);
      };
      const effective = this.#faults.isDuplicated(rpc, json) ? duplicate(handler) : handler;
      const value = await invoke(replaced === undefined ? effective : replacing, controller.signal);
      await this.#intercept?.(record, 'after');
      await this.#faults.applyFaults(rpc, json, 'after', controller.signal);
      record.code = 'OK';
      record.response = value as object | undefined;
      return {value};
    } catch (error) {
      const refusal = toGrpcStatusError(error);
      record.code = controller.signal.aborted ? 'Canceled' : goCodeName(refusal.code);
      return {refusal};
    } finally {
      this.#running.delete(controller);
    }
  }
}

async function* repeatEach(messages: AsyncIterable<unknown>): AsyncGenerator {
  for await (const message of messages) {
    yield message;
    yield message;
  }
}

function refuseUnimplemented(rpc: string): AnyHandler {
  return () => {
    throw unimplementedError(rpc);
  };
}

function statusOf({code, message}: GrpcStatusError): Partial<StatusObject> {
  return {code: status[code], details: message};
}

function deadlineMs(call: UnaryCall | StreamCall): number | undefined {
  const deadline = call.getDeadline();
  return deadline === Infinity ? undefined : Number(deadline) - Date.now();
}
