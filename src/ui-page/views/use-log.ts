import {useEffect, useRef, useState} from 'preact/hooks';
import {appendText, EMPTY_LOG, type LogText} from '../model/log-lines.js';
import type {Api, LogRequest} from '../net/api.js';
import {readLog, type LogGate} from '../net/read-log.js';
import {waitFor} from '../net/waiting.js';

/** Log that is being read. */
export interface Log extends LogText {
  /** True when no more will come. */
  readonly hasEnded: boolean;
  readonly error?: Error;
}

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
  const [readings, setReadings] = useState(0);
  useEffect(() => {
    const controller = new AbortController();
    setLog({...EMPTY_LOG, hasEnded: false});
    void readLog((signal) => api.logs(request, signal), {
      signal: controller.signal,
      gate: gate.current,
      append: (text) => setLog((before) => ({...before, ...appendText(before, text)})),
      end: (error) => setLog((before) => ({...before, hasEnded: true, ...(error && {error})})),
      readAgain: () => setReadings((before) => before + 1),
    });
    return () => controller.abort();
  }, [api, key, container, previous, attempt, readings]);
  return log;
}

/** Lets a reader wait while nobody follows the end. */
class FollowGate implements LogGate {
  #isOpen = true;
  #waiting: (() => void)[] = [];

  set(isOpen: boolean): void {
    this.#isOpen = isOpen;
    if (!isOpen) return;
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }

  async opened(signal: AbortSignal): Promise<boolean> {
    if (this.#isOpen) return false;
    await waitFor(signal, (done) => {
      this.#waiting.push(done);
      return () => undefined;
    });
    return true;
  }
}
