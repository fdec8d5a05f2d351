import {expect, test} from 'vitest';
import {APP, aRuntime, createImageFixture, pullError} from './image-fixture.js';

/** Creates an image fixture that records metrics. */
async function countingFixture(runtime = aRuntime()) {
  const fixture = await createImageFixture(runtime);
  const ensured: string[] = [];
  const pulls: string[] = [];
  fixture.manager.setMetrics({
    imageEnsured: ({pullPolicy, isPresent, mustPull}) =>
      ensured.push(`${pullPolicy} ${String(isPresent)} ${String(mustPull)}`),
    imagePulled: (sizeBytes, durationMs) => pulls.push(`${sizeBytes} ${durationMs}`),
  });
  return {...fixture, ensured, pulls};
}

test.each([
  ['IfNotPresent', true, 'IfNotPresent true false', 0],
  ['IfNotPresent', false, 'IfNotPresent false true', 1],
  ['Always', true, 'Always undefined true', 1],
  ['Never', true, 'Never true false', 0],
  ['Never', false, 'Never false false', 0],
] as const)(
  '%s of an image that is present: %s, is counted as %s',
  async (pullPolicy, isPresent, expected, pulls) => {
    const fixture = await countingFixture();
    if (isPresent) fixture.present.add(APP);
    await fixture.ensure({pullPolicy});
    expect(fixture.ensured).toEqual([expected]);
    expect(fixture.pulls).toHaveLength(pulls);
  },
);

test('a successful pull is counted with size and duration, a failed one is not', async () => {
  const runtime = aRuntime((image) => {
    fixture.clock.elapse(1234);
    if (image !== APP) throw pullError('NOT_FOUND', 'not found');
  });
  const fixture: Awaited<ReturnType<typeof countingFixture>> = await countingFixture(runtime);
  await fixture.ensure();
  await fixture.ensure({image: 'r.example/other:1'});
  expect(fixture.pulls).toEqual(['1032138 1234']);
});
