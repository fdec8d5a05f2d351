import {describe, expect, test} from 'vitest';
import {KcriError} from '../../src/base/errors.js';
import {beforeBackOff} from './before-back-off.js';
import {callsByPod} from './canon.js';
import {GOLDEN_CASES, readGoldenCase} from './cases.js';
import {DIFFERENT_CASES} from './parity.js';
import {casesOf, expectItIsTold, expectItRuns} from './parity-cases.js';
import {playCase} from './play.js';

/** Why kcri refuses to play a case. */
async function refusalOf(name: string): Promise<string> {
  const error: unknown = await playCase(name).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(KcriError);
  return (error as KcriError).message;
}

test('every difference is one of a recorded case', () => {
  expect(DIFFERENT_CASES.filter((name) => !GOLDEN_CASES.includes(name))).toEqual([]);
});

/** Mounting a tmpfs, changing owners and making a device take root. */
const isRoot = process.getuid?.() === 0;

describe.runIf(isRoot)('from manifest to running to deleted kcri is kubelet 1.36.2 (needs root)', () => {
  test.each(casesOf('foreground', 'equal'))('%s', async (name, {settleSeconds}) => {
    const recorded = readGoldenCase(name);

    const played = await playCase(name, {settleSeconds});

    expect(callsByPod(played.lines)).toEqual(callsByPod(recorded.lines));
    expect(played.pods).toEqual(recorded.pods);
    expect(played.events).toEqual(recorded.events);
  });

  test.each(casesOf('foreground', 'ahead'))('%s, whose status says more', async (name, {settleSeconds}) => {
    const recorded = readGoldenCase(name);

    const played = await playCase(name, {settleSeconds});

    expect(callsByPod(played.lines)).toEqual(callsByPod(recorded.lines));
    expect(played.events).toEqual(recorded.events);
    const [now, wanted] = [played.pods[0]!, recorded.pods[0]!];
    expect(beforeBackOff(now, wanted)).toEqual(wanted);
    expect(now).not.toEqual(wanted);
  });
});

describe('what the kubelet refuses', () => {
  test.each(casesOf('foreground', 'refused'))('%s is refused in its words', async (name) => {
    const [, words] = /^can't process config file "[^"]*": (?:invalid pod: \[)?(.*?)\]?$/.exec(
      readGoldenCase(name).refusal!,
    )!;

    expect(await refusalOf(name)).toContain(words);
  });

  test.each(casesOf('foreground', 'explained'))('%s is refused, and better explained', async (name) => {
    expect(readGoldenCase(name).refusal).toBeDefined();
    expect(await refusalOf(name)).toContain('pod.yaml');
  });

  test.each(casesOf('foreground', 'runs'))('%s runs', async (name) => {
    expectItRuns(name, await playCase(name));
  });
});

test.each(casesOf('foreground', 'told'))('%s is explained', async (name, {event}) => {
  expectItIsTold(name, await playCase(name), event);
});

test.each(casesOf('foreground', 'missing'))(
  '%s is refused, since it needs a kubelet that runs on',
  async (name) => {
    expect(await refusalOf(name)).toMatch(/needs more of a kubelet/);
  },
);
