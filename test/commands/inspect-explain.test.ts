import {describe, expect, test} from 'vitest';
import {runKcri, type RunResult} from '../cli/run-kcri.js';
import {aContainer, aSandbox} from '../fakes/fake-runtime.js';
import {aContainerSpec, aManifest, createTestbed, type CommandTestbed} from './command-testbed.js';

const SHARES = '    linux.resources.cpu_shares: 51  # resources.requests.cpu 50m';
const resources = {requests: {cpu: '50m', memory: '32Mi'}};

async function createWeb(): Promise<CommandTestbed> {
  const testbed = await createTestbed();
  const containers = [aContainerSpec('main', {resources}), aContainerSpec('side')];
  await testbed.run(['sync', '-'], {stdin: aManifest({containers})});
  return testbed;
}

const run = async ({rootDir, runtime}: CommandTestbed, ...words: readonly string[]): Promise<RunResult> =>
  await runKcri(['--root-dir', rootDir, ...words], {endpoint: runtime.endpoint});

interface ExplainedPod {
  readonly name: string;
  readonly configs: readonly {readonly target: string; readonly explanations: readonly object[]}[];
}

// Proves: inspect --explain
describe('inspect --explain', () => {
  test('shows where each value of one container comes from', async () => {
    const {stdout, stderr, exitCode} = await run(await createWeb(), 'inspect', '--explain', 'web/main');
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^pod default\/web \(uid \S+\)$/);
    expect(lines.filter((line) => /^  \S/.test(line))).toEqual(['  container "main":']);
    expect(lines).toContain(SHARES);
    expect(stdout).not.toContain('unknown');
  });

  test('has the explanations as data', async () => {
    const testbed = await createWeb();
    const {stdout} = await run(testbed, 'inspect', '--explain', '-o', 'json', 'web/main', 'web/side');
    const pods = JSON.parse(stdout) as readonly ExplainedPod[];
    expect(pods.map(({configs}) => configs.map(({target}) => target))).toEqual([
      ['container "main"'],
      ['container "side"'],
    ]);
    expect(pods[0]?.configs[0]?.explanations).toContainEqual({
      field: 'linux.resources.cpu_shares',
      text: 'resources.requests.cpu 50m',
      sources: [{kind: 'manifest', name: 'spec.containers[0].resources.requests.cpu', value: '50m'}],
    });
    const yaml = await run(testbed, 'inspect', '--explain', '-o', 'yaml', 'web/main');
    expect(yaml.stdout).toMatch(/^ +cpu_shares: "51" # resources\.requests\.cpu 50m$/m);
  });

  test('reports a container that does not exist, and explains the others', async () => {
    const {stdout, stderr, exitCode} = await run(
      await createWeb(),
      'inspect',
      '--explain',
      'none',
      'web/main',
    );
    expect(stdout).toContain(SHARES);
    expect(stderr).toContain('none');
    expect(exitCode).toBe(1);
  });

  test('says what is unknown of a container of another manager', async () => {
    const sandbox = aSandbox({name: 'web'});
    const testbed = await createTestbed({
      sandboxes: [sandbox],
      containers: [aContainer({sandbox, name: 'main'})],
    });
    const {stdout, stderr, exitCode} = await run(testbed, 'inspect', '--explain', 'web/main');
    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout).toMatch(/the runtime does not report the configs|# unknown: it depends on a manifest/);
  });

  test('is not a flag of crictl', async () => {
    const testbed = await createWeb();
    const {exitCode} = await runKcri(['inspect', '--explain', 'x'], {
      endpoint: testbed.runtime.endpoint,
      env: {KCRI_COMPAT: 'crictl'},
    });
    expect(exitCode).toBe(1);
  });
});

// Proves: inspectp --explain
test('inspectp --explain shows where each value of a sandbox comes from', async () => {
  const {stdout, stderr, exitCode} = await run(await createWeb(), 'inspectp', '--explain', 'web');
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  expect(stdout.split('\n').filter((line) => /^  \S/.test(line))).toEqual(['  sandbox:']);
  expect(stdout).toMatch(/^    metadata\.name: web {2}# /m);
  expect(stdout).not.toContain('unknown');
});
