import {expect, test} from 'vitest';
import {RuntimeState} from '../../../../src/kubelet/managers/node/runtime-state.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

type Condition = readonly [type: string, status: boolean];

const signal = new AbortController().signal;
const READY: readonly Condition[] = [
  ['RuntimeReady', true],
  ['NetworkReady', true],
];

/** A runtime that says what the test says. */
function aRuntime(first: readonly Condition[] | Error = READY) {
  const clock = new FakeClock();
  const answer = {is: first};
  const state = new RuntimeState(
    {
      status: async () => {
        if (answer.is instanceof Error) throw answer.is;
        const conditions = answer.is.map(([type, status]) => ({type, status, reason: 'R', message: 'why'}));
        return {status: {conditions}, info: {}, runtimeHandlers: []};
      },
    },
    clock,
  );
  return {state, clock, answer};
}

test('before the runtime was asked nothing can be done', () => {
  const {state} = aRuntime();
  expect(state.errors()).toEqual(['container runtime status check may not have completed yet']);
  expect(state.networkError).toBe('network state unknown');
});

test.each<[string, readonly Condition[], readonly string[], string | undefined]>([
  ['all is ready', READY, [], undefined],
  [
    'the network is not ready',
    [
      ['RuntimeReady', true],
      ['NetworkReady', false],
    ],
    [],
    'container runtime network not ready: NetworkReady=false reason:R message:why',
  ],
  [
    'the runtime is not ready',
    [
      ['RuntimeReady', false],
      ['NetworkReady', true],
    ],
    ['container runtime status check may not have completed yet'],
    undefined,
  ],
  [
    'it says nothing of the network',
    [['RuntimeReady', true]],
    [],
    'container runtime network not ready: NetworkReady=<nil> reason: message:',
  ],
])('when %s', async (_, conditions, errors, networkError) => {
  const {state} = aRuntime(conditions);
  await state.check(signal);
  expect(state.errors()).toEqual(errors);
  expect(state.networkError).toBe(networkError);
});

test('a runtime that was ready and is not any more says why', async () => {
  const {state, answer} = aRuntime();
  await state.check(signal);
  answer.is = [
    ['RuntimeReady', false],
    ['NetworkReady', true],
  ];
  await state.check(signal);
  expect(state.errors()).toEqual(['container runtime not ready: RuntimeReady=false reason:R message:why']);
});

test('a runtime that does not answer is down after thirty seconds, and told of with what it failed with', async () => {
  const {state, clock, answer} = aRuntime();
  await state.check(signal);
  answer.is = new Error('connection refused');
  await clock.advance(30_000);
  await state.check(signal);
  expect(state.errors()).toEqual([]);
  await clock.advance(1);
  expect(state.errors()).toEqual(['container runtime is down: connection refused']);
  answer.is = READY;
  await state.check(signal);
  expect(state.errors()).toEqual([]);
});

test('a clock that is put back makes no runtime seem well for ever', async () => {
  const {state, clock, answer} = aRuntime();
  await state.check(signal);
  answer.is = new Error('gone');
  clock.jump(-86_400_000);
  expect(state.errors()).toEqual([]);
  await clock.advance(30_001);
  expect(state.errors()).toHaveLength(1);
});

test('the runtime is asked each five seconds until the end', async () => {
  const {state, clock} = aRuntime();
  const stop = new AbortController();
  let checks = 0;
  const ended = state.run(stop.signal, () => {
    checks += 1;
  });
  await clock.advance(0);
  for (let time = 0; time < 3; time += 1) await clock.advance(5000);
  expect(checks).toBe(4);
  stop.abort();
  await ended;
});
