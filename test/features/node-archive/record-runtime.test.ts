import {expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import type {RuntimeContext} from '../../../src/cli/command/contexts.js';
import {connect} from '../../../src/cri/index.js';
import {recordRuntime, type RuntimeRecord} from '../../../src/features/node-archive/record-runtime.js';
import {aContainer, aSandbox, FakeRuntime} from '../../fakes/fake-runtime.js';

/** Records a runtime with two containers. */
async function record(maxInfoBytes: number): Promise<RuntimeRecord> {
  const sandbox = aSandbox({name: 'web'});
  await using runtime = await FakeRuntime.start({
    sandboxes: [sandbox],
    containers: [aContainer({sandbox, name: 'main'}), aContainer({sandbox, name: 'side'})],
  });
  using connection = connect(runtime.endpoint);
  const services = {
    connections: {default: async () => await Promise.resolve(connection)},
    context: {clock: systemClock},
    signal: new AbortController().signal,
  } as unknown as RuntimeContext;
  return await recordRuntime(services, maxInfoBytes);
}

const infosOf = ({details}: RuntimeRecord) => [
  ...Object.values(details.sandboxes),
  ...Object.values(details.containers),
];

test('verbose information is recorded up to a size, and statistics twice', async () => {
  const all = await record(1_000_000);
  expect(infosOf(all)).toHaveLength(3);
  expect(all.withoutDetails).toBe(0);
  for (const answers of [all.recording.before, all.recording.answers])
    for (const rpc of ['ListContainerStats', 'ListPodSandboxStats'] as const)
      expect(answers[rpc]).toHaveProperty('stats');
  const sizes = infosOf(all).map((info) => JSON.stringify(info).length);
  const some = await record(sizes.reduce((sum, size) => sum + size, 0) - 1);
  expect(infosOf(some)).toHaveLength(2);
  expect(some.withoutDetails).toBe(1);
  expect(some.recording.containers).toHaveLength(2);
});
