import {url as debuggerUrl} from 'node:inspector';
import {Worker} from 'node:worker_threads';
import {runInBackground} from '../async/background-work.js';
import {decideTick, type WatchLimits} from './loop-watch.js';
import {runWatcher, type BlockedMessage, type WatcherData} from './watcher.js';

export type {BlockedMessage} from './watcher.js';

/** Options of {@link watchEventLoop}. */
export interface WatchEventLoopOptions {
  /** Called after the event loop was blocked. */
  readonly onBlocked: (message: BlockedMessage) => void;
  /** Called if the watch ends, for example because the process may have no further threads. */
  readonly onError: (error: Error) => void;
  readonly limits?: WatchLimits;
}

/** A block is reported after five seconds and ends the process after thirty. */
const LIMITS: WatchLimits = {tickMs: 1000, blockedTicks: 5, fatalTicks: 30};

/**
 * Watches the event loop of this process with a thread until it is disposed: reports a block with the stack that caused it,
 * and ends the process with SIGABRT if the event loop does not turn again. Does nothing while a debugger may stop the
 * process.
 */
export function watchEventLoop({onBlocked, onError, limits = LIMITS}: WatchEventLoopOptions): Disposable {
  if (debuggerUrl() !== undefined) return {[Symbol.dispose]: () => undefined};
  const beats = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const seconds = (limits.tickMs * limits.fatalTicks) / 1000;
  const workerData: WatcherData = {
    beats,
    limits,
    fatalText: `fatal: the event loop has been blocked for ${seconds} s, ending the process; the main thread is in`,
  };
  const worker = new Worker(`(${runWatcher.toString()})(${decideTick.toString()})`, {
    eval: true,
    name: 'watchdog',
    workerData,
    // It needs nothing of this process, and no options that load modules.
    env: {},
    execArgv: [],
  });
  const heart = setInterval(() => Atomics.add(beats, 0, 1), limits.tickMs).unref();
  worker.on('message', onBlocked);
  worker.on('error', (error) => {
    clearInterval(heart);
    onError(error);
  });
  // A listener for messages keeps the process alive.
  worker.unref();
  return {
    [Symbol.dispose]: () => {
      clearInterval(heart);
      worker.off('message', onBlocked);
      runInBackground('watchdog', worker.terminate());
    },
  };
}
