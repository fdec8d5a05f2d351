import {grpcCodeOf, type GrpcCode} from '../../cri/errors.js';
import type {HeaderField} from '../../cri/http2/hpack.js';
import type {Headers} from '../../cri/http2/header-block-reader.js';
import {ERROR_CODE} from '../../cri/http2/protocol-constants.js';
import {decodeStatusMessage, statusFromHttp, statusFromReset} from '../../cri/unary/grpc-status.js';
import {AnswerUrl, type UrlReplacement} from './answer-url.js';
import {DirectionTap} from './direction-tap.js';
import {MessageCollector, type CollectorLimits, type TappedMessage} from './message-collector.js';
import {isSessionMethod, methodOf} from './method-table.js';
import type {RelayTap, Side} from './relay-tap.js';

export type {Side} from './relay-tap.js';

/** A gRPC call on a connection, and what is known of it at its start. */
export interface TappedCall {
  /** Number of the connection in this recording. */
  readonly connection: number;
  /** Path of the request, such as `/runtime.v1.RuntimeService/Version`. */
  readonly path: string;
  /** Time of the start, in ms since the epoch, with microseconds. */
  readonly startedAtMs: number;
  /** Timeout that the client sent; undefined without one. */
  readonly timeoutMs: number | undefined;
  /** Metadata of the request, without HTTP/2's own fields. */
  readonly metadata: readonly HeaderField[];
}

/** How a call ended. */
export interface CallEnd {
  readonly durationMs: number;
  readonly code: GrpcCode;
  /** Message of the status. */
  readonly message: string;
  /** Who ended it: the runtime with a status, the client with a cancellation, or the loss of the connection. */
  readonly by: 'status' | 'cancellation' | 'connection';
  /** Metadata of the response and its trailers. */
  readonly metadata: readonly HeaderField[];
}

/** Receives the calls of all connections. */
export interface CallSink {
  onStart(call: TappedCall): void;
  /** Called with each message. The receiver gives it back with `releaseMessage`. */
  onMessage(call: TappedCall, from: Side, message: TappedMessage): void;
  onEnd(call: TappedCall, end: CallEnd): void;
}

/** Sources of time. */
export interface TapClock {
  /** Returns the time in ms since the epoch. */
  now(): number;
  /** Returns the time in ms since an arbitrary moment, with fractions. */
  monotonic(): number;
}

/** What all connections of a recording share. */
export interface TapOptions {
  readonly sink: CallSink;
  readonly limits: CollectorLimits;
  readonly clock: TapClock;
  /** Returns what is done with the URL of a call of Exec, Attach or PortForward. Without it, all responses stay as they are. */
  readonly urlOf?: ((call: TappedCall) => UrlReplacement) | undefined;
}

interface OpenCall {
  readonly call: TappedCall;
  readonly startedAt: number;
  readonly collectors: Readonly<Record<Side, MessageCollector>>;
  readonly encodings: Partial<Record<Side, string | undefined>>;
  /** URL of a session that is to be replaced. */
  readonly url: AnswerUrl | undefined;
  metadata: readonly HeaderField[];
  httpStatus: number;
}

/** Part of its timeout after which a call that its client ends has met its deadline: it started before it arrived here. */
const LATE = 0.9;

/**
 * Reads along on one HTTP/2 connection, and passes its gRPC calls to a sink. Changes nothing on the connection but the URLs of
 * sessions, if they are to be replaced.
 */
export class ConnectionTap implements RelayTap {
  readonly #connection: number;
  readonly #options: TapOptions;
  readonly #calls = new Map<number, OpenCall>();
  readonly #directions: Readonly<Record<Side, DirectionTap>>;

