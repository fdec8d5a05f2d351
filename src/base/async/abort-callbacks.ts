/** Callbacks of the signals of CallbackAbortController. */
const callbacksOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * An AbortController whose signal calls the callbacks of onAbort() itself. Its events work too, but for the first listener
 * Node.js compiles its dispatch of events, which takes a tenth of a short command.
 */
export class CallbackAbortController extends AbortController {
  readonly #callbacks = new Set<() => void>();

  constructor() {
    super();
    callbacksOf.set(this.signal, this.#callbacks);
  }

  override abort(reason?: unknown): void {
    super.abort(reason);
    const callbacks = [...this.#callbacks];
    this.#callbacks.clear();
    for (const callback of callbacks) callback();
  }
}

/** Reports whether onAbort() adds no listener to this signal. */
export function hasCallbacks(signal: AbortSignal): boolean {
  return callbacksOf.has(signal);
}

/**
 * Calls `act`, which must not throw, once when the signal aborts; never if it already has. Returns a function that
 * prevents that.
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  const callbacks = callbacksOf.get(signal);
  if (callbacks === undefined) {
    signal.addEventListener('abort', act, {once: true});
    return () => {
      signal.removeEventListener('abort', act);
    };
  }
  const callback = (): void => {
    act();
  };
  if (!signal.aborted) callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
  };
}
