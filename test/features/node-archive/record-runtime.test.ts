import {expect, test} from 'vitest';
import {systemClock, type Clock} from '../../../src/base/clock.js';
import {RUNTIME_ID} from '../../../src/cli/archive/recorded-runtime.js';
import type {RuntimeContext} from '../../../src/cli/command/contexts.js';
import {connect} from '../../../src/cri/index.js';
import {recordRuntime, type RuntimeRecord} from '../../../src/features/node-archive/record-runtime.js';
import {aContainer, anImage, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';

/** Records a runtime with two containers and two images; `calls` gets the names of the calls. */
async function record(
  maxInfoBytes: number,
  {clock = systemClock, calls = []}: {readonly clock?: Clock; readonly calls?: string[]} = {},
): Promise<RuntimeRecord> {
  const sandbox = aSandbox({name: 'web'});
  await using runtime = await FakeRuntime.start({
    sandboxes: [sandbox],
    containers: [aContainer({sandbox, name: 'main'}), aContainer({sandbox, name: 'side'})],
    images: [anImage({name: 'a:1'}), anImage({name: 'b:1'})],
  });
  using connection = connect(runtime.endpoint);
  const services = {
    connections: {default: async () => await Promise.resolve(connection)},
    context: {clock},
    signal: new AbortController().signal,
  } as unknown as RuntimeContext;
  const recorded = await recordRuntime(services, maxInfoBytes);
  calls.push(...runtime.calls.map(({method}) => method));
  return recorded;
}

const infosOf = ({details}: RuntimeRecord) => [
  ...Object.values(details.sandboxes),
  ...Object.values(details.containers),
];

test('verbose information is recorded up to a size, and statistics twice', async () => {
  const all = await record(1_000_000);
  expect(infosOf(all)).toHaveLength(3);
  expect([all.withoutDetails, all.imagesNotAsked]).toEqual([0, 0]);
  for (const answers of [all.recording.before, all.recording.answers])
    for (const rpc of ['ListContainerStats', 'ListPodSandboxStats'] as const)
      expect(answers[rpc]).toHaveProperty('stats');
  const sizes = [...infosOf(all), ...Object.values(all.details.runtime ?? {})].map(
    (info) => JSON.stringify(info).length,
  );
  const calls: string[] = [];
  const some = await record(sizes.reduce((sum, size) => sum + size, 0) - 1, {calls});
  expect(infosOf(some)).toHaveLength(2);
  expect(some.recording.containers).toHaveLength(2);
  // The images are not even asked: what they have would not fit.
  expect([some.withoutDetails, calls.filter((each) => each === 'ImageStatus')]).toEqual([3, []]);
});

test('the status of the runtime is asked for once', async () => {
  const calls: string[] = [];
  const {recording, details} = await record(1_000_000, {calls});
  expect(calls.filter((each) => each === 'Status')).toHaveLength(1);
  expect(recording.answers.Status).toHaveProperty('status');
  expect(recording.answers.Status).not.toHaveProperty('info');
  expect(Object.keys(details.runtime ?? {})).toEqual([RUNTIME_ID]);
});

test('images are asked for their details only while there is time', async () => {
  let nowMs = 0;
  const clock = {...systemClock, monotonic: () => (nowMs += 1500)};
  const {details, imagesNotAsked, withoutDetails} = await record(1_000_000, {clock});
  expect([Object.keys(details.images ?? {}).length, imagesNotAsked, withoutDetails]).toEqual([1, 1, 0]);
});
