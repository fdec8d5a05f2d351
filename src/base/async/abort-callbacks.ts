/** Callbacks by signal; of signals other than those of CallbackAbortController, only while they have any. */
const callbacksOf = new WeakMap<AbortSignal, SignalCallbacks>();

/**
 * An AbortController whose signal calls the callbacks of onAbort() itself. Its events work too, but for the first listener
 * Node.js compiles its dispatch of events, which takes a tenth of a short command.
 */
export class CallbackAbortController extends AbortController {
  readonly #callbacks = new Set<() => void>();

  constructor() {
    super();
    callbacksOf.set(this.signal, {callbacks: this.#callbacks, release: () => undefined});
  }

  override abort(reason?: unknown): void {
    super.abort(reason);
    callEach(this.#callbacks);
  }
}

/**
 * Calls `act`, which must not throw, once when the signal aborts; never if it already has. Returns a function that
 * prevents that. All callbacks of a signal share one listener: Node.js warns about more than ten, and searches through
 * them for each one that is removed.
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) return () => undefined;
  const {callbacks, release} = callbacksOf.get(signal) ?? listen(signal);
  const callback = (): void => {
    act();
  };
  callbacks.add(callback);
  return () => {
    if (callbacks.delete(callback) && callbacks.size === 0) release();
  };
}

/** Callbacks of a signal. */
interface SignalCallbacks {
  readonly callbacks: Set<() => void>;
  /** Removes the listener that calls them, if there is one. */
  readonly release: () => void;
}

/** Adds one listener to a signal. */
function listen(signal: AbortSignal): SignalCallbacks {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    callEach(callbacks);
  };
  const release = (): void => {
    callbacksOf.delete(signal);
    signal.removeEventListener('abort', listener);
  };
  signal.addEventListener('abort', listener, {once: true});
  callbacksOf.set(signal, {callbacks, release});
  return {callbacks, release};
}

/** Calls and removes callbacks, except those that an earlier one removes. */
function callEach(callbacks: Set<() => void>): void {
  for (const callback of callbacks) {
    callbacks.delete(callback);
    callback();
  }
}
