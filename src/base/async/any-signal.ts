import {CallbackAbortController, onAbort} from './abort-callbacks.js';

/** An AbortSignal that follows others until it is disposed of. */
export interface FollowingSignal extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * Returns a signal that aborts with the reason of the first of these. Disposing of it removes its listeners from them:
 * what AbortSignal.any leaves at a long-lived signal on Node.js 20 fills the heap.
 */
export function anySignal(...sources: readonly AbortSignal[]): FollowingSignal {
  const controller = new CallbackAbortController();
  const forgets: (() => void)[] = [];
  const dispose = (): void => {
    for (const forget of forgets) forget();
  };
  const follow = (source: AbortSignal): void => {
    dispose();
    controller.abort(source.reason);
  };
  const first = sources.find(({aborted}) => aborted);
  if (first === undefined)
    for (const source of sources)
      forgets.push(
        onAbort(source, () => {
          follow(source);
        }),
      );
  else controller.abort(first.reason);
  return {signal: controller.signal, [Symbol.dispose]: dispose};
}
