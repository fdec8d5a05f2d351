import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';

/** Collects all garbage. Objects that a WeakRef has returned in this turn of the event loop remain. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
