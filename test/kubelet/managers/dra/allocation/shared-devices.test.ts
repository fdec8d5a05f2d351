import {describe, expect, test} from 'vitest';
import type {OfferedDevice} from '../../../../../src/api/types/v1-device-resources.js';
import {aSlice, choose, DRIVER, only, request, run, text, type Case} from './allocation-fixtures.js';

describe('devices that claims share', () => {
  const shared = (name: string, memory: string, changes: object = {}): OfferedDevice => ({
    name,
    allowMultipleAllocations: true,
    capacity: {memory: {value: memory, ...changes}},
  });
  const takes = (memory: string) => request('r', {capacity: {requests: {memory}}});

  test.each<[string, Case, readonly string[] | string]>([
    [
      'are taken in parts',
      {claims: [...only(takes('4Gi')), ...only(takes('4Gi'))], slices: [aSlice([shared('a', '8Gi')])]},
      ['r=a', 'r=a'],
    ],
    [
      'have no more than their capacity',
      {
        claims: only(takes('4Gi')),
        slices: [aSlice([shared('a', '8Gi')])],
        taken: [{device: 'a', shareID: 's', consumedCapacity: {memory: '5Gi'}}],
      },
      'claim ns/c0, request r needs 1 device of class gpu: 1 device on this node, 1 not enough capacity',
    ],
    [
      'are taken whole by default',
      {
        claims: [...only(request('r')), ...only(request('r'))],
        slices: [aSlice([shared('a', '8Gi'), shared('b', '8Gi')])],
      },
      ['r=a', 'r=b'],
    ],
    [
      'are taken by the default of their policy',
      {
        claims: [...only(request('r')), ...only(request('r'))],
        slices: [
          aSlice([shared('a', '8Gi', {requestPolicy: {default: '1Gi', validValues: ['1Gi', '2Gi']}})]),
        ],
      },
      ['r=a', 'r=a'],
    ],
    [
      'are not taken by amounts that their policy does not allow',
      {
        claims: only(takes('3Gi')),
        slices: [
          aSlice([shared('a', '8Gi', {requestPolicy: {default: '1Gi', validValues: ['1Gi', '2Gi']}})]),
        ],
      },
      'claim ns/c0, request r needs 1 device of class gpu: 1 device on this node, 1 not enough capacity',
    ],
    [
      'must have the capacity',
      {
        claims: only(request('r', {capacity: {requests: {cores: '1'}}})),
        slices: [aSlice([shared('a', '8Gi')])],
      },
      'claim ns/c0, request r needs 1 device of class gpu: 1 device on this node, 1 not enough capacity',
    ],
  ])('%s', (_title, input, expected) => {
    expect(choose(input)).toEqual(expected);
  });

  test('are rounded up to a step of their policy', () => {
    const policy = {requestPolicy: {default: '1Gi', validRange: {min: '1Gi', max: '4Gi', step: '512Mi'}}};
    const outcome = run({claims: only(takes('1100Mi')), slices: [aSlice([shared('a', '8Gi', policy)])]});
    expect(outcome).toMatchObject({
      allocations: [{devices: {results: [{shareID: 'share-1', consumedCapacity: {memory: '1536Mi'}}]}}],
    });
  });
});

describe('partitions of a device', () => {
  const counters = (value: string) => [{counterSet: 'card', counters: {memory: {value}}}];
  const slices = [
    aSlice(
      [],
      {
        sharedCounters: [{name: 'card', counters: {memory: {value: '40Gi'}}}],
        pool: {name: 'pool', resourceSliceCount: 2},
        devices: [],
      },
      's0',
    ),
    aSlice(
      [
        {name: 'half', consumesCounters: counters('20Gi')},
        {name: 'other', consumesCounters: counters('20Gi')},
        {name: 'whole', consumesCounters: counters('40Gi')},
      ],
      {pool: {name: 'pool', resourceSliceCount: 2}},
      's1',
    ),
  ];

  test.each<[string, Case, readonly string[] | string]>([
    [
      'are given while there are counters',
      {claims: only(request('r', {count: 2})), slices},
      ['r=half r=other'],
    ],
    [
      'are not given beyond them',
      {claims: only(request('r', {count: 3})), slices},
      'claim ns/c0, request r needs 3 devices of class gpu: 3 devices on this node, 1 allocated already, 2 not enough of shared counters',
    ],
    [
      'are not given if the whole device is',
      {claims: only(request('r')), slices, taken: ['whole']},
      'claim ns/c0, request r needs 1 device of class gpu: 3 devices on this node, 2 not enough of shared counters, 1 allocated already',
    ],
  ])('%s', (_title, input, expected) => {
    if (typeof expected === 'string') expect(choose(input)).toMatch(/not enough of shared counters/);
    else expect(choose(input)).toEqual(expected);
  });

  test('without their counters make a pool invalid', () => {
    const broken = [aSlice([{name: 'a', consumesCounters: counters('1Gi')}])];
    expect(choose({claims: only(request('r')), slices: broken})).toContain(
      'is invalid: counter set card not found',
    );
  });
});

describe('whatever is asked for', () => {
  /** Returns numbers from 0 to `below`, the same for the same seed. */
  function numbers(seed: number): (below: number) => number {
    let state = seed;
    return (below) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
  }

  test.each(Array.from({length: 60}, (_, seed) => seed))('no device is given twice (seed %i)', (seed) => {
    const next = numbers(seed + 1);
    const devices = Array.from({length: 1 + next(8)}, (_, index) =>
      text(`d${index}`, {root: String(next(3))}),
    );
    const taken = new Set<string>();
    for (let round = 0; round < 6; round += 1) {
      const claims = Array.from({length: 1 + next(2)}, () => ({
        requests: Array.from({length: 1 + next(2)}, (_, index) => request(`r${index}`, {count: 1 + next(2)})),
        constraints:
          next(2) === 0 ? [] : [{[next(2) === 0 ? 'matchAttribute' : 'distinctAttribute']: `${DRIVER}/root`}],
      }));
      const outcome = run({claims, slices: [aSlice(devices)], taken: [...taken]});
      if (outcome.kind === 'short') continue;
      const given = outcome.allocations.flatMap((one) => one.devices.results.map(({device}) => device));
      const wanted = claims.flatMap(({requests}) => requests.map(({exactly}) => exactly?.count ?? 0));
      expect(given).toHaveLength(wanted.reduce((sum, count) => sum + count, 0));
      expect(new Set([...taken, ...given]).size).toBe(taken.size + given.length);
      for (const device of given) taken.add(device);
    }
  });
});
