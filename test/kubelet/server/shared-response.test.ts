import {expect, test} from 'vitest';
import {until} from '../../base/until.js';
import type {BufferedResponse} from '../../../src/kubelet/server/kubelet-response.js';
import {shareResponse} from '../../../src/kubelet/server/shared-response.js';

/** A shared response whose computations the test completes. */
function start() {
  const computed: ((body: string) => void)[] = [];
  const respond = shareResponse(
    () =>
      new Promise<BufferedResponse>((resolve) => {
        computed.push((body) => {
          resolve({kind: 'buffered', status: 200, body});
        });
      }),
  );
  return {computed, respond};
}

test('a hundred concurrent requests share two computations, and one body each', async () => {
  const {computed, respond} = start();
  const responses = Array.from({length: 50}, respond);
  await until(() => computed.length === 1);
  const later = Array.from({length: 50}, respond);
  computed[0]?.('first');
  await until(() => computed.length === 2);
  computed[1]?.('second');
  const bodies = (await Promise.all(responses)).map(({body}) => body);
  expect(new Set(bodies).size).toBe(1);
  expect(bodies[0]).toEqual(Buffer.from('first'));
  expect(new Set((await Promise.all(later)).map(({body}) => body)).size).toBe(1);
});

test('requests share a response that is computed without waiting', async () => {
  let count = 0;
  const respond = shareResponse(async () => ({kind: 'buffered', status: 200, body: `${(count += 1)}`}));
  const bodies: string[] = [];
  for (let request = 0; request < 50; request += 1) {
    void respond().then(({body}) => bodies.push(body.toString()));
    await Promise.resolve();
  }
  await until(() => bodies.length === 50);
  expect(count).toBe(2);
});
