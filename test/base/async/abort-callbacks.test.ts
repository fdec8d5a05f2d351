import {getEventListeners} from 'node:events';
import {expect, test} from 'vitest';
import {CallbackAbortController, onAbort} from '../../../src/base/async/abort-callbacks.js';

test.each([
  ['a signal with callbacks', () => new CallbackAbortController()],
  ['any other signal', () => new AbortController()],
])('%s calls each callback once, with its reason set', (_, create) => {
  const controller = create();
  const reasons: unknown[] = [];
  const act = (): void => {
    reasons.push(controller.signal.reason);
  };
  const forget = onAbort(controller.signal, act);
  onAbort(controller.signal, () => {
    reasons.push('second');
  });
  onAbort(controller.signal, () => {
    reasons.push('forgotten');
  })();
  controller.abort('first');
  controller.abort('again');
  forget();
  expect(reasons).toEqual(['first', 'second']);
});

test('a callback for a signal that has aborted is not called', () => {
  const controller = new CallbackAbortController();
  controller.abort();
  let called = false;
  onAbort(controller.signal, () => {
    called = true;
  });
  controller.abort();
  expect(called).toBe(false);
});

test('callbacks add no listener to the events of their signal, which work too', () => {
  const controller = new CallbackAbortController();
  onAbort(controller.signal, () => undefined);
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  let heard = false;
  controller.signal.addEventListener('abort', () => {
    heard = true;
  });
  controller.abort();
  expect(heard).toBe(true);
});
