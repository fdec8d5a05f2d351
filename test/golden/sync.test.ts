import {isDeepStrictEqual} from 'node:util';
import {describe, expect, test} from 'vitest';
import type {ContainerStatus, PodStatus} from '../../src/api/v1-status.js';
import {KcriError} from '../../src/base/errors.js';
import {callsByPod, type JsonObject} from './canon.js';
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

const LISTS = ['containerStatuses', 'initContainerStatuses'] as const;

/** The pod without the back-offs into which containers have come since they were recorded. */
function beforeBackOff(now: JsonObject, recorded: JsonObject): object {
  const statuses = (pod: JsonObject, list: (typeof LISTS)[number]): readonly ContainerStatus[] =>
    (pod['status'] as unknown as PodStatus)[list] ?? [];
  const lists = LISTS.flatMap((list) => {
    const wanted = statuses(recorded, list);
    const behind = statuses(now, list).map((status, index) => stepBack(status, wanted[index]!));
    return behind.length === 0 ? [] : [[list, behind] as const];
  });
  return {...now, status: {...(now['status'] as JsonObject), ...Object.fromEntries(lists)}};
}

/** A back-off moves the end before it, when it isn't one already, to the last state. */
function stepBack(status: ContainerStatus, {state, lastState}: ContainerStatus): ContainerStatus {
  const end = state?.terminated === undefined ? lastState : state;
  const backsOff = status.state?.waiting?.reason === 'CrashLoopBackOff';
  return backsOff && isDeepStrictEqual(status.lastState, end)
    ? {...status, ...(state && {state}), ...(lastState && {lastState})}
    : status;
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
