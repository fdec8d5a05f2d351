/**
 * Returns a function for the results of concurrent work: it calls each action when those of all lower indexes were called.
 * Every index from 0 on must be given once.
 */
export function inOrder(): (index: number, act: () => void) => void {
  const waiting = new Map<number, () => void>();
  let next = 0;
  return (index, act) => {
    waiting.set(index, act);
    for (let due = waiting.get(next); due !== undefined; due = waiting.get(next)) {
      waiting.delete(next);
      next += 1;
      due();
    }
  };
}
