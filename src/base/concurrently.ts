/** Calls `act` for every item, at most `limit` at a time, starting them in order. The first rejection ends it. */
export async function concurrently<T>(
  items: readonly T[],
  limit: number,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const work = async (): Promise<void> => {
    for (const item of queue) await act(item);
  };
  await Promise.all(Array.from({length: Math.min(limit, items.length)}, work));
}
