import {expect, test} from 'vitest';
import {recordingTimelines} from '../../../src/features/timeline/recording-timelines.js';
import type {JsonObject} from '../../../src/format/json.js';

/** A call: method, its start and end in seconds, its request and response, and further members. */
type Call = readonly [
  method: string,
  from: number,
  to: number,
  request: JsonObject,
  response?: JsonObject,
  more?: JsonObject,
];

const METADATA = {name: 'web', namespace: 'team', uid: 'u1'};
const SANDBOX: Call = ['RunPodSandbox', 0, 1, {config: {metadata: METADATA}}, {podSandboxId: 's1'}];

const create = (at: number, id: string, name: string, podSandboxId = 's1'): Call => [
  ...(['CreateContainer', at, at + 0.1] as const),
  {podSandboxId, config: {metadata: {name}}, sandboxConfig: {metadata: METADATA}},
  {containerId: id},
];
const start = (at: number, id: string): Call => ['StartContainer', at, at + 0.1, {containerId: id}, {}];
/** The creation and the start of a container, which runs from 0.3 s later on. */
const run = (at: number, id: string, name = id): readonly Call[] => [
  create(at, id, name),
  start(at + 0.2, id),
];
const status = (at: number, id: string, finished: number, exitCode?: number): Call => [
  ...(['ContainerStatus', at, at + 0.01, {containerId: id}] as const),
  {
    status: {
      ...{id, metadata: {name: id}, state: 'CONTAINER_EXITED', finishedAt: String(finished * 1e9)},
      ...(exitCode !== undefined && {exitCode}),
    },
  },
];
const listed = (at: number, id: string, state: string): Call => [
  ...(['ListContainers', at, at + 0.01, {}] as const),
  {containers: [{id, podSandboxId: 's1', metadata: {name: id}, state: `CONTAINER_${state}`}]},
];

function lineOf([method, from, to, request, response = {}, more = {}]: Call): JsonObject {
  return {
    ...{time: new Date(from * 1000).toISOString(), durationMs: (to - from) * 1000, code: 'OK', method},
    ...{service: 'runtime.v1.RuntimeService', request, response, ...more},
  };
}

async function* linesOf(calls: readonly Call[], more: readonly JsonObject[]): AsyncGenerator<JsonObject> {
  for (const call of calls) yield await Promise.resolve(lineOf(call));
  yield* more;
}

/** Returns how long containers ran, as `NAME SUBJECT FROM-TO`, by the pod; `~` is inferred, `!` has failed. */
async function livesOf(
  calls: readonly Call[],
  messages: readonly JsonObject[] = [],
): Promise<readonly (readonly string[])[]> {
  const {timelines} = await recordingTimelines(linesOf(calls, messages));
  const shown = new Set(['running', 'init', 'back-off']);
  return timelines.map(({phases}) =>
    phases
      .filter(({name}) => shown.has(name))
      .map(({name, subject = '', startMs, endMs, inferred, isFailed}) => {
        const until = endMs === undefined ? '…' : String(Math.round(endMs) / 1000);
        const marks = `${inferred === undefined ? '' : '~'}${isFailed === true ? '!' : ''}`;
        return `${name} ${subject} ${startMs / 1000}-${until}${marks}`;
      }),
  );
}

test.each<readonly [string, readonly Call[], readonly string[]]>([
  ['nothing', [...run(2, 'a'), listed(9, 'a', 'RUNNING')], ['running a 2.3-…']],
  ['its status', [...run(2, 'a'), status(9, 'a', 5)], ['running a 2.3-5']],
  ['its status with an exit code', [...run(2, 'a'), status(9, 'a', 5, 3)], ['running a 2.3-5!']],
  ['a list', [...run(2, 'a'), listed(7, 'a', 'EXITED'), listed(9, 'a', 'EXITED')], ['running a 2.3-7.01~']],
  [
    'a stop before a list',
    [...run(2, 'a'), ['StopContainer', 5, 6, {containerId: 'a'}], listed(9, 'a', 'EXITED')],
    ['running a 2.3-6'],
  ],
  ['its removal', [...run(2, 'a'), ['RemoveContainer', 8, 9, {containerId: 'a'}]], ['running a 2.3-8~']],
  [
    'the stop of its sandbox',
    [...run(2, 'a'), ['StopPodSandbox', 8, 9, {podSandboxId: 's1'}]],
    ['running a 2.3-9~'],
  ],
  [
    'the removal of its sandbox',
    [...run(2, 'a'), ['RemovePodSandbox', 8, 9, {podSandboxId: 's1'}]],
    ['running a 2.3-8~'],
  ],
  [
    'no call that failed',
    [
      ...run(2, 'a'),
      ['StopContainer', 5, 6, {containerId: 'a'}, {}, {code: 'DEADLINE_EXCEEDED'}],
      ['RemoveContainer', 8, 9, {containerId: 'a'}, {}, {code: 'UNKNOWN'}],
    ],
    ['running a 2.3-…'],
  ],
  [
    'the status of its sandbox',
    [
      ...run(2, 'a'),
      [
        ...(['PodSandboxStatus', 8, 9, {podSandboxId: 's1'}] as const),
        {containersStatuses: [{id: 'a', state: 'CONTAINER_EXITED', finishedAt: '4000000000'}]},
      ],
    ],
    ['running a 2.3-4'],
  ],
  ['its next instance', [...run(2, 'a'), ...run(6, 'b', 'a')], ['running a 2.3-6~', 'running a 6.3-…']],
])('the end of a container follows from %s', async (_, calls, expected) => {
  expect(await livesOf([SANDBOX, ...calls])).toEqual([expected]);
});

