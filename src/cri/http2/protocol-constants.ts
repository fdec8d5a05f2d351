/** Frame types of HTTP/2 (RFC 9113). */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Frame flags. */
export const FLAG = {ack: 0x1, endStream: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20} as const;

/** Settings. */
export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

/** Error codes of RST_STREAM and GOAWAY. */
export const ERROR_CODE = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSize: 6,
  refusedStream: 7,
  cancel: 8,
  compression: 9,
  connect: 10,
  enhanceYourCalm: 11,
  inadequateSecurity: 12,
} as const;

export const FRAME_HEADER_LENGTH = 9;
/** Initial flow-control window of both sides. */
export const DEFAULT_WINDOW = 65_535;
export const DEFAULT_MAX_FRAME_SIZE = 16_384;
export const LARGEST_MAX_FRAME_SIZE = 2 ** 24 - 1;
export const LARGEST_WINDOW = 2 ** 31 - 1;
export const LAST_STREAM_ID = 2 ** 31 - 1;

/** A violation of the protocol by the peer that ends the connection. */
export class ProtocolError extends Error {
  /** One of ERROR_CODE, sent with GOAWAY. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(`protocol error: ${message}`);
    this.name = 'ProtocolError';
    this.code = code;
  }
}
