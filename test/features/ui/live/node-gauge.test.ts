import {expect, onTestFinished, test} from 'vitest';
import type {CommandContext} from '../../../../src/cli/command/contexts.js';
import {NodeGauge} from '../../../../src/features/ui/live/node-gauge.js';
import {UiSampler} from '../../../../src/features/ui/live/ui-sampler.js';
import type {NodeSample} from '../../../../src/features/top/metrics/top-node.js';
import type {TopNodes} from '../../../../src/features/top/metrics/top-nodes.js';
import {until} from '../../../base/until.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

/** Services of this machine with a runtime that answers when it is not slow. */
function aNode() {
  const clock = new FakeClock();
  const stop = new AbortController();
  onTestFinished(() => {
    stop.abort(new Error('over'));
  });
  const node = {isSlow: false};
  const answer = async <T>(value: T): Promise<T> =>
    await (node.isSlow ? new Promise<never>(() => undefined) : Promise.resolve(value));
  const connection = {
    runtime: {version: async () => await answer({runtimeName: 'fake', runtimeVersion: '1'})},
    images: {imageFsInfo: async () => await answer({imageFilesystems: []})},
  };
  const services = {
    context: {clock},
    signal: stop.signal,
    settings: {rootDir: '/var/lib/kcri'},
    connections: {remote: undefined, default: async () => await Promise.resolve(connection)},
  } as unknown as CommandContext;
  return {clock, node, services};
}

test('a measurement has its time, which stays with it while the node is slow', async () => {
  const {clock, node, services} = aNode();
  let measured = 0;
  const gauge = new NodeGauge(services, () => (measured += 1));
  expect(gauge.latest).toEqual({});
  gauge.start();
  await until(() => measured === 1);
  const first = gauge.latest;
  expect(first).toMatchObject({runtime: 'fake 1', measuredMs: clock.now()});
  clock.elapse(30_000); // file systems are read again
  node.isSlow = true;
  gauge.start();
  gauge.start();
  await until(() => clock.sleeping === 1);
  expect(gauge.latest).toBe(first);
  clock.elapse(5000); // longest time of a measurement
  await until(() => clock.sleeping === 0);
  node.isSlow = false;
  clock.elapse(30_000);
  await until(() => {
    gauge.start();
    return measured === 2;
  });
  expect(gauge.latest.measuredMs).toBe(clock.now());
});

test('a slow node delays no sample, and its part changes when it is measured', async () => {
  const [fast, slow] = [aNode(), aNode()];
  slow.node.isSlow = true;
  const sampleOf = (node: string, {services}: ReturnType<typeof aNode>) =>
    ({
      node,
      services,
      shown: [],
      pods: [],
      usage: new Map(),
      exclusiveCpus: new Map(),
      isStale: false,
    }) as unknown as NodeSample;
  const nodes = {
    names: ['fast', 'slow'],
    sample: async () =>
      await Promise.resolve({
        samples: [sampleOf('fast', fast), sampleOf('slow', slow)],
        failures: [],
        nowMs: fast.clock.now(),
      }),
  } as unknown as TopNodes;
  const sampler = new UiSampler(fast.services, nodes);
  let measured = 0;
  sampler.watch(() => (measured += 1));
  const snapshot = await sampler.sample();
  const runtimes = () => snapshot.nodes.map(({name, runtime}) => [name, runtime]);
  await until(() => measured === 1);
  expect(runtimes()).toEqual([
    ['fast', 'fake 1'],
    ['slow', undefined],
  ]);
});
