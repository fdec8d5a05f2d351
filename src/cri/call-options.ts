import type {FieldMask} from './message-schema.js';

/** Options of one call. */
export interface CallOptions<Response = never> {
  /** Aborting cancels the RPC; the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Deadline in milliseconds instead of the one from deadlines.ts; `Infinity` means none. */
  readonly timeoutMs?: number | undefined;
  /**
   * Fields of the response to decode; all others keep their defaults. Decodes long lists several times faster.
   * Ignored if the connection has observers, which see every field.
   */
  readonly fields?: FieldMask<Response> | undefined;
}

/** Wire name, request and response of an RPC. */
export interface MethodInfo<Name extends string = string> {
  readonly rpc: string;
  readonly request: Name;
  readonly response: Name;
  /** True if the response is a stream of messages. */
  readonly stream: boolean;
  /** True if the request is a stream of messages, too. */
  readonly requestStream?: boolean;
}

type Scalar = string | number | bigint | boolean | Uint8Array | undefined;

/** A request message as callers write it: every field is optional, at every depth. */
export type Init<T> = T extends Scalar
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Init<Item>[]
    : string extends keyof T
      ? T
      : {readonly [Key in keyof T]?: Init<T[Key]> | undefined};
