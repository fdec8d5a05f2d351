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

test.each([
  ['a signal with callbacks', () => new CallbackAbortController()],
  ['any other signal', () => new AbortController()],
])('%s does not call a callback that an earlier one has removed', (_, create) => {
  const controller = create();
  const called: string[] = [];
  let forget = (): void => undefined;
  onAbort(controller.signal, () => {
    called.push('first');
    forget();
  });
  forget = onAbort(controller.signal, () => {
    called.push('removed');
  });
  onAbort(controller.signal, () => {
    called.push('last');
  });
  controller.abort();
  expect(called).toEqual(['first', 'last']);
});

test('any other signal has a listener while it has callbacks, also again', () => {
  const {signal} = new AbortController();
  const listeners = (): number => getEventListeners(signal, 'abort').length;
  const [first, second] = [onAbort(signal, () => undefined), onAbort(signal, () => undefined)];
  first();
  first();
  expect(listeners()).toBe(1);
  second();
  expect(listeners()).toBe(0);
  const third = onAbort(signal, () => undefined);
  second();
  expect(listeners()).toBe(1);
  third();
  expect(listeners()).toBe(0);
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
