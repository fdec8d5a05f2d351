import {describe, expect, test} from 'vitest';
import {podUid} from '../../../src/cri/index.js';
import {
  effectiveGracePeriod,
  endingOf,
  NetworkNotReadyError,
  requeueDelay,
} from '../../../src/kubelet/pod-workers/worker-state.js';
import {StaticTurns} from '../../../src/kubelet/pod-workers/static-turns.js';
import {aPod} from '../kuberuntime/builders.js';

describe('the grace period of a pod that ends', () => {
  interface Facts {
    readonly current?: number;
    readonly spec: number;
    readonly deletion?: number;
    readonly override?: number;
  }
  test.each<[string, Facts, number]>([
    ['is the pod’s own', {spec: 30}, 30],
    ['is a second for a pod that has none', {spec: 0}, 1],
    ['is the deletion’s', {spec: 30, deletion: 10}, 10],
    ['is the deletion’s, also when that is longer than the pod’s', {spec: 30, deletion: 60}, 60],
    ['is the override', {spec: 30, override: 5}, 5],
    ['is the shorter one of both', {spec: 30, deletion: 10, override: 5}, 5],
    ['is not made longer by an override', {spec: 30, deletion: 10, override: 20}, 10],
    ['never grows', {current: 5, spec: 30, deletion: 10}, 5],
    ['becomes shorter', {current: 20, spec: 30, deletion: 10}, 10],
    ['stays when nobody says anything', {current: 20, spec: 30}, 20],
    ['is a second at least', {current: 20, spec: 30, override: 0}, 1],
  ])('%s', (_name, {current = 0, spec, deletion, override}, expected) => {
    const pod = aPod(
      {terminationGracePeriodSeconds: spec},
      deletion === undefined ? {} : {deletionGracePeriodSeconds: deletion},
    );
    expect(effectiveGracePeriod(current, pod, override)).toBe(expected);
  });

  test('of a pod that only the runtime knows is the override, or a second', () => {
    expect(effectiveGracePeriod(0, undefined, undefined)).toBe(1);
    expect(effectiveGracePeriod(0, undefined, 7)).toBe(7);
  });
});

describe('what ends a pod', () => {
  const running = {uid: podUid('u'), name: 'web', namespace: 'default', isRunning: true};
  test('that nobody but the runtime knows', () => {
    expect(endingOf({type: 'kill', running})).toEqual({deleted: true, evicted: false});
  });
  test('is its deletion, whatever the update', () => {
    const pod = aPod({}, {deletionTimestamp: '2026-01-01T00:00:00Z'});
    expect(endingOf({type: 'sync', pod})).toEqual({deleted: true, evicted: false});
  });
  test.each(['Failed', 'Succeeded'] as const)('is that it has %s', (phase) => {
    expect(endingOf({type: 'create', pod: {...aPod(), status: {phase}}})).toEqual({
      deleted: false,
      evicted: false,
    });
  });
  test('is that it is killed, or evicted', () => {
    expect(endingOf({type: 'kill', pod: aPod()})).toEqual({deleted: false, evicted: false});
    expect(endingOf({type: 'kill', pod: aPod(), kill: {evict: true}})).toEqual({
      deleted: false,
      evicted: true,
    });
  });
  test.each(['create', 'update', 'sync'] as const)('is not an update of type %s', (type) => {
    expect(endingOf({type, pod: aPod()})).toBeUndefined();
  });
});

describe('the time until the next sync', () => {
  const at = (random: number) => ({now: 1000, syncFrequencyMs: 60_000, random});
  test('is the sync frequency after a success, and half as much again at most', () => {
    expect(requeueDelay({}, at(0))).toBe(60_000);
    expect(requeueDelay({}, at(1))).toBe(90_000);
  });
  test('is ten seconds after an error', () => {
    expect(requeueDelay({error: new Error('x')}, at(0))).toBe(10_000);
  });
  test('is a second while the network is not ready', () => {
    expect(requeueDelay({error: new NetworkNotReadyError('x')}, at(0))).toBe(1000);
  });
  test('is what is left of a back-off', () => {
    expect(requeueDelay({error: new Error('x'), retryAt: 21_000}, at(0))).toBe(20_000);
    expect(requeueDelay({error: new Error('x'), retryAt: 21_000}, at(0.5))).toBe(25_000);
  });
  test('is never negative, nor longer than the sync frequency', () => {
    expect(requeueDelay({error: new Error('x'), retryAt: 500}, at(1))).toBe(0);
    expect(requeueDelay({error: new Error('x'), retryAt: 301_000}, at(0))).toBe(60_000);
  });
});

describe('static pods of one name', () => {
  const [a, b, c] = [podUid('a'), podUid('b'), podUid('c')];
  test('start in the order in which they asked, one at a time', () => {
    const turns = new StaticTurns();
    expect(turns.tryStart('web_default', a)).toBe(true);
    expect(turns.tryStart('web_default', a)).toBe(true);
    expect(turns.tryStart('web_default', b)).toBe(false);
    expect(turns.tryStart('web_default', c)).toBe(false);
    expect(turns.leave('web_default', a)).toBe(b);
    expect(turns.tryStart('web_default', c)).toBe(false);
    expect(turns.tryStart('web_default', b)).toBe(true);
    expect(turns.leave('web_default', b)).toBe(c);
  });
  test('of other names wait for nobody', () => {
    const turns = new StaticTurns();
    expect(turns.tryStart('web_default', a)).toBe(true);
    expect(turns.tryStart('db_default', b)).toBe(true);
  });
  test('that never start give their place up', () => {
    const turns = new StaticTurns();
    turns.tryStart('web_default', a);
    turns.tryStart('web_default', b);
    turns.tryStart('web_default', c);
    expect(turns.leave('web_default', b)).toBeUndefined();
    expect(turns.leave('web_default', a)).toBe(c);
  });
});
