import type {MethodInfo} from './call.js';

/** One call as somebody who looks on sees it. */
export interface ObservedCall {
  /** Such as `runtime.v1.RuntimeService`. */
  readonly service: string;
  readonly endpoint: string;
  readonly method: MethodInfo;
  readonly request: Readonly<Record<string, unknown>>;
}

/** What looks on at one call. */
export interface CallWatch {
  /** Goes along with the request. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Told of every message that came, decoded. */
  received?(message: unknown): void;
  /** Told of the call's end once, and of the error that it ended with. */
  ended?(error?: unknown): void;
}

/** Looks on at the calls of a connection: a log, a trace. Must not throw. */
export type CallObserver = (call: ObservedCall) => CallWatch;

/** All observers of one call as one. */
export function watchAll(observers: readonly CallObserver[], call: ObservedCall): Required<CallWatch> {
  const watches = observers.map((observe) => observe(call));
  return {
    metadata: Object.assign({}, ...watches.map(({metadata}) => metadata)) as Record<string, string>,
    received: (message) => {
      for (const watch of watches) watch.received?.(message);
    },
    ended: (error) => {
      for (const watch of watches) watch.ended?.(error);
    },
  };
}
