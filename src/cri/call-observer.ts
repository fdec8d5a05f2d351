import type {MethodInfo} from './call-options.js';
import type {MessageName} from './gen/schema.js';

/** A call as its observers see it. */
export interface ObservedCall {
  /** Full name of the service, such as `runtime.v1.RuntimeService`. */
  readonly service: string;
  readonly endpoint: string;
  readonly method: MethodInfo<MessageName>;
  readonly request: Readonly<Record<string, unknown>>;
}

/** Callbacks and metadata of an observer for one call. */
export interface CallWatch {
  /** Metadata sent with the request. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Called with each decoded response message. */
  received?(message: unknown): void;
  /** Called once when the call ends, with the error if it failed. A stream that its reader aborts has not failed. */
  ended?(error?: unknown): void;
}

/** Observes the calls of a connection, for example to log or trace them. Must not throw. */
export type CallObserver = (call: ObservedCall) => CallWatch;

/** Combines all observers of a call into one. */
export function observeCall(observers: readonly CallObserver[], call: ObservedCall): Required<CallWatch> {
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
