import type {decideTick, LoopWatch, WatchLimits} from './loop-watch.js';

/** Data that a watcher's thread is started with. */
export interface WatcherData {
  /** Number of beats of the event loop, which it increments. */
  readonly beats: Int32Array;
  readonly limits: WatchLimits;
  /** Text that is written to stderr before the process ends. */
  readonly fatalText: string;
}

/** Message of a watcher after the event loop was blocked. */
export interface BlockedMessage {
  readonly blockedMs: number;
  /** Stack of the main thread during the block; empty if it did not run JavaScript, or on Bun. */
  readonly stack: string;
}

/**
 * Watches the event loop of the main thread. This function is the program of a worker thread, which is started from its
 * text: it must not use anything from outside. So it needs no file of its own in bundles and executables.
 *
 * V8's inspector reads the stack even of a loop or a regular expression that never ends. A thread cannot exit the process, so
 * it is ended as systemd's watchdog does, with SIGABRT.
 */
export function runWatcher(decide: typeof decideTick): void {
  const threads = process.getBuiltinModule('node:worker_threads');
  const {Session} = process.getBuiltinModule('node:inspector');
  const {writeSync} = process.getBuiltinModule('node:fs');
  const {beats, limits, fatalText} = threads.workerData as WatcherData;
  /** Evaluated in the main thread, between any two of its instructions. */
  const readStack = `(() => {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 50;
    const {stack} = new Error();
    Error.stackTraceLimit = limit;
    return stack;
  })()`;
  /** First frames of such a stack, which belong to the expression. */
  const ownFrames = /^Error(?:\n +at <anonymous>:\d+:\d+)*\n?/;
  let watch: LoopWatch = {beats: Atomics.load(beats, 0), silentTicks: 0};
  let stack = '';
  let session: InstanceType<typeof Session> | undefined;

  const disconnect = (): void => {
    session?.disconnect();
    session = undefined;
  };
  // The main thread may be between two functions when it is asked: it is asked at each tick until it shows a frame.
  const inspect = (): void => {
    if (session !== undefined || stack !== '') return;
    session = new Session();
    session.connectToMainThread();
    session.post('Runtime.evaluate', {expression: readStack}, (error, answer) => {
      const text: unknown = error === null ? answer.result.value : '';
      stack = String(text).replace(ownFrames, '');
      disconnect();
    });
  };
  const end = (): void => {
    const shown = stack === '' ? '    (it does not run JavaScript, or its stack cannot be read)' : stack;
    try {
      writeSync(2, `${fatalText}\n${shown}\n`);
    } finally {
      process.kill(process.pid, 'SIGABRT');
    }
  };
  setInterval(() => {
    const {watch: next, decision} = decide(watch, Atomics.load(beats, 0), limits);
    watch = next;
    if (decision.kind === 'blocked') inspect();
    else if (decision.kind === 'fatal') end();
    else if (decision.kind === 'resumed') {
      disconnect();
      const message: BlockedMessage = {blockedMs: decision.silentTicks * limits.tickMs, stack};
      threads.parentPort?.postMessage(message);
      stack = '';
    }
  }, limits.tickMs);
}
