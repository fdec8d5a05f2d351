import {useEffect, useRef, useState} from 'preact/hooks';
import {appendText, EMPTY_LOG, MAX_LINES, type LogText} from '../model/log-lines.js';
import {cleanLogText} from '../model/clean-log-text.js';
import type {Api, LogRequest} from '../net/api.js';
import {readText} from '../net/read-lines.js';

/** Log that is being read. */
export interface Log extends LogText {
  /** True when no more will come. */
  readonly hasEnded: boolean;
  readonly error?: Error;
}

/** Time in which text is collected before it is shown, in ms. */
const BATCH_MS = 50;

/**
 * Follows a log, and reads it again when `attempt` differs. Without `follow` it waits rather than push out lines that are
 * being read.
 */
export function useLog(
  api: Api,
  request: LogRequest,
  {follow, attempt}: {readonly follow: boolean; readonly attempt: string},
): Log {
  const [log, setLog] = useState<Log>({...EMPTY_LOG, hasEnded: false});
  const gate = useRef(new FollowGate());
  gate.current.set(follow);
  const {key, container, previous} = request;
  useEffect(() => {
    const controller = new AbortController();
    setLog({...EMPTY_LOG, hasEnded: false});
    void readLog(api, request, {
      signal: controller.signal,
      gate: gate.current,
      append: (text) => setLog((before) => ({...before, ...appendText(before, text)})),
      end: (error) => setLog((before) => ({...before, hasEnded: true, ...(error && {error})})),
    });
    return () => controller.abort();
  }, [api, key, container, previous, attempt]);
  return log;
}

interface LogSink {
  readonly signal: AbortSignal;
  readonly gate: FollowGate;
  readonly append: (text: string) => void;
  readonly end: (error?: Error) => void;
}

async function readLog(api: Api, request: LogRequest, {signal, gate, append, end}: LogSink): Promise<void> {
  let pending = '';
  let lines = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (pending !== '' && !signal.aborted) append(cleanLogText(pending));
    pending = '';
  };
  try {
    for await (const text of readText(await api.logs(request, signal))) {
      pending += text;
      lines += text.split('\n').length - 1;
      timer ??= setTimeout(flush, BATCH_MS);
      if (lines >= MAX_LINES) await gate.opened(signal);
    }
    flush();
    if (!signal.aborted) end();
  } catch (error) {
    flush();
    if (!signal.aborted) end(error instanceof Error ? error : new Error(String(error)));
  }
}

/** Lets a reader wait while nobody follows the end. */
class FollowGate {
  #isOpen = true;
  #waiting: (() => void)[] = [];

  set(isOpen: boolean): void {
    this.#isOpen = isOpen;
    if (!isOpen) return;
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }

  async opened(signal: AbortSignal): Promise<void> {
    if (this.#isOpen) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      signal.addEventListener('abort', () => resolve(), {once: true});
    });
  }
}
