/**
 * The call, for many who ask at once: who asks while one is under way gets the next one, which begins when that is
 * over. No answer is older than its question, and a hundred questions are two calls.
 */
export function shared<T>(call: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= last.then(() => {
      next = undefined;
      const answer = call();
      last = answer.catch(() => undefined); // who asked is told
      return answer;
    });
    return next;
  };
}
