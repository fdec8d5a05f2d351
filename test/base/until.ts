const PATIENCE_MS = 20_000;

/** Resolves when the condition holds. It gives up in time for the test to fail: a loop that spins would hang the run. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > end)
      throw new Error(`waited ${PATIENCE_MS / 1000} s for ${condition.toString()}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
