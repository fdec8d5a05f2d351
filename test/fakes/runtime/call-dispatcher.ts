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

/** One call as the fake saw it. */
export interface RecordedCall {
  readonly method: string;
  /** In the form of the kubelet's recordings: proto JSON, snake_case, zero values left out. */
  readonly request: ProtoJson;
  /** What the caller allowed, in milliseconds from its arrival (a little less than it was sent with); none = undefined. */
  readonly deadlineMs: number | undefined;
  /** What went along with it, such as `traceparent`. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** `OK` or Go's name of the status; undefined while the call runs. */
  code: string | undefined;
  /** As its handler gave it; undefined for streams and refusals. */
  response: object | undefined;
}

type AnyHandler = (request: unknown, signal: AbortSignal) => unknown;
type UnaryCall = ServerUnaryCall<DecodedRequest, unknown>;
type StreamCall = ServerWritableStream<DecodedRequest, unknown>;

/** Records calls, lets faults strike, and passes the rest to the handlers; an RPC without one is UNIMPLEMENTED. */
export class CallDispatcher {
  readonly calls: RecordedCall[] = [];
  readonly #handlers: Readonly<Record<string, AnyHandler | undefined>>;
  readonly #faults: FaultInjector;
  readonly #running = new Set<AbortController>();

  constructor(handlers: Handlers, faults: FaultInjector) {
    this.#handlers = handlers as Readonly<Record<string, AnyHandler | undefined>>;
    this.#faults = faults;
  }

  /** Ends whatever waits in a handler. */
  abortCalls(): void {
    for (const controller of this.#running) controller.abort();
  }

  /** The methods of both services, as grpc-js wants them. */
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
    const answered = await this.#handle(rpc, call, async (handler, signal) =>
      handler(call.request.request, signal),
    );
    if (answered.refusal === undefined) callback(null, answered.value);
    else callback(statusOf(answered.refusal), null);
  }

  async #stream(rpc: string, call: StreamCall): Promise<void> {
    const {refusal} = await this.#handle(rpc, call, async (handler, signal) => {
      // The client sees at once that the call was taken.
      call.sendMetadata(new Metadata());
      for await (const message of handler(call.request.request, signal) as AsyncIterable<unknown>)
        call.write(message);
    });
    if (refusal === undefined) call.end();
    else call.emit('error', statusOf(refusal));
  }

  async #handle(
    rpc: string,
    call: UnaryCall | StreamCall,
    act: (handler: AnyHandler, signal: AbortSignal) => Promise<unknown>,
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
      await this.#faults.applyFaults(rpc, json, 'before', controller.signal);
      const handler = this.#handlers[rpc];
      if (handler === undefined) throw unimplementedError(rpc);
      const value = await act(handler, controller.signal);
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

function statusOf({code, message}: GrpcStatusError): Partial<StatusObject> {
  return {code: status[code], details: message};
}

function deadlineMs(call: UnaryCall | StreamCall): number | undefined {
  const deadline = call.getDeadline();
  return deadline === Infinity ? undefined : Number(deadline) - Date.now();
}
