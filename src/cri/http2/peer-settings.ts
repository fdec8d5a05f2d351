import {
  DEFAULT_MAX_FRAME_SIZE,
  DEFAULT_WINDOW,
  ERROR,
  LARGEST_MAX_FRAME_SIZE,
  LARGEST_WINDOW,
  ProtocolError,
  SETTING,
} from './protocol.js';

/** What a server's settings change for a client that keeps no header table. */
export interface PeerSettings {
  readonly maxConcurrentStreams: number;
  readonly initialWindowSize: number;
  readonly maxFrameSize: number;
}

/** What holds until the peer says otherwise. */
export const DEFAULT_PEER_SETTINGS: PeerSettings = {
  maxConcurrentStreams: Infinity,
  initialWindowSize: DEFAULT_WINDOW,
  maxFrameSize: DEFAULT_MAX_FRAME_SIZE,
};

/** The settings after a SETTINGS frame; what it doesn't name stays. Throws ProtocolError for values that can't be. */
export function applySettings(before: PeerSettings, payload: Buffer): PeerSettings {
  if (payload.length % 6 !== 0) throw new ProtocolError(ERROR.frameSize, 'SETTINGS that are cut off');
  const after = {...before};
  for (let at = 0; at < payload.length; at += 6) {
    const value = payload.readUInt32BE(at + 2);
    switch (payload.readUInt16BE(at)) {
      case SETTING.enablePush:
        if (value !== 0) throw new ProtocolError(ERROR.protocol, 'a server that wants to be pushed to');
        break;
      case SETTING.maxConcurrentStreams:
        after.maxConcurrentStreams = value;
        break;
      case SETTING.initialWindowSize:
        if (value > LARGEST_WINDOW) throw new ProtocolError(ERROR.flowControl, `a window of ${value} bytes`);
        after.initialWindowSize = value;
        break;
      case SETTING.maxFrameSize:
        if (value < DEFAULT_MAX_FRAME_SIZE || value > LARGEST_MAX_FRAME_SIZE)
          throw new ProtocolError(ERROR.protocol, `frames of at most ${value} bytes`);
        after.maxFrameSize = value;
        break;
      default: // What else there is, or will be, changes nothing here.
    }
  }
  return after;
}
