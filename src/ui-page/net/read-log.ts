import {cleanLogText} from '../model/clean-log-text.js';
import {MAX_LINES} from '../model/log-lines.js';
import {readText} from './read-lines.js';

/** Time in which text is collected before it is shown, in ms. */
const BATCH_MS = 50;

/** Where the reader of a log waits while nobody follows its end. */
export interface LogGate {
  /** Waits until somebody follows, or the signal is aborted. Resolves with true if that was not so at once. */
  opened(signal: AbortSignal): Promise<boolean>;
}

/** Where a log goes. */
export interface LogTarget {
  readonly signal: AbortSignal;
  readonly gate: LogGate;
  readonly append: (text: string) => void;
  readonly end: (error?: Error) => void;
  /** Called in place of `end` if the connection was lost while nobody followed, which the server ends after a minute. */
  readonly readAgain: () => void;
}

/** Reads a log to its end, or until the signal is aborted. Waits at the gate while there are more lines than are kept. */
export async function readLog(
  open: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>,
  {signal, gate, append, end, readAgain}: LogTarget,
): Promise<void> {
  let pending = '';
  let lines = 0;
  let hasWaited = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (pending !== '' && !signal.aborted) append(cleanLogText(pending));
    pending = '';
  };
  try {
    for await (const text of readText(await open(signal))) {
      hasWaited = false;
      pending += text;
      lines += text.split('\n').length - 1;
      timer ??= setTimeout(flush, BATCH_MS);
      if (lines >= MAX_LINES) hasWaited = await gate.opened(signal);
    }
    flush();
    if (!signal.aborted) end();
  } catch (error) {
    flush();
    if (signal.aborted) return;
    if (hasWaited) readAgain();
    else end(error instanceof Error ? error : new Error(String(error)));
  }
}
