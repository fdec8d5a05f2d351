import {FLAG_FIN, FRAME} from '../../streaming/spdy/frames.js';
import {FrameReader, type FrameHandler} from '../../streaming/spdy/frame-reader.js';
import type {Side} from '../tap/connection-tap.js';
import type {ProtocolTap, SessionSink, StreamLabel} from './session-sink.js';
import {SpdyHeaderReader} from './spdy-headers.js';

/** Offset of the header block in a SYN_STREAM frame. */
const HEADERS_AT = 10;

/** Reads along on a SPDY/3.1 connection. Streams are opened by the client, which names them in their headers. */
export class SpdyTap implements ProtocolTap {
  readonly #labels = new Map<number, StreamLabel>();
  readonly #headers = new SpdyHeaderReader();
  readonly #readers: Readonly<Record<Side, FrameReader>>;

  constructor(sink: SessionSink) {
    this.#readers = {
      client: new FrameReader(this.#handler('client', sink)),
      server: new FrameReader(this.#handler('server', sink)),
    };
  }

  read(from: Side, chunk: Buffer): void {
    this.#readers[from].read(chunk);
  }

  #handler(from: Side, sink: SessionSink): FrameHandler {
    const end = (id: number): void => {
      sink.onStreamEnd(this.#labelOf(id), from);
    };
    return {
      onData: (id, chunk) => {
        sink.onData(this.#labelOf(id), from, chunk);
      },
      onFin: end,
      onControl: (type, flags, payload) => {
        const opens = type === FRAME.synStream && payload.length >= HEADERS_AT;
        if (!opens || from === 'server') return;
        const id = payload.readUInt32BE(0);
        this.#labels.set(id, labelFrom(this.#headers.read(payload.subarray(HEADERS_AT)) ?? {}, id));
        if ((flags & FLAG_FIN) !== 0) end(id);
      },
    };
  }

  #labelOf(id: number): StreamLabel {
    return this.#labels.get(id) ?? unknownStream(id);
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
