/** Calls `act` for each item in order, at most `limit` at a time. Rejects with the first rejection. */
export async function forEachLimit<T>(
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
