import {execFileSync} from 'node:child_process';
import {mkdir, readdir, symlink, writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import {createServer as createPlainServer} from 'node:net';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {runKcri} from '../../cli/run-kcri.js';
import {
  aContainerSpec,
  aManifest,
  aManifestDirectory,
  createTestbed,
  expectUserError,
  NO_LEFTOVERS,
  type CommandTestbed,
} from '../command-testbed.js';

const COMMANDS = ['sync', 'plan', 'runp'] as const;

/** Invalid manifests with parts of the expected errors. */
const MANIFESTS: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'an empty file',
    '',
    ['no Pod in "', 'hint: a manifest must contain a Pod, or a workload such as a Deployment or Job'],
  ],
  [
    'only comments',
    '# later\n',
    ['no Pod in "', 'hint: a manifest must contain a Pod, or a workload such as a Deployment or Job'],
  ],
  ['broken YAML', 'apiVersion: v1\nkind: Pod\nmetadata: {name: web\n', ['pod.yaml:', '    4 | ']],
  ['a tab as indentation', 'apiVersion: v1\nkind: Pod\nmetadata:\n\tname: web\n', ['pod.yaml:4:1: ']],
  [
    'a misspelled kind',
    'apiVersion: apps/v1\nkind: Deploiment\nmetadata: {name: web}\n',
    ['pod.yaml:2:7: ', 'did you mean "Deployment"?'],
  ],
  [
    'a kind without pods',
    'apiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n',
    ['no Pod in "', 'Namespace'],
  ],
  [
    'a Deployment without containers',
    'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n',
    ['spec.selector: Required value', 'spec.template.spec.containers: Required value'],
  ],
  ['no kind', 'apiVersion: v1\nmetadata: {name: web}\n', ['kind']],
  [
    'an unknown field',
    'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - {name: a, imege: b}\n',
    ['pod.yaml:6:', 'unknown field "spec.containers[0].imege", did you mean "image"?'],
  ],
  [
    'containers of the same name',
    aManifest({containers: [aContainerSpec('main'), aContainerSpec('main')]}),
    ['spec.containers[1].name: Duplicate value: "main"'],
  ],
  ['no containers', aManifest({containers: []}), ['spec.containers: Required value']],
  ['an invalid pod name', aManifest({name: 'No_Name'}), ['metadata.name: Invalid value: "No_Name"']],
  [
    'an unsupported field',
    aManifest({containers: [aContainerSpec('main')], schedulingGates: [{name: 'example.com/gate'}]}),
    ['spec.schedulingGates: Forbidden: not supported by kcri: '],
  ],
  ['two pods of one name', `${aManifest()}\n---\n${aManifest()}\n`, ['pod "default/web" is defined twice: ']],
];

async function expectNoChanges(testbed: CommandTestbed): Promise<void> {
  expect(testbed.runtime.calls).toEqual([]);
  expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
}

describe.each(COMMANDS)('%s of a manifest with', (command) => {
  // runp takes a text without kind and apiVersion for a config of the CRI.
  const manifests = MANIFESTS.filter(([, text]) => command !== 'runp' || /kind|apiVersion/.test(text));

  test.each(manifests)('%s is rejected', async (_, text, expected) => {
    const testbed = await createTestbed();
    const source = command === 'runp' ? '-' : await testbed.write('pod.yaml', text);
    const result = await testbed.run([command, source], {stdin: text});
    expectUserError(result);
    for (const words of expected)
      expect(result.stderr).toContain(command === 'runp' ? words.replace('pod.yaml', 'stdin') : words);
    expect({stdout: result.stdout, exitCode: result.exitCode}).toEqual({stdout: '', exitCode: 1});
    await expectNoChanges(testbed);
  });
});

describe('a source', () => {
  test.each(['sync', 'plan'])('of %s that does not exist is an error', async (command) => {
    const testbed = await createTestbed();
    const result = await testbed.run([command, join(testbed.directory, 'nothing.yaml')]);
    expectUserError(result);
    expect(result.stderr).toContain('nothing.yaml": no such file or directory');
    expect(result.exitCode).toBe(1);
    await expectNoChanges(testbed);
  });

  test('that is a directory without manifests is rejected with the expected file names', async () => {
    const testbed = await createTestbed();
    const directory = await aManifestDirectory(testbed, {'notes.txt': 'x'});
    const result = await testbed.run(['sync', directory]);
    expectUserError(result);
    expect(result.stderr).toContain(
      `kcri: no manifests in directory "${directory}"\nhint: manifests end in .yaml, .yml or .json; subdirectories are not searched\n`,
    );
    expect(result.exitCode).toBe(1);
    await expectNoChanges(testbed);
  });

  test('that is a directory with one invalid manifest creates no pod', async () => {
    const testbed = await createTestbed();
    const directory = await aManifestDirectory(testbed, {
      'a.yaml': aManifest({name: 'a'}),
      'b.yaml': 'kind: [',
    });
    expect(await testbed.run(['sync', directory])).toMatchObject({exitCode: 1});
    await expectNoChanges(testbed);
  });

  test('is required', async () => {
    const testbed = await createTestbed();
    const result = await testbed.run(['sync']);
    expectUserError(result);
    expect(result.stderr).toContain('kcri: no manifest specified\nusage: kcri sync ');
    await expectNoChanges(testbed);
  });

  test('with an unknown field is synced with a warning if validation is lenient', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('pod.yaml', aManifest({flavour: 'sweet'}));
    const {stderr, exitCode} = await testbed.run(['sync', '--lenient', file]);
    expect(stderr).toMatch(/^kcri: warning: .*pod\.yaml:1:\d+: .*unknown field "spec\.flavour"/);
    expect(exitCode).toBe(0);
  });
});

