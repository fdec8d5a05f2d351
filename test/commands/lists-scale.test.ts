import {expect, test} from 'vitest';
import {connect} from '../../src/cri/index.js';
import {resolveContainers} from '../../src/operations/resolve.js';
import {runKcri} from '../cli/run-kcri.js';
import {FakeRuntime} from '../fakes/fake-runtime.js';

const TOO_LONG = {code: 'RESOURCE_EXHAUSTED', message: 'larger than max'} as const;
const COUNT = 10_000;
const POD_NAME = 'io.kubernetes.pod.name';

/** The heap that is in use when everything that can be dropped is. */
function usedMb(): number {
  return process.memoryUsage().heapUsed / 2 ** 20;
}

test.each([
  ['at once', []],
  ['in pages', ['ListContainers', 'ListPodSandbox', 'ListImages'] as const],
])(
  '10,000 containers, pods and images come %s in seconds',
  async (_, tooLong) => {
    await using runtime = await FakeRuntime.start();
    runtime.fill({containers: COUNT, pods: COUNT, images: COUNT});
    for (const rpc of tooLong) runtime.injectError(rpc, TOO_LONG);
    const before = usedMb();
    for (const args of [
      ['ps', '-a', '--sort', 'name'],
      ['pods', '--sort', 'name'],
      ['images', '--no-trunc'],
    ]) {
      const {stdout, exitCode} = await runKcri(args, {endpoint: runtime.endpoint});
      expect(exitCode).toBe(0);
      expect(stdout.split('\n').filter(Boolean).length).toBeGreaterThan(COUNT);
    }
    expect(usedMb() - before).toBeLessThan(400);
  },
  30_000,
);

test('10,000 names are looked up among 10,000 containers in seconds, with one call', async () => {
  await using runtime = await FakeRuntime.start();
  runtime.fill({containers: COUNT, pods: COUNT});
  using cri = connect(runtime.endpoint);
  const names = runtime.containers.map(({config}) => `${config.labels[POD_NAME] ?? ''}/container-00000`);
  const targets = await resolveContainers(cri.runtime, names, {signal: new AbortController().signal});
  expect(targets.map((target) => target.kind === 'found' && target.id)).toEqual(
    runtime.containers.map(({id}) => id),
  );
  expect(runtime.calls).toHaveLength(1);
}, 30_000);
