import type {UnixSocket} from '../../base/net/unix-socket.js';
import {joinBytes} from './byte-order.js';
import {frameHeader, headerFrames} from './frames.js';
import {DEFAULT_PEER_SETTINGS, type PeerSettings} from './peer-settings.js';
import {
  DEFAULT_WINDOW,
  ERROR_CODE,
  FLAG,
  FRAME,
  LARGEST_WINDOW,
  ProtocolError,
} from './protocol-constants.js';
import type {Http2Stream} from './http2-stream.js';

/** Maximum size of replies that the peer has not read. */
const MAX_UNREAD_REPLIES = 1024 * 1024;

/** Sends frames on one connection, within the flow-control windows and the socket's buffer. */
export class SendQueue {
  readonly #socket: UnixSocket;
  #window = DEFAULT_WINDOW;
  #settings = DEFAULT_PEER_SETTINGS;
  /** Streams with data to send, the next one first. */
  readonly #sendingStreams = new Set<Http2Stream>();
  #unreadReplies = 0;

  constructor(socket: UnixSocket) {
    this.#socket = socket;
  }

  /** Goes on once the socket's buffer has been sent. */
  onDrain(): void {
    this.#unreadReplies = 0;
    this.flush();
  }

  /** Writes bytes that this side initiates. */
  write(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** Writes a reply to the peer. Throws ProtocolError if the peer causes replies without reading them. */
  reply(bytes: Buffer): void {
    this.#unreadReplies = this.#socket.needsDrain ? this.#unreadReplies + bytes.length : 0;
    if (this.#unreadReplies > MAX_UNREAD_REPLIES)
      throw new ProtocolError(ERROR_CODE.enhanceYourCalm, 'the peer does not read replies');
    this.#socket.write(bytes);
  }

  /** Sends a request, with a single write if it fits into the windows. */
  sendRequest(stream: Http2Stream, headerBlock: Buffer): void {
    const {maxFrameSize, initialWindowSize} = this.#settings;
    const headers = headerFrames(stream.id, headerBlock, maxFrameSize);
    const {length} = stream.unsent;
    if (length > Math.min(maxFrameSize, initialWindowSize, this.#window) || this.#socket.needsDrain) {
      stream.sendWindow = initialWindowSize;
      this.write(headers);
      this.#sendingStreams.add(stream);
      this.flush();
      return;
    }
    this.#window -= length;
    stream.sendWindow = initialWindowSize - length;
    const header = frameHeader(FRAME.data, FLAG.endStream, stream.id, length);
    this.write(joinBytes([headers, header, stream.unsent]));
    stream.unsent = stream.unsent.subarray(length);
  }

  /** Discards the unsent data of a stream. Returns true if there was any. */
  drop(stream: Http2Stream): boolean {
    return this.#sendingStreams.delete(stream);
  }

  /** Applies the peer's settings, also to the open streams. */
  setSettings(settings: PeerSettings, streams: Iterable<Http2Stream>): void {
    const increment = settings.initialWindowSize - this.#settings.initialWindowSize;
    this.#settings = settings;
    if (increment === 0) return;
    for (const stream of streams) this.#widen(stream, increment);
    this.flush();
  }

  /** Increases the window of a stream, or of the connection. */
  increaseWindow(stream: Http2Stream | undefined, increment: number): void {
    if (stream === undefined) this.#window = widened(this.#window, increment);
    else this.#widen(stream, increment);
    this.flush();
  }

  #widen(stream: Http2Stream, increment: number): void {
    stream.sendWindow = widened(stream.sendWindow, increment);
  }

  /** Sends as much as allowed, one frame of each stream in turn. */
  flush(): void {
    this.#socket.cork();
    for (let progress = true; progress;) {
      progress = false;
      for (const stream of this.#sendingStreams) progress = this.#sendFrame(stream) || progress;
    }
    this.#socket.uncork();
  }

  #sendFrame(stream: Http2Stream): boolean {
    const limit = Math.min(this.#settings.maxFrameSize, this.#window, stream.sendWindow);
    if (limit <= 0 || this.#socket.needsDrain) return false;
    const chunk = stream.unsent.subarray(0, limit);
    stream.unsent = stream.unsent.subarray(chunk.length);
    const last = stream.unsent.length === 0;
    this.#window -= chunk.length;
    stream.sendWindow -= chunk.length;
    this.write(frameHeader(FRAME.data, last ? FLAG.endStream : 0, stream.id, chunk.length));
    this.write(chunk);
    if (last) this.#sendingStreams.delete(stream);
    return true;
  }
}

function widened(window: number, increment: number): number {
  if (window + increment > LARGEST_WINDOW)
    throw new ProtocolError(ERROR_CODE.flowControl, `a window of ${window + increment} bytes`);
  return window + increment;
}
