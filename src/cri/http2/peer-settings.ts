import {
  DEFAULT_MAX_FRAME_SIZE,
  DEFAULT_WINDOW,
  ERROR_CODE,
  LARGEST_MAX_FRAME_SIZE,
  LARGEST_WINDOW,
  ProtocolError,
  SETTING,
} from './protocol-constants.js';

/** The settings of a server that matter to a client without a dynamic header table. */
export interface PeerSettings {
  readonly maxConcurrentStreams: number;
  readonly initialWindowSize: number;
  readonly maxFrameSize: number;
}

/** Settings until the first SETTINGS frame. */
export const DEFAULT_PEER_SETTINGS: PeerSettings = {
  maxConcurrentStreams: Infinity,
  initialWindowSize: DEFAULT_WINDOW,
  maxFrameSize: DEFAULT_MAX_FRAME_SIZE,
};

/**
 * Returns the settings after a SETTINGS frame; those that it does not name are unchanged. Throws ProtocolError for
 * invalid values.
 */
export function applySettings(before: PeerSettings, payload: Buffer): PeerSettings {
  if (payload.length % 6 !== 0) throw new ProtocolError(ERROR_CODE.frameSize, 'truncated SETTINGS');
  const after = {...before};
  for (let at = 0; at < payload.length; at += 6) {
    const value = payload.readUInt32BE(at + 2);
    switch (payload.readUInt16BE(at)) {
      case SETTING.enablePush:
        if (value !== 0) throw new ProtocolError(ERROR_CODE.protocol, 'a server must not enable push');
        break;
      case SETTING.maxConcurrentStreams:
        after.maxConcurrentStreams = value;
        break;
      case SETTING.initialWindowSize:
        if (value > LARGEST_WINDOW)
          throw new ProtocolError(ERROR_CODE.flowControl, `a window of ${value} bytes`);
        after.initialWindowSize = value;
        break;
      case SETTING.maxFrameSize:
        if (value < DEFAULT_MAX_FRAME_SIZE || value > LARGEST_MAX_FRAME_SIZE)
          throw new ProtocolError(ERROR_CODE.protocol, `invalid maximum frame size ${value}`);
        after.maxFrameSize = value;
        break;
      default: // Other and unknown settings have no effect here.
    }
  }
  return after;
}