test('an event has the end of a container, and its statuses the exit code', async () => {
  const message = {
    ...{containerId: 'a', containerEventType: 'CONTAINER_STOPPED_EVENT'},
    containersStatuses: [{id: 'a', state: 'CONTAINER_EXITED', finishedAt: '4900000000', exitCode: 1}],
  };
  const line = {time: '1970-01-01T00:00:05.000000Z', call: 1, method: 'GetContainerEvents', message};
  expect(await livesOf([SANDBOX, ...run(2, 'a')], [line])).toEqual([['running a 2.3-5!']]);
});

test('a restart after a wait has a back-off', async () => {
  const calls = [SANDBOX, ...run(2, 'a'), status(4, 'a', 3, 1), ...run(13, 'b', 'a')];
  expect(await livesOf(calls)).toEqual([['running a 2.3-3!', 'back-off a 3-13~', 'running a 13.3-…']]);
});

test('a container for whose success the client has waited is an init container, and a sidecar is none', async () => {
  const calls = [
    ...[SANDBOX, ...run(2, 'setup'), status(4, 'setup', 3.5)],
    ['PullImage', 5, 6, {image: {image: 'nginx'}, sandboxConfig: {metadata: METADATA}}, {}] as const,
    ...[...run(6, 'sidecar'), ...run(7, 'main'), status(20, 'main', 19), ...run(21, 'second', 'main')],
  ];
  expect(await livesOf(calls)).toEqual([
    [
      'init setup 2.3-3.5',
      'running sidecar 6.3-…',
      'running main 7.3-19',
      'back-off main 19-21~',
      'running main 21.3-…',
    ],
  ]);
});

test('all instances of an init container that failed at first are its', async () => {
  const calls = [
    ...[SANDBOX, ...run(2, 'a', 'setup'), status(4, 'a', 3.5, 1), ...run(4, 'b', 'setup'), status(6, 'b', 5)],
    ...run(7, 'main'),
  ];
  expect(await livesOf(calls)).toEqual([['init setup 2.3-3.5!', 'init setup 4.3-5', 'running main 7.3-…']]);
});

test.each<readonly [string, readonly Call[]]>([
  ['only afterwards', [...run(3, 'main'), status(9, 'setup', 2.5)]],
  [
    'after the next pull had begun',
    [
      ['PullImage', 2.4, 8, {image: {image: 'nginx'}, sandboxConfig: {metadata: METADATA}}, {}],
      status(5, 'setup', 4),
      ...run(8, 'main'),
    ],
  ],
  ['as a failure', [status(4, 'setup', 3, 1), ...run(5, 'main')]],
])('a container whose end the client knew %s is no init container', async (_, calls) => {
  const [lives = []] = await livesOf([SANDBOX, ...run(2, 'setup'), ...calls]);
  expect(lives[0]).toMatch(/^running setup /);
});

test('containers end with their sandbox when the pod gets another one', async () => {
  const second: Call = ['RunPodSandbox', 8, 9, {config: {metadata: METADATA}}, {podSandboxId: 's2'}];
  const calls = [SANDBOX, ...run(2, 'a'), second, create(9, 'b', 'a', 's2'), start(9.2, 'b')];
  expect(await livesOf(calls)).toEqual([['running a 2.3-8~', 'running a 9.3-…']]);
});

test('a pod that is deleted and created again with its name is another one', async () => {
  const again = {...METADATA, uid: 'u2'};
  const calls: readonly Call[] = [
    ...[SANDBOX, ...run(2, 'a')],
    ['RunPodSandbox', 8, 9, {config: {metadata: again}}, {podSandboxId: 's2'}],
    ...[create(9, 'b', 'a', 's2'), start(9.2, 'b')],
    ['StopPodSandbox', 10, 11, {podSandboxId: 's1'}],
  ];
  expect(await livesOf(calls)).toEqual([['running a 2.3-11~'], ['running a 9.3-…']]);
});
