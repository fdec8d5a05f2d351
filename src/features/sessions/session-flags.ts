import * as Flags from '@oclif/core/flags';
import {DETACH_KEYS} from './detach-keys.js';
import {STREAMING_FLAGS, type StreamingFlagValues} from './streaming-flags.js';

/** Flags of both `exec` and `attach`. */
export const SESSION_FLAGS = {
  ...STREAMING_FLAGS,
  'detach-keys': Flags.string({
    helpValue: 'KEYS',
    description: `Key sequence that detaches from a terminal session, such as ctrl-x,x; empty for none. [default: ${DETACH_KEYS}]`,
  }),
};

/** Values of the session flags. */
export type SessionFlagValues = StreamingFlagValues & {readonly 'detach-keys'?: string | undefined};
