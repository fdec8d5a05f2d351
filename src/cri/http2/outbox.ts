import type {Socket} from 'node:net';
import {frameHeader, headerFrames} from './frames.js';
import {DEFAULT_PEER_SETTINGS, type PeerSettings} from './peer-settings.js';
import {DEFAULT_WINDOW, ERROR, FLAG, FRAME, LARGEST_WINDOW, ProtocolError} from './protocol.js';
import type {Http2Stream} from './stream.js';

/** How much that the peer doesn't read is kept of what it is answered. */
const MAX_UNREAD_REPLIES = 1024 * 1024;

/** What goes out on one connection: never more data than the peer's windows and the socket take. */
export class Outbox {
  readonly #socket: Socket;
  #window = DEFAULT_WINDOW;
  #settings = DEFAULT_PEER_SETTINGS;
  /** Those with data to send, the next one first. */
  readonly #senders = new Set<Http2Stream>();
  #unreadReplies = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('drain', () => {
      this.#unreadReplies = 0;
      this.flush();
    });
  }

  /** Bytes that the caller asks for. */
  write(bytes: Buffer): void {
    this.#socket.write(bytes);
  }

  /** Bytes that the peer asks for. Throws ProtocolError when it asks and asks and doesn't read the answers. */
  reply(bytes: Buffer): void {
    this.#unreadReplies = this.#socket.writableNeedDrain ? this.#unreadReplies + bytes.length : 0;
    if (this.#unreadReplies > MAX_UNREAD_REPLIES)
      throw new ProtocolError(ERROR.enhanceYourCalm, 'a peer that reads no answers');
    this.#socket.write(bytes);
  }

  /** Sends a request: with one write when it may go as a whole. */
  start(stream: Http2Stream, headerBlock: Buffer): void {
    const {maxFrameSize, initialWindowSize} = this.#settings;
    const headers = headerFrames(stream.id, headerBlock, maxFrameSize);
    const {length} = stream.unsent;
    if (length > Math.min(maxFrameSize, initialWindowSize, this.#window) || this.#socket.writableNeedDrain) {
      stream.sendWindow = initialWindowSize;
      this.write(headers);
      this.#senders.add(stream);
      this.flush();
      return;
    }
    this.#window -= length;
    stream.sendWindow = initialWindowSize - length;
    const header = frameHeader(FRAME.data, FLAG.endStream, stream.id, length);
    this.write(Buffer.concat([headers, header, stream.unsent]));
    stream.unsent = stream.unsent.subarray(length);
  }

  /** Sends nothing more of a stream; true when there was more to send. */
  drop(stream: Http2Stream): boolean {
    return this.#senders.delete(stream);
  }

  /** The peer's settings, and what they change for the streams that there are. */
  setSettings(settings: PeerSettings, streams: Iterable<Http2Stream>): void {
    const more = settings.initialWindowSize - this.#settings.initialWindowSize;
    this.#settings = settings;
    if (more === 0) return;
    for (const stream of streams) this.#widen(stream, more);
    this.flush();
  }

  /** The peer takes more: of a stream, or of all together. */
  increaseWindow(stream: Http2Stream | undefined, increment: number): void {
    if (stream === undefined) this.#window = widened(this.#window, increment);
    else this.#widen(stream, increment);
    this.flush();
  }

  #widen(stream: Http2Stream, more: number): void {
    stream.sendWindow = widened(stream.sendWindow, more);
  }

  /** Sends what may be sent, a frame of each stream in turn. */
  flush(): void {
    this.#socket.cork();
    for (let progress = true; progress;) {
      progress = false;
      for (const stream of this.#senders) progress = this.#sendSome(stream) || progress;
    }
    this.#socket.uncork();
  }

  #sendSome(stream: Http2Stream): boolean {
    const most = Math.min(this.#settings.maxFrameSize, this.#window, stream.sendWindow);
    if (most <= 0 || this.#socket.writableNeedDrain) return false;
    const piece = stream.unsent.subarray(0, most);
    stream.unsent = stream.unsent.subarray(piece.length);
    const last = stream.unsent.length === 0;
    this.#window -= piece.length;
    stream.sendWindow -= piece.length;
    this.write(frameHeader(FRAME.data, last ? FLAG.endStream : 0, stream.id, piece.length));
    this.write(piece);
    if (last) this.#senders.delete(stream);
    return true;
  }
}

function widened(window: number, increment: number): number {
  if (window + increment > LARGEST_WINDOW)
    throw new ProtocolError(ERROR.flowControl, `a window of ${window + increment} bytes`);
  return window + increment;
}
