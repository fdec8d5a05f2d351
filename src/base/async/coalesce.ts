/**
 * Returns a function that shares one call among concurrent callers. Callers that arrive while a call is running share
 * the next one, which starts when the current call ends: no result is older than its request, and a hundred concurrent
 * requests make two calls.
 */
export function coalesce<T>(call: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    next ??= last.then(() => {
      next = undefined;
      const answer = call();
      last = answer.catch(() => undefined); // its callers see the error
      return answer;
    });
    return next;
  };
}