/** Endpoints without a CRI runtime, and parts of the expected errors. */
const ENDPOINTS: readonly (readonly [string, (directory: string) => Promise<string>, readonly string[]])[] = [
  [
    'a missing socket',
    async (directory) => join(directory, 'nothing.sock'),
    ['no such file or directory', 'hint: there is no socket at unix://', '"kcri runtime up"'],
  ],
  [
    'a regular file',
    async (directory) => {
      const path = join(directory, 'file.sock');
      await writeFile(path, '');
      return path;
    },
    ['connection refused', 'hint: nothing listens on unix://'],
  ],
  [
    'a server that speaks HTTP/1',
    async (directory) =>
      await listening(
        createServer((_, response) => response.end('hello')),
        join(directory, 'http.sock'),
      ),
    ['hint: the server at unix://', 'is not a CRI runtime'],
  ],
  [
    'a server that closes connections',
    async (directory) =>
      await listening(
        createPlainServer((socket) => socket.destroy()),
        join(directory, 'shy.sock'),
      ),
    ['hint: the server at unix://', 'is not a CRI runtime'],
  ],
];

async function listening(server: ReturnType<typeof createPlainServer>, path: string): Promise<string> {
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
  return path;
}

describe('an endpoint with', () => {
  test.each(
    ENDPOINTS.flatMap((each) =>
      (['sync', 'plan', 'runp'] as const).map((command) => [...each, command] as const),
    ),
  )('%s is rejected', async (_, prepare, expected, command) => {
    const testbed = await createTestbed();
    const endpoint = `unix://${await prepare(testbed.directory)}`;
    const file = await testbed.write('pod.json', aManifest());
    const result = await testbed.run([command, file], {endpoint});
    expectUserError(result);
    for (const words of expected) expect(result.stderr).toContain(words);
    expect({stdout: result.stdout, exitCode: result.exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('no runtime at any well-known endpoint', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('pod.json', aManifest());
    const result = await runKcri(testbed.args(['sync', file]));
    expectUserError(result);
    expect(result.stderr).toContain('kcri: no container runtime found');
    expect(result.stderr).toContain('hint: start one with "kcri runtime up", or set --runtime-endpoint');
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});

describe('runp', () => {
  const CONFIG = {metadata: {name: 'box', namespace: 'default', uid: 'u1', attempt: 0}};

  test.each([
    ['JSON', JSON.stringify({...CONFIG, labels: {kind: 'Pod'}})],
    ['multi-line JSON', JSON.stringify({...CONFIG, labels: {kind: 'Pod'}}, undefined, 2)],
    ['YAML', 'metadata:\n  name: box\n  namespace: default\n  uid: u1\nlabels:\n  kind: Pod\n'],
  ])('creates a sandbox from a crictl config in %s and prints its ID', async (_, text) => {
    const testbed = await createTestbed();
    const {stdout, stderr, exitCode} = await testbed.run(['runp', await testbed.write('box.conf', text)]);
    const [sandbox] = testbed.runtime.sandboxes;
    expect({stdout, stderr, exitCode}).toEqual({stdout: `${sandbox!.id}\n`, stderr: '', exitCode: 0});
    expect(sandbox!.config).toMatchObject({metadata: {name: 'box', uid: 'u1'}});
    expect(await testbed.records()).toEqual([]);
  });

  test.each([
    ['a config as JSON', JSON.stringify(CONFIG), 0],
    ['a config as YAML', 'metadata:\n  name: box\n  namespace: default\n', 0],
    ['a manifest', aManifest(), 1],
  ])('- reads %s from standard input', async (_, stdin, containers) => {
    const testbed = await createTestbed();
    const {stdout, exitCode} = await testbed.run(['runp', '-'], {stdin});
    const [sandbox] = testbed.runtime.sandboxes;
    expect({stdout, exitCode}).toEqual({stdout: `${sandbox!.id}\n`, exitCode: 0});
    expect(testbed.runtime.containers).toHaveLength(containers);
  });

  test.each([
    ['JSON', aManifest()],
    ['multi-line JSON', JSON.stringify(JSON.parse(aManifest()), undefined, 2)],
    [
      'YAML',
      `# a pod\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [${JSON.stringify(aContainerSpec('main'))}]}\n`,
    ],
  ])('runs the pod of a manifest in %s and prints only the sandbox ID', async (_, text) => {
    const testbed = await createTestbed();
    const {stdout, stderr, exitCode} = await testbed.run(['runp', await testbed.write('pod.conf', text)]);
    const [sandbox] = testbed.runtime.sandboxes;
    expect({stdout, stderr, exitCode}).toEqual({stdout: `${sandbox!.id}\n`, stderr: '', exitCode: 0});
    expect(testbed.runtime.containers).toMatchObject([{state: 'CONTAINER_RUNNING'}]);
    expect(await testbed.records()).toHaveLength(1);
  });

  test('prints the ID of a running pod and changes nothing', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('pod.json', aManifest());
    const first = await testbed.run(['runp', file]);
    testbed.runtime.clearCalls();
    expect(await testbed.run(['runp', file])).toEqual(first);
    expect(testbed.mutatingCalls).toEqual([]);
  });

  test('prints no ID of a pod that cannot be started, and leaves nothing', async () => {
    const testbed = await createTestbed({images: []});
    const result = await testbed.run(['runp', await testbed.write('pod.json', aManifest())]);
    expectUserError(result);
    expect(result.stderr).toContain('container "main": ErrImagePull: ');
    expect({stdout: result.stdout, exitCode: result.exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test.each([
    ['a missing file', undefined, 'config at'],
    ['no YAML', 'metadata: {name: [', 'invalid config'],
    ['no metadata', 'hostname: box', 'metadata is not set'],
    ['an alias without an anchor', 'metadata: *x', 'invalid config'],
    ['an invalid merge', '<<: 3', 'invalid config'],
    ['an endless file', `#${'x'.repeat(10 * 1024 * 1024)}`, 'is larger than 10 MiB'],
    ['a list', '- 1\n- 2\n', 'invalid config'],
    ['an empty file', '', 'invalid config'],
  ])('rejects %s', async (_, text, words) => {
    const testbed = await createTestbed();
    const path = join(testbed.directory, 'box.conf');
    if (text !== undefined) await writeFile(path, text);
    const result = await testbed.run(['runp', path]);
    expectUserError(result);
    expect(result.stderr).toContain(words);
    expect({stdout: result.stdout, exitCode: result.exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(testbed.runtime.sandboxes).toEqual([]);
  });

  test.each([
    ['a config', JSON.stringify(CONFIG)],
    ['a manifest', aManifest()],
  ])('reads %s from a pipe', async (_, text) => {
    const testbed = await createTestbed();
    const pipe = join(testbed.directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const [result] = await Promise.all([testbed.run(['runp', pipe]), writeFile(pipe, text)]);
    expect(result).toEqual({stdout: `${testbed.runtime.sandboxes[0]!.id}\n`, stderr: '', exitCode: 0});
  });

  test('stops waiting for a pipe after Ctrl-C', async () => {
    const testbed = await createTestbed();
    const pipe = join(testbed.directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const signal = AbortSignal.timeout(100);
    const {stderr} = await testbed.run(['runp', pipe], {signal});
    expect(stderr).toContain('aborted due to timeout');
  });

  test('rejects a device', async () => {
    const testbed = await createTestbed();
    const result = await testbed.run(['runp', '/dev/zero']);
    expectUserError(result);
    expect(result.stderr).toContain('"/dev/zero" is larger than 10 MiB');
  });

  test('rejects a directory', async () => {
    const testbed = await createTestbed();
    const path = join(testbed.directory, 'd');
    await mkdir(path);
    const result = await testbed.run(['runp', path]);
    expectUserError(result);
    expect(result.stderr).toContain(path);
    expect(result.exitCode).toBe(1);
    expect(await readdir(path)).toEqual([]);
  });
});

describe('delete rejects', () => {
  test('a name longer than a file name', async () => {
    const testbed = await createTestbed();
    const result = await testbed.run(['delete', 'a'.repeat(300)]);
    expectUserError(result);
    expect(result.stderr).toContain(`pod "${'a'.repeat(300)}" not found`);
  });

  test('an unreadable file', async () => {
    const testbed = await createTestbed();
    const loop = join(testbed.directory, 'loop');
    await symlink('loop', loop);
    const result = await testbed.run(['delete', loop]);
    expectUserError(result);
    expect(result.stderr).toContain(`cannot read manifest "${loop}": too many symbolic links`);
  });
});
