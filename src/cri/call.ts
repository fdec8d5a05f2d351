import type {MessageName} from './gen/schema.js';
import type {FieldMask} from './schema.js';

/** How one call is made. */
export interface CallOptions<Response = never> {
  /** Aborting cancels the RPC; the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Replaces the deadline of the table in deadlines.ts, in milliseconds; `Infinity` = none. */
  readonly timeoutMs?: number | undefined;
  /**
   * The fields of the answer that are looked at; others stay at their defaults. A list of thousands is read in a part
   * of the time so. Who looks on at the call is shown all of them.
   */
  readonly fields?: FieldMask<Response> | undefined;
}

/** One RPC: its wire name and messages. */
export interface MethodInfo {
  readonly rpc: string;
  readonly request: MessageName;
  readonly response: MessageName;
  readonly stream: boolean;
}

type Scalar = string | number | bigint | boolean | Uint8Array | undefined;

/** A message as callers write it: every field may be left out, at every depth. */
export type Init<T> = T extends Scalar
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Init<Item>[]
    : string extends keyof T
      ? T
      : {readonly [Key in keyof T]?: Init<T[Key]> | undefined};
