import {expect, test} from 'vitest';
import {expectUndisturbed, pass, requestsSince, runPods, startTestbed} from './trouble.js';

/** Longest time after which a watch that sends nothing is given up, in ms (timeoutSeconds and a grace). */
const MAX_WATCH_MS = 5 * 60_000 + 30_000;

test('a watch that stays open and sends nothing is replaced, and the missed pod starts', async () => {
  await using testbed = await startTestbed();
  const {api, daemon} = testbed;
  await runPods(testbed, 'web');
  api.watches.stall();
  testbed.createPod('missed');
  const since = daemon.clock.now();
  await pass(testbed, 60_000);
  expectUndisturbed(testbed, 'web');
  await testbed.untilPhase('missed', 'Running');
  expect(daemon.clock.now() - since).toBeLessThan(MAX_WATCH_MS + 10_000);
  expectUndisturbed(testbed, 'web', 'missed');
});

test.each([
  ['a line that is not JSON', '{"type":"ADDED","object":\n'],
  ['an event without an object', '{"type":"MODIFIED"}\n'],
  ['an object without metadata', '{"type":"ADDED","object":{"kind":"Pod"}}\n'],
  ['a deletion of a pod without a name', '{"type":"DELETED","object":{"metadata":{}}}\n'],
  ['an event of an unknown type', '{"type":"REPLACED","object":{"metadata":{"name":"web"}}}\n'],
  ['a list in place of an object', '{"type":"ADDED","object":[]}\n'],
  ['binary data', '\u0000\u0001\ufffd\n'],
])('pods survive a watch that sends %s', async (_title, text) => {
  await using testbed = await startTestbed();
  const {api, daemon} = testbed;
  await runPods(testbed, 'web');
  const since = daemon.clock.now();
  for (let times = 0; times < 5; times += 1) {
    api.watches.sendText(text);
    await pass(testbed, 10_000);
  }
  expect(requestsSince(testbed, since).length).toBeLessThan(60);
  await runPods(testbed, 'next');
  expectUndisturbed(testbed, 'web', 'next');
});

test('watches whose versions expire again and again are begun anew with pauses', async () => {
  await using testbed = await startTestbed();
  const {api, daemon} = testbed;
  await runPods(testbed, 'web');
  const since = daemon.clock.now();
  for (let times = 0; times < 30; times += 1) {
    api.storage.compact();
    api.watches.end(410);
    await pass(testbed, 2000);
  }
  expect(requestsSince(testbed, since).length).toBeLessThan(100);
  await runPods(testbed, 'next');
  expectUndisturbed(testbed, 'web', 'next');
});