  /** `connection` is the number of the connection in this recording. */
  constructor(connection: number, options: TapOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#directions = {
      client: new DirectionTap(
        {
          onHeaders: (headers) => {
            this.#begin(headers);
          },
          onData: (id, chunk) => {
            this.#calls.get(id)?.collectors.client.push(chunk);
          },
          onEnd: () => undefined,
          onReset: (id, code) => {
            this.#cancel(id, code);
          },
        },
        'client',
      ),
      server: new DirectionTap(
        {
          onHeaders: (headers) => {
            this.#answer(headers);
          },
          onData: (id, chunk) => {
            const open = this.#calls.get(id);
            open?.collectors.server.push(chunk);
            open?.url?.push(chunk);
          },
          onEnd: (id) => {
            this.#endWithoutStatus(id);
          },
          onReset: (id, code) => {
            const {code: status, details} = statusFromReset(code);
            this.#end(id, {code: status, message: details, by: 'status'});
          },
        },
        'server',
      ),
    };
  }

  read(from: Side, chunk: Buffer): void {
    this.#directions[from].read(chunk);
  }

  get replacesUrls(): boolean {
    return this.#options.urlOf !== undefined;
  }

  get awaitsUrl(): boolean {
    return this.#urls().some(({isDone}) => !isDone);
  }

  get hasIncompleteUrl(): boolean {
    return this.#urls().some(({isIncomplete}) => isIncomplete);
  }

  abandonUrls(reason?: string): void {
    for (const url of this.#urls()) if (url.isIncomplete) url.abandon(reason);
  }

  #urls(): readonly AnswerUrl[] {
    if (this.#options.urlOf === undefined) return [];
    return [...this.#calls.values()].flatMap(({url}) => url ?? []);
  }

  async hasOpenUnaryCalls(): Promise<boolean> {
    return [...this.#calls.values()].some(({call: {path}}) => methodOf(path).info?.stream !== true);
  }

  get isBetweenFrames(): boolean {
    return this.#directions.server.isBetweenFrames;
  }

  close(): void {
    for (const id of [...this.#calls.keys()])
      this.#end(id, {code: 'UNAVAILABLE', message: 'the connection was closed', by: 'connection'});
  }

  #begin({streamId, fields = []}: Headers): void {
    if (this.#calls.has(streamId)) return;
    const {clock, limits, sink, urlOf} = this.#options;
    const call: TappedCall = {
      connection: this.#connection,
      path: valueOf(fields, ':path') ?? '',
      startedAtMs: clock.now(),
      timeoutMs: parseTimeout(valueOf(fields, 'grpc-timeout')),
      metadata: metadataOf(fields),
    };
    const encodings: OpenCall['encodings'] = {client: valueOf(fields, 'grpc-encoding')};
    const collect = (from: Side): MessageCollector =>
      new MessageCollector(
        limits,
        () => encodings[from],
        (message) => {
          sink.onMessage(call, from, message);
        },
      );
    const collectors = {client: collect('client'), server: collect('server')};
    this.#calls.set(streamId, {
      call,
      encodings,
      collectors,
      url: urlOf !== undefined && isSessionMethod(call.path) ? new AnswerUrl(urlOf(call)) : undefined,
      metadata: [],
      startedAt: clock.monotonic(),
      httpStatus: 0,
    });
    sink.onStart(call);
  }

  #answer({streamId, fields = []}: Headers): void {
    const open = this.#calls.get(streamId);
    if (open === undefined) return;
    open.encodings.server ??= valueOf(fields, 'grpc-encoding');
    open.httpStatus = Number(valueOf(fields, ':status') ?? open.httpStatus);
    open.metadata = [...open.metadata, ...metadataOf(fields)];
    const status = valueOf(fields, 'grpc-status');
    if (status === undefined) return;
    const message = decodeStatusMessage(valueOf(fields, 'grpc-message') ?? '');
    this.#end(streamId, {code: grpcCodeOf(Number(status)), message, by: 'status'});
  }

  #endWithoutStatus(streamId: number): void {
    const httpStatus = this.#calls.get(streamId)?.httpStatus ?? 0;
    const {code, details} = statusFromHttp(httpStatus);
    this.#end(streamId, {code, message: details, by: 'status'});
  }

  /** A client resets the stream when it cancels a call and when its deadline has passed. */
  #cancel(streamId: number, errorCode: number): void {
    const open = this.#calls.get(streamId);
    if (open === undefined) return;
    const isLate = this.#elapsed(open) >= LATE * (open.call.timeoutMs ?? Infinity);
    const code = isLate ? 'DEADLINE_EXCEEDED' : 'CANCELLED';
    const reset = errorCode === ERROR_CODE.cancel ? '' : ` with code ${errorCode}`;
    this.#end(streamId, {code, message: `the client reset the stream${reset}`, by: 'cancellation'});
  }

  #elapsed({startedAt}: OpenCall): number {
    return this.#options.clock.monotonic() - startedAt;
  }

  #end(streamId: number, end: Pick<CallEnd, 'code' | 'message' | 'by'>): void {
    const open = this.#calls.get(streamId);
    if (open === undefined) return;
    this.#calls.delete(streamId);
    open.collectors.client.drop();
    open.collectors.server.drop();
    this.#options.sink.onEnd(open.call, {...end, durationMs: this.#elapsed(open), metadata: open.metadata});
  }
}

function valueOf(fields: readonly HeaderField[], name: string): string | undefined {
  return fields.find(([field]) => field === name)?.[1];
}

/** Fields of HTTP/2 and of gRPC's protocol that other members of a call stand for. */
const PROTOCOL_FIELDS: ReadonlySet<string> = new Set([
  'te',
  'content-type',
  'grpc-timeout',
  'grpc-status',
  'grpc-message',
]);

function metadataOf(fields: readonly HeaderField[]): readonly HeaderField[] {
  return fields.filter(([name]) => !name.startsWith(':') && !PROTOCOL_FIELDS.has(name));
}

const TIMEOUT_UNITS: Readonly<Record<string, number>> = {
  n: 1e-6,
  u: 1e-3,
  m: 1,
  S: 1000,
  M: 60_000,
  H: 3_600_000,
};

/** Returns a timeout in ms (gRPC over HTTP/2, Timeout). */
function parseTimeout(text: string | undefined): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(text ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits) * (TIMEOUT_UNITS[unit] ?? NaN);
}
