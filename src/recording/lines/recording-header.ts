import type {JsonObject} from '../../format/json.js';

/** Version of the format of recordings. */
export const RECORDING_VERSION = 1;

/** Maximum length of a line, in bytes: a recorder writes none above it. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Facts about a recording. */
export interface RecordingFacts {
  /** Program that recorded, with its version. */
  readonly program: string;
  /** Endpoint of the runtime. */
  readonly endpoint: string;
  /** True if the values of all environment variables are masked. */
  readonly masksEnv: boolean;
}

/** Returns the first line of a recording. */
export function recordingHeader({program, endpoint, masksEnv}: RecordingFacts): JsonObject {
  return {recording: {version: RECORDING_VERSION, program, endpoint, masksEnv}};
}
