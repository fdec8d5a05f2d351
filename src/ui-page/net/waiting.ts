/** Waits until `start` calls its function, or the signal is aborted; then calls what `start` returned. */
export async function waitFor(signal: AbortSignal, start: (done: () => void) => () => void): Promise<void> {
  if (signal.aborted) return;
  let stop = (): void => undefined;
  let done = (): void => undefined;
  await new Promise<void>((resolve) => {
    done = resolve;
    signal.addEventListener('abort', done);
    stop = start(done);
  });
  signal.removeEventListener('abort', done);
  stop();
}

/** Resolves after a time, or when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await waitFor(signal, (done) => {
    const timer = setTimeout(done, ms);
    return () => clearTimeout(timer);
  });
}
