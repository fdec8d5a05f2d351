import type {Side} from '../tap/connection-tap.js';

/** Stream of a session. */
export interface StreamLabel {
  /** `stdin`, `stdout`, `stderr`, `error`, `resize`, or `data` of a forwarded port. */
  readonly stream: string;
  /** Forwarded port of the pod. */
  readonly port?: number;
  /** Number of the forwarded connection, if several share the session. */
  readonly request?: string;
}

/** Receives what a session transfers. */
export interface SessionSink {
  /** The chunk is only valid during the call. */
  onData(label: StreamLabel, from: Side, chunk: Buffer): void;
  /** Called when a side will send nothing more on a stream. */
  onStreamEnd(label: StreamLabel, from: Side): void;
}

/** Reads along on an upgraded connection. */
export interface ProtocolTap {
  /** True if a part of what was read is not known. */
  readonly isUnreadable: boolean;
  /** Reads what one side has sent. Throws KcriError if it is not of the protocol; nothing may be read afterwards. */
  read(from: Side, chunk: Buffer): void;
}
