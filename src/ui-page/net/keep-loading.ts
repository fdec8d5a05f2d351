import {pause} from './waiting.js';

/** Result of a request: what was read last, and the error since. */
export interface Loaded<Value> {
  readonly value?: Value;
  readonly error?: Error;
}

/** Pause before details are read again while they are visible, in ms. */
const REFRESH_MS = 5000;

/** Options of keepLoading. */
export interface LoadingOptions<Value> {
  /** Reads again and again. */
  readonly isLive: boolean;
  readonly set: (loaded: Loaded<Value>) => void;
  /** Resolves when somebody can see the page, or when the signal is aborted. */
  readonly isVisible: (signal: AbortSignal) => Promise<void>;
  /** Ends the reading, after which nothing is set. */
  readonly signal: AbortSignal;
  readonly pauseMs?: number;
}

/** Reads a value while the page is visible, one request at a time: a slow node gets no second one before it has answered. */
export async function keepLoading<Value>(
  read: (signal: AbortSignal) => Promise<Value>,
  {isLive, set, isVisible, signal, pauseMs = REFRESH_MS}: LoadingOptions<Value>,
): Promise<void> {
  do {
    await isVisible(signal);
    const loaded = signal.aborted ? undefined : await readOnce(read, signal);
    if (loaded !== undefined) set(loaded);
    if (isLive) await pause(pauseMs, signal);
  } while (isLive && !signal.aborted);
}

/** Reads the value; undefined if the signal was aborted meanwhile. */
async function readOnce<Value>(
  read: (signal: AbortSignal) => Promise<Value>,
  signal: AbortSignal,
): Promise<Loaded<Value> | undefined> {
  try {
    const value = await read(signal);
    return signal.aborted ? undefined : {value};
  } catch (error) {
    if (signal.aborted) return undefined;
    return {error: error instanceof Error ? error : new Error(String(error))};
  }
}
