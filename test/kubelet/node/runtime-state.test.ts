import {expect, test} from 'vitest';
import {BackgroundWork, type BackgroundError} from '../../../src/base/async/background-work.js';
import {SystemError} from '../../../src/base/errors.js';
import {RuntimeState} from '../../../src/kubelet/node/runtime-state.js';
import {FakeClock} from '../../fakes/fake-clock.js';

type Condition = readonly [type: string, status: boolean];

const signal = new AbortController().signal;
const READY: readonly Condition[] = [
  ['RuntimeReady', true],
  ['NetworkReady', true],
];

/** Creates the state of a runtime whose conditions the test sets. */
function aRuntime(first: readonly Condition[] | Error = READY) {
  const clock = new FakeClock();
  const response: {is: readonly Condition[] | Error; handlers: readonly string[]} = {is: first, handlers: []};
  const state = new RuntimeState(
    {
      status: async () => {
        if (response.is instanceof Error) throw response.is;
        const conditions = response.is.map(([type, status]) => ({type, status, reason: 'R', message: 'why'}));
        const runtimeHandlers = response.handlers.map((name) => ({name}));
        return {status: {conditions}, info: {}, runtimeHandlers};
      },
    },
    clock,
  );
  return {state, clock, response};
}

test('the state is an error before the first check', () => {
  const {state} = aRuntime();
  expect(state.errors()).toEqual(['container runtime status check may not have completed yet']);
  expect(state.networkError).toBe('network state unknown');
});

test.each<[string, readonly Condition[], readonly string[], string | undefined]>([
  ['everything is ready', READY, [], undefined],
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
    'the network condition is missing',
    [['RuntimeReady', true]],
    [],
    'container runtime network not ready: NetworkReady=<nil> reason: message:',
  ],
])('errors when %s', async (_, conditions, errors, networkError) => {
  const {state} = aRuntime(conditions);
  await state.check(signal);
  expect(state.errors()).toEqual(errors);
  expect(state.networkError).toBe(networkError);
});

test('a runtime that is no longer ready is an error with its reason', async () => {
  const {state, response} = aRuntime();
  await state.check(signal);
  response.is = [
    ['RuntimeReady', false],
    ['NetworkReady', true],
  ];
  await state.check(signal);
  expect(state.errors()).toEqual(['container runtime not ready: RuntimeReady=false reason:R message:why']);
});

test('a runtime that does not respond is down after 30 s, with the error of the last check', async () => {
  const {state, clock, response} = aRuntime();
  await state.check(signal);
  response.is = new SystemError('connection refused');
  await clock.advance(30_000);
  await state.check(signal);
  expect(state.errors()).toEqual([]);
  await clock.advance(1);
  expect(state.errors()).toEqual(['container runtime is down: connection refused']);
  response.is = READY;
  await state.check(signal);
  expect(state.errors()).toEqual([]);
});

test('a clock that is set back does not hide that the runtime is down', async () => {
  const {state, clock, response} = aRuntime();
  await state.check(signal);
  response.is = new SystemError('gone');
  clock.jump(-86_400_000);
  expect(state.errors()).toEqual([]);
  await clock.advance(30_001);
  expect(state.errors()).toHaveLength(1);
});

/** Runs the checks while `steps` advance the clock, in ms; resolves with the number of checks after each step. */
async function countChecks(
  {state, clock}: ReturnType<typeof aRuntime>,
  steps: readonly number[],
  onChecked: (checks: number) => void = () => undefined,
  reported: BackgroundError[] = [],
): Promise<readonly number[]> {
  const stop = new AbortController();
  let checks = 0;
  const ended = state.run(stop.signal, {
    onChecked: () => {
      checks += 1;
      onChecked(checks);
    },
    background: new BackgroundWork((error) => {
      reported.push(error);
    }),
  });
  const counts: number[] = [];
  for (const ms of [0, ...steps]) {
    await clock.advance(ms);
    counts.push(checks);
  }
  stop.abort();
  await ended;
  return counts;
}

test('the runtime is checked every five seconds until aborted', async () => {
  expect(await countChecks(aRuntime(), [5000, 5000, 5000])).toEqual([1, 2, 3, 4]);
});

const NETWORK_NOT_READY: readonly Condition[] = [
  ['RuntimeReady', true],
  ['NetworkReady', false],
];

test('a runtime that starts is checked every 100 ms until it and its network are ready once', async () => {
  const runtime = aRuntime(NETWORK_NOT_READY);
  const counts = await countChecks(runtime, [100, 100, 100, 4800, 100, 100], (checks) => {
    runtime.response.is = checks === 2 ? READY : NETWORK_NOT_READY;
  });
  expect(counts).toEqual([1, 2, 3, 3, 3, 4, 4]);
});

test('a runtime that is not ready two minutes after the start is checked every five seconds', async () => {
  const runtime = aRuntime(new SystemError('connection refused'));
  const counts = await countChecks(runtime, [100, 120_000, 4900, 100]);
  expect(counts).toEqual([1, 2, 3, 3, 4]);
});

test('the features of the runtime are those of the last check in which it was ready, sorted by handler', async () => {
  const {state, response} = aRuntime();
  expect(state.features).toBeUndefined();
  response.handlers = ['runc', '', 'kata'];
  await state.check(signal);
  expect([...(state.features?.handlers.keys() ?? [])]).toEqual(['', 'kata', 'runc']);
  expect(state.features?.supplementalGroupsPolicy).toBeUndefined();
  Object.assign(response, {is: [['RuntimeReady', false]], handlers: []});
  await state.check(signal);
  expect(state.features?.handlers.size).toBe(3);
});

test('a programming error in a check is reported, checks continue, and it is not a state of the runtime', async () => {
  const runtime = aRuntime(READY);
  const bug = new TypeError('a bug');
  const reported: BackgroundError[] = [];
  const onChecked = (): void => {
    runtime.response.is = bug;
  };
  expect(await countChecks(runtime, [5000, 5000], onChecked, reported)).toEqual([1, 2, 3]);
  expect(reported.map(({part, cause}) => [part, cause])).toEqual([
    ['runtime check', bug],
    ['runtime check', bug],
  ]);
  await runtime.clock.advance(30_000);
  expect(runtime.state.errors()).toEqual(['container runtime is down']);
});
