import {FLAG_FIN, FRAME} from '../../streaming/spdy/frames.js';
import {FrameReader, type FrameHandler} from '../../streaming/spdy/frame-reader.js';
import type {Side} from '../tap/connection-tap.js';
import type {ProtocolTap, SessionSink, StreamLabel} from './session-sink.js';
import {SpdyHeaderReader} from './spdy-headers.js';

/** Length of the ID of a stream, with which its control frames start, in bytes. */
const ID_LENGTH = 4;
/** Offset of the header block in a SYN_STREAM frame. */
const HEADERS_AT = 10;
/** Number of streams whose labels are kept after a reset: the other side may have sent data before it heard of that. */
const MAX_RESET = 64;

/** Stream that a client has opened. */
interface OpenStream {
  readonly label: StreamLabel;
  /** Sides that will send nothing more on it. */
  readonly ended: Set<Side>;
}

/** Reads along on a SPDY/3.1 connection. Streams are opened by the client, which names them in their headers. */
export class SpdyTap implements ProtocolTap {
  readonly #streams = new Map<number, OpenStream>();
  readonly #reset: number[] = [];
  readonly #headers = new SpdyHeaderReader();
  readonly #sink: SessionSink;
  readonly #readers: Readonly<Record<Side, FrameReader>>;

  constructor(sink: SessionSink) {
    this.#sink = sink;
    this.#readers = {
      client: new FrameReader(this.#handler('client')),
      server: new FrameReader(this.#handler('server')),
    };
  }

  /** True if the names of some streams are not known. */
  get isUnreadable(): boolean {
    return this.#headers.hasFailed;
  }

  read(from: Side, chunk: Buffer): void {
    this.#readers[from].read(chunk);
  }

  #handler(from: Side): FrameHandler {
    return {
      onData: (id, chunk) => {
        this.#sink.onData(this.#labelOf(id), from, chunk);
      },
      onFin: (id) => {
        this.#end(id, from);
      },
      onControl: (type, flags, payload) => {
        if (payload.length < ID_LENGTH) return;
        const id = payload.readUInt32BE(0);
        if (type === FRAME.rstStream) this.#forgetSoon(id);
        if (type === FRAME.synStream && from === 'client' && payload.length >= HEADERS_AT)
          this.#open(id, payload.subarray(HEADERS_AT));
        const isOfStream = type === FRAME.synStream || type === FRAME.synReply;
        if (isOfStream && (flags & FLAG_FIN) !== 0) this.#end(id, from);
      },
    };
  }

  #open(id: number, headerBlock: Buffer): void {
    const label = labelFrom(this.#headers.read(headerBlock) ?? {}, id);
    this.#streams.set(id, {label, ended: new Set()});
  }

  #end(id: number, from: Side): void {
    this.#sink.onStreamEnd(this.#labelOf(id), from);
    const ended = this.#streams.get(id)?.ended.add(from);
    if (ended?.size === 2) this.#streams.delete(id);
  }

  #forgetSoon(id: number): void {
    this.#reset.push(id);
    if (this.#reset.length > MAX_RESET) this.#streams.delete(this.#reset.shift() ?? id);
  }

  #labelOf(id: number): StreamLabel {
    return this.#streams.get(id)?.label ?? unknownStream(id);
  }
}

function labelFrom(headers: Readonly<Record<string, string>>, id: number): StreamLabel {
  const {streamtype, port, requestid} = headers;
  if (streamtype === undefined) return unknownStream(id);
  return {
    stream: streamtype,
    ...(port !== undefined && {port: Number(port)}),
    ...(requestid !== undefined && {request: requestid}),
  };
}

/** Label of a stream whose headers cannot be read. */
function unknownStream(id: number): StreamLabel {
  return {stream: `stream ${id}`};
}
