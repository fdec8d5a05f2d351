import {expect, test} from 'vitest';
import {keepLoading} from '../../../src/ui-page/net/keep-loading.js';
import {waitFor} from '../../../src/ui-page/net/waiting.js';

test('a value is read while the page is visible, one request at a time', async () => {
  const events: string[] = [];
  const controller = new AbortController();
  let running = 0;
  await keepLoading(
    async () => {
      running += 1;
      events.push(`read ${running}`);
      await Promise.resolve();
      running -= 1;
      if (events.length > 4) throw new Error('down');
      return events.length;
    },
    {
      isLive: true,
      set: ({value, error}) => {
        events.push(error === undefined ? `value ${value}` : error.message);
        if (error !== undefined) controller.abort();
      },
      isVisible: async () => void (await Promise.resolve(events.push('visible'))),
      signal: controller.signal,
      pauseMs: 0,
    },
  );
  expect(events).toEqual(['visible', 'read 1', 'value 2', 'visible', 'read 1', 'down']);
});

test('nothing is read for a page that was never visible, and nothing is set after the end', async () => {
  const controller = new AbortController();
  const set = (): never => {
    throw new Error('set');
  };
  const options = {isLive: false, set, signal: controller.signal};
  await keepLoading(async () => Promise.reject(new Error('read')), {
    ...options,
    isVisible: async () => {
      controller.abort();
    },
  });
  const other = new AbortController();
  const end = async (): Promise<void> => {
    await Promise.resolve();
    other.abort();
  };
  await keepLoading(end, {
    ...options,
    signal: other.signal,
    isVisible: async () => undefined,
  });
});

test('a wait ends with its event or its signal, and is taken back then', async () => {
  const stopped: string[] = [];
  const never = new AbortController();
  await waitFor(never.signal, (done) => {
    done();
    return () => stopped.push('event');
  });
  const controller = new AbortController();
  const waiting = waitFor(controller.signal, () => () => stopped.push('signal'));
  controller.abort();
  await waiting;
  await waitFor(controller.signal, () => () => stopped.push('never started'));
  expect(stopped).toEqual(['event', 'signal']);
});
