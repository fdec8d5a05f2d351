import {execFile} from 'node:child_process';
import {promisify} from 'node:util';
import {expect, test} from 'vitest';
import {connect} from '../../../src/cri/index.js';
import {resolveContainers} from '../../../src/operations/resolve/resolve-names.js';
import {runKcri} from '../../cli/run-kcri.js';
import {aContainer, FakeRuntime} from '../../fakes/fake-runtime.js';
import {KCRI_COMMAND} from '../../kcri-command.js';

const TOO_LONG = {code: 'RESOURCE_EXHAUSTED', message: 'larger than max'} as const;
const COUNT = 10_000;
const POD_NAME = 'io.kubernetes.pod.name';

/** Returns the used heap after garbage collection. */
function usedMb(): number {
  return process.memoryUsage().heapUsed / 2 ** 20;
}

test.each([
  ['at once', []],
  ['in pages', ['ListContainers', 'ListPodSandbox', 'ListImages'] as const],
])('10,000 containers, pods and images are listed %s in seconds', async (_, tooLong) => {
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
});

test('10,000 names are resolved among 10,000 containers in seconds, with one call', async () => {
  await using runtime = await FakeRuntime.start();
  runtime.fill({containers: COUNT, pods: COUNT});
  using cri = connect(runtime.endpoint);
  const names = runtime.containers.map(({config}) => `${config.labels[POD_NAME] ?? ''}/container-00000`);
  const targets = await resolveContainers(cri.runtime, names, {signal: new AbortController().signal});
  expect(targets.map((target) => target.kind === 'found' && target.id)).toEqual(
    runtime.containers.map(({id}) => id),
  );
  expect(runtime.calls).toHaveLength(1);
});

test('300,000 containers, too many for one message, are read in pages, each once and newest first', async () => {
  await using runtime = await FakeRuntime.start();
  runtime.fill({containers: 300_000, pods: 100});
  runtime.injectError('ListContainers', TOO_LONG);
  const {stdout, exitCode} = await runKcri(['ps', '-a', '--no-trunc'], {endpoint: runtime.endpoint});
  const ids = stdout.split('\n').slice(1, -1);
  expect(exitCode).toBe(0);
  const expected = runtime.containers.map(({id}) => id).toReversed();
  // Comparing the arrays themselves would take minutes to describe a difference.
  expect(ids.map((line) => line.slice(0, 64)).join() === expected.join()).toBe(true);
  expect(runtime.calls.map(({method}) => method)).toEqual(['ListContainers', 'StreamContainers']);
});

test.each([
  ['slowly is printed completely', '(sleep 1; wc -l)', String(COUNT + 1)],
  ['for one line only ends without an error', 'grep -m 1 -c NAMESPACE', '1'],
])('a long list that is read %s', async (_, reader, read) => {
  await using runtime = await FakeRuntime.start();
  runtime.fill({pods: COUNT});
  const line = `"$@" pods | ${reader}; echo "code \${PIPESTATUS[0]}"`;
  const env = {PATH: process.env['PATH'], CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint};
  const {stdout, stderr} = await promisify(execFile)(
    'bash',
    ['--norc', '-c', line, 'bash', ...KCRI_COMMAND],
    {env},
  );
  expect({stdout, stderr}).toEqual({stdout: `${read}\ncode 0\n`, stderr: ''});
});

test('500 containers are inspected concurrently, up to a limit, and printed in order', async () => {
  await using runtime = await FakeRuntime.start();
  runtime.fill({containers: 500, pods: 1});
  const running: number[] = [];
  const match = (): boolean => running.push(runtime.calls.filter(({code}) => code === undefined).length) > 0;
  runtime.injectDelay('ContainerStatus', 1, {match});
  const [removed, ...ids] = runtime.containers.map(({id}) => id).toReversed();
  runtime.state.containers.delete(removed!);
  const {stdout, stderr, exitCode} = await runKcri(
    ['inspect', ...ids.slice(0, 9), removed!, ...ids.slice(9)],
    {
      endpoint: runtime.endpoint,
    },
  );
  expect((JSON.parse(stdout) as {status: {id: string}}[]).map(({status}) => status.id)).toEqual(ids);
  expect(stderr).toContain(`no such container "${removed!}"`);
  expect(exitCode).toBe(1);
  expect(Math.max(...running)).toBe(8);
});

test('a table requests only the fields it shows', async () => {
  await using runtime = await FakeRuntime.start({
    containers: [aContainer({annotations: {note: 'n'}, labels: {app: 'web'}})],
  });
  const shown = async (...args: string[]) =>
    (await runKcri(['ps', ...args], {endpoint: runtime.endpoint})).stdout;
  expect(await shown('--label', 'app=web', '-q')).toMatch(/^[0-9a-f]{64}\n$/);
  expect(await shown('--image', 'busybox')).toMatch(/^CONTAINER /);
  expect(await shown('-v')).toMatch(/note -> n/);
  expect(JSON.parse(await shown('-o', 'json'))).toMatchObject({
    containers: [{annotations: {note: 'n'}, imageId: expect.stringMatching(/^sha256:/) as string}],
  });
});
