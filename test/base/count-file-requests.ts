import {createHook} from 'node:async_hooks';

/** Requests to the threads for files, by the names that Node.js gives them. */
const REQUESTS: readonly string[] = ['FSREQPROMISE', 'FSREQCALLBACK', 'FILEHANDLECLOSEREQ'];

/** Counts the calls on files that this process hands to other threads, until it is disposed. */
export function countFileRequests(): Disposable & {readonly count: number} {
  let count = 0;
  const hook = createHook({
    init: (_id, type) => {
      if (REQUESTS.includes(type)) count += 1;
    },
  }).enable();
  return {
    get count() {
      return count;
    },
    [Symbol.dispose]: () => {
      hook.disable();
    },
  };
}
