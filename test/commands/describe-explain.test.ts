import {describe, expect, test} from 'vitest';
import {runKcri, type RunOptions, type RunResult} from '../cli/run-kcri.js';
import {aContainer, aSandbox} from '../fakes/fake-runtime.js';
import {
  aContainerSpec,
  aManifest,
  createTestbed,
  expectUserError,
  type CommandTestbed,
} from './command-testbed.js';

interface ExplainedConfig {
  readonly target: string;
  readonly config: Readonly<Record<string, unknown>>;
  readonly explanations: readonly {readonly field: string; readonly text: string}[];
}

const WEB = aManifest({
  containers: [
    aContainerSpec('main', {
      resources: {requests: {cpu: '50m', memory: '32Mi'}},
      env: [{name: 'WORD', value: 'a\u001b[31mb'}],
    }),
  ],
});

const SHARES = 'linux.resources.cpu_shares: 51  # resources.requests.cpu 50m';

async function explain(
  testbed: CommandTestbed,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<RunResult> {
  return await runKcri(['--root-dir', testbed.rootDir, 'describe', 'web', '--explain', ...args], options);
}

async function createWeb(): Promise<CommandTestbed> {
  const testbed = await createTestbed();
  expect(await testbed.run(['sync', '-'], {stdin: WEB})).toMatchObject({stderr: '', exitCode: 0});
  return testbed;
}

// Proves: describe --explain
describe('describe --explain', () => {
  test('shows each value that the runtime received, and where it comes from', async () => {
    const {stdout, stderr, exitCode} = await explain(await createWeb());

    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^pod default\/web \(uid \S+\)$/);
    expect(lines).toContain('  sandbox:');
    expect(lines).toContain('  container "main":');
    expect(lines).toContain(`    ${SHARES}`);
    expect(stdout).not.toContain('unknown');
  });

  test('has the fields of each config and their explanations in JSON', async () => {
    const {stdout} = await explain(await createWeb(), ['-o', 'json']);

    const [pod] = JSON.parse(stdout) as readonly {
      readonly name: string;
      readonly configs: readonly ExplainedConfig[];
    }[];
    expect(pod?.name).toBe('web');
    expect(pod?.configs.map(({target}) => target)).toEqual(['sandbox', 'container "main"']);
    expect(pod?.configs[1]?.config).toMatchObject({linux: {resources: {cpu_shares: '51'}}});
    expect(pod?.configs[1]?.explanations).toContainEqual({
      field: 'linux.resources.cpu_shares',
      text: 'resources.requests.cpu 50m',
      sources: [{kind: 'manifest', name: 'spec.containers[0].resources.requests.cpu', value: '50m'}],
    });
  });

  test('has the explanations as comments in YAML', async () => {
    const {stdout} = await explain(await createWeb(), ['-o', 'yaml']);

    expect(stdout).toMatch(/^ +cpu_shares: "51" # resources\.requests\.cpu 50m$/m);
  });

  test('colors explanations only on a terminal without NO_COLOR', async () => {
    const testbed = await createWeb();
    const piped = await explain(testbed);
    const plain = await explain(testbed, [], {terminal: true, env: {NO_COLOR: '1'}});
    const colored = await explain(testbed, [], {terminal: true});

    expect(piped.stdout).not.toContain('\u001b');
    expect(plain.stdout).toBe(piped.stdout);
    expect(colored.stdout).toContain('\u001b[2m# resources.requests.cpu 50m\u001b[22m');
    expect(colored.stdout).not.toContain('\u001b[31m');
  });

  test('says what is unknown of a pod of another manager', async () => {
    const sandbox = aSandbox({name: 'web'});
    const testbed = await createTestbed({
      sandboxes: [sandbox],
      containers: [aContainer({sandbox, name: 'main'})],
    });
    const {stdout, stderr, exitCode} = await explain(testbed, [], {endpoint: testbed.runtime.endpoint});

    expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
    expect(stdout).toMatch(/the runtime does not report the configs|# unknown: it depends on a manifest/);
  });

  test('fails if the runtime is unavailable, because only it knows the configs', async () => {
    const testbed = await createWeb();
    await testbed.runtime.stop();
    const result = await explain(testbed);

    expect(result.exitCode).toBe(1);
    expect(result.stdout).toBe('');
    expectUserError(result);
  });
});
