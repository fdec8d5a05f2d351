import {expect, test} from 'vitest';
import {runKcri} from '../cli/run-kcri.js';
import {aContainer, aSandbox, FakeRuntime} from '../fakes/fake-runtime.js';
import {expectUserError} from './command-testbed.js';

// Proves: cp --archive
test.each([
  [[], 'cp requires exactly two paths'],
  [['main:/x'], 'cp requires exactly two paths'],
  [['main:/x', 'y', 'z'], 'cp requires exactly two paths'],
  [['a', 'b'], 'one of the paths must be in a container'],
  [['-', 'b'], 'one of the paths must be in a container'],
  [['./a:b', '/c:d'], 'one of the paths must be in a container'],
  [['', 'main:/x'], 'the path must not be empty'],
  [[':/x', 'y'], 'the path ":/x" has no container before the colon'],
  [['main:', 'y'], 'the path "main:" is incomplete'],
  [['-a', '--no-preserve', 'main:/x', 'y'], '--archive and --no-preserve are mutually exclusive'],
  [['main:/x', 'other:/y', '-c', 'z'], '--container cannot be used with two containers'],
])('a command line that cannot be meant is rejected before any call: cp %j', async (args, message) => {
  await using runtime = await FakeRuntime.start({containers: [aContainer()]});
  const result = await runKcri(['cp', ...args], {endpoint: runtime.endpoint});
  expectUserError(result);
  expect(result.stderr).toContain(`kcri: ${message}`);
  expect({exitCode: result.exitCode, calls: runtime.calls.length}).toEqual({exitCode: 1, calls: 0});
});

test('an archive is not written to a terminal', async () => {
  await using runtime = await FakeRuntime.start({containers: [aContainer()]});
  const {stderr} = await runKcri(['cp', 'main:/x', '-'], {endpoint: runtime.endpoint, terminal: true});
  expect(stderr).toContain('cannot write an archive to a terminal');
});

test('a container is named as in other commands, and must exist', async () => {
  const web = aSandbox({name: 'web'});
  await using runtime = await FakeRuntime.start({
    sandboxes: [web],
    containers: [aContainer({sandbox: web, name: 'main'}), aContainer({sandbox: web, name: 'proxy'})],
  });
  const run = async (...args: readonly string[]) =>
    (await runKcri(['cp', ...args], {endpoint: runtime.endpoint})).stderr;
  expect(await run('mian:/x', '.')).toMatch(/"mian".*\nhint: did you mean "main"/);
  // The fake runs no processes.
  for (const args of [
    ['web/proxy:/x', '.'],
    ['.', 'web:/x', '-c', 'proxy'],
    ['web:/x', '.'],
  ])
    expect(await run(...args)).toContain('not visible');
});

// Proves: cp --container, diff --container
test.each([
  ['cp', 'web:/x', '.'],
  ['diff', 'web'],
])('--container names a container of the pod: %s', async (...args) => {
  const web = aSandbox({name: 'web'});
  const containers = ['main', 'proxy'].map((name) => aContainer({sandbox: web, name}));
  await using runtime = await FakeRuntime.start({sandboxes: [web], containers});
  const {stderr, exitCode} = await runKcri([...args, '--container', 'poxy'], {endpoint: runtime.endpoint});
  expect(stderr).toMatch(/"?poxy"?.*\nhint: .*proxy/);
  expect(exitCode).toBe(1);
});

// Proves: diff --output
test('diff requires a container, and knows its output formats', async () => {
  await using runtime = await FakeRuntime.start({containers: [aContainer()]});
  const {endpoint} = runtime;
  expect((await runKcri(['diff'], {endpoint})).stderr).toContain('specify a container or a pod');
  expect((await runKcri(['diff', 'main', '-o', 'xml'], {endpoint})).stderr).toContain(
    'unsupported output format',
  );
  expect((await runKcri(['diff', 'mian'], {endpoint})).stderr).toContain('did you mean "main"');
});

test('a container that does not run, of a runtime that does not tell where its files are, is an error', async () => {
  const container = aContainer({state: 'CONTAINER_EXITED'});
  await using runtime = await FakeRuntime.start({containers: [container]});
  for (const args of [
    ['cp', 'main:/x', '.'],
    ['diff', 'main'],
  ]) {
    const result = await runKcri(args, {endpoint: runtime.endpoint});
    expectUserError(result);
    expect(result.stderr).toContain('kcri: the container "main" does not run\nhint: start it');
  }
});
