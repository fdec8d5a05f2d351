/** Resolves in the next iteration of the event loop, after sockets, signals and timers have been handled. */
export async function nextIteration(): Promise<void> {
  await new Promise<void>((resolve) => setImmediate(resolve));
}
