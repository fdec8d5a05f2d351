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
  aScene,
  expectUserError,
  NO_LEFTOVERS,
  type PodScene,
} from '../pod-scene.js';

const COMMANDS = ['sync', 'plan', 'runp'] as const;

/** Each way to be wrong, what says so, and where. */
const MANIFESTS: readonly (readonly [string, string, readonly string[]])[] = [
  ['an empty file', '', ['no Pod in "', 'hint: a manifest must contain an object with kind: Pod']],
  ['only comments', '# later\n', ['no Pod in "', 'hint: a manifest must contain an object with kind: Pod']],
  ['broken YAML', 'apiVersion: v1\nkind: Pod\nmetadata: {name: web\n', ['pod.yaml:', '    4 | ']],
  ['a tab for an indentation', 'apiVersion: v1\nkind: Pod\nmetadata:\n\tname: web\n', ['pod.yaml:4:1: ']],
  ['another kind', 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n', ['Deployment']],
  ['no kind', 'apiVersion: v1\nmetadata: {name: web}\n', ['kind']],
  [
    'an unknown field',
    'apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec:\n  containers:\n  - {name: a, imege: b}\n',
    ['pod.yaml:6:', 'unknown field "spec.containers[0].imege", did you mean "image"?'],
  ],
  [
    'containers of the same name',
    aManifest({containers: [aContainerSpec('twin'), aContainerSpec('twin')]}),
    ['spec.containers[1].name: Duplicate value: "twin"'],
  ],
  ['no containers', aManifest({containers: []}), ['spec.containers: Required value']],
  ['a name that no pod may have', aManifest({name: 'No_Name'}), ['metadata.name: Invalid value: "No_Name"']],
  [
    'what is not built yet',
    aManifest({containers: [aContainerSpec('main')], schedulingGates: [{name: 'example.com/gate'}]}),
    ['spec.schedulingGates: Forbidden: not supported by kcri: '],
  ],
  ['two pods of one name', `${aManifest()}\n---\n${aManifest()}\n`, ['pod "default/web" is defined twice: ']],
];

async function expectNothingDone(scene: PodScene): Promise<void> {
  expect(scene.runtime.calls).toEqual([]);
  expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
}

describe.each(COMMANDS)('%s of a manifest with', (command) => {
  test.each(MANIFESTS)('%s', async (_, text, expected) => {
    const scene = await aScene();
    const source = command === 'runp' ? '-' : await scene.write('pod.yaml', text);
    const result = await scene.run([command, source], {stdin: text});
    expectUserError(result);
    for (const words of expected)
      expect(result.stderr).toContain(command === 'runp' ? words.replace('pod.yaml', 'stdin') : words);
    expect({stdout: result.stdout, exitCode: result.exitCode}).toEqual({stdout: '', exitCode: 1});
    await expectNothingDone(scene);
  });
});

describe('a source', () => {
  test.each(['sync', 'plan'])('of %s that is no file is named', async (command) => {
    const scene = await aScene();
    const result = await scene.run([command, join(scene.directory, 'nothing.yaml')]);
    expectUserError(result);
    expect(result.stderr).toContain('nothing.yaml": no such file or directory');
    expect(result.exitCode).toBe(1);
    await expectNothingDone(scene);
  });

  test('that is a directory without manifests is refused with what would count as one', async () => {
    const scene = await aScene();
    const directory = await aManifestDirectory(scene, {'notes.txt': 'x'});
    const result = await scene.run(['sync', directory]);
    expectUserError(result);
    expect(result.stderr).toContain(
      `kcri: no manifests in directory "${directory}"\nhint: manifests end in .yaml, .yml or .json; subdirectories are not searched\n`,
    );
    expect(result.exitCode).toBe(1);
    await expectNothingDone(scene);
  });

  test('that is a directory with one bad manifest among good ones makes no pod at all', async () => {
    const scene = await aScene();
    const directory = await aManifestDirectory(scene, {
      'a.yaml': aManifest({name: 'a'}),
      'b.yaml': 'kind: [',
    });
    expect(await scene.run(['sync', directory])).toMatchObject({exitCode: 1});
    await expectNothingDone(scene);
  });

  test('is missing', async () => {
    const scene = await aScene();
    const result = await scene.run(['sync']);
    expectUserError(result);
    expect(result.stderr).toContain('kcri: no manifest specified\nusage: kcri sync ');
    await expectNothingDone(scene);
  });

  test('with an unknown field is synced with a warning when told to be lenient', async () => {
    const scene = await aScene();
    const file = await scene.write('pod.yaml', aManifest({flavour: 'sweet'}));
    const {stderr, exitCode} = await scene.run(['sync', '--lenient', file]);
    expect(stderr).toMatch(/^kcri: warning: .*pod\.yaml:1:\d+: .*unknown field "spec\.flavour"/);
    expect(exitCode).toBe(0);
  });
});

/** Each kind of endpoint where no runtime answers, and what is said of it. */
const ENDPOINTS: readonly (readonly [string, (directory: string) => Promise<string>, readonly string[]])[] = [
  [
    'no socket',
    async (directory) => join(directory, 'nothing.sock'),
    ['no such file or directory', 'hint: there is no socket at unix://', '"kcri runtime up"'],
  ],
  [
    'a file that is no socket',
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
    'a server that hangs up',
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
  )('%s', async (_, prepare, expected, command) => {
    const scene = await aScene();
    const endpoint = `unix://${await prepare(scene.directory)}`;
    const file = await scene.write('pod.json', aManifest());
    const result = await scene.run([command, file], {endpoint});
    expectUserError(result);
    for (const words of expected) expect(result.stderr).toContain(words);
    expect({stdout: result.stdout, exitCode: result.exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test('nothing found anywhere', async () => {
    const scene = await aScene();
    const file = await scene.write('pod.json', aManifest());
    const result = await runKcri(scene.args(['sync', file]));
    expectUserError(result);
    expect(result.stderr).toContain('kcri: no container runtime found');
    expect(result.stderr).toContain('hint: start one with "kcri runtime up", or set --runtime-endpoint');
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });
});

describe('runp', () => {
  const CONFIG = {metadata: {name: 'box', namespace: 'default', uid: 'u1', attempt: 0}};

  test.each([
    ['JSON', JSON.stringify({...CONFIG, labels: {kind: 'Pod'}})],
    ['JSON on many lines', JSON.stringify({...CONFIG, labels: {kind: 'Pod'}}, undefined, 2)],
    ['YAML', 'metadata:\n  name: box\n  namespace: default\n  uid: u1\nlabels:\n  kind: Pod\n'],
  ])("makes a sandbox of crictl's config in %s and prints its id", async (_, text) => {
    const scene = await aScene();
    const {stdout, stderr, exitCode} = await scene.run(['runp', await scene.write('box.conf', text)]);
    const [sandbox] = scene.runtime.sandboxes;
    expect({stdout, stderr, exitCode}).toEqual({stdout: `${sandbox!.id}\n`, stderr: '', exitCode: 0});
    expect(sandbox!.config).toMatchObject({metadata: {name: 'box', uid: 'u1'}});
    expect(await scene.records()).toEqual([]);
  });

  test.each([
    ['JSON', aManifest()],
    ['JSON on many lines', JSON.stringify(JSON.parse(aManifest()), undefined, 2)],
    [
      'YAML',
      `# a pod\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [${JSON.stringify(aContainerSpec('main'))}]}\n`,
    ],
  ])('runs the whole pod of a manifest in %s and prints the id alone', async (_, text) => {
    const scene = await aScene();
    const {stdout, stderr, exitCode} = await scene.run(['runp', await scene.write('pod.conf', text)]);
    const [sandbox] = scene.runtime.sandboxes;
    expect({stdout, stderr, exitCode}).toEqual({stdout: `${sandbox!.id}\n`, stderr: '', exitCode: 0});
    expect(scene.runtime.containers).toMatchObject([{state: 'CONTAINER_RUNNING'}]);
    expect(await scene.records()).toHaveLength(1);
  });

  test('prints the id of a pod that runs already, and changes nothing', async () => {
    const scene = await aScene();
    const file = await scene.write('pod.json', aManifest());
    const first = await scene.run(['runp', file]);
    scene.runtime.clearCalls();
    expect(await scene.run(['runp', file])).toEqual(first);
    expect(scene.mutatingCalls).toEqual([]);
  });

  test('prints no id of a pod that could not be started, and leaves nothing', async () => {
    const scene = await aScene({images: []});
    const result = await scene.run(['runp', await scene.write('pod.json', aManifest())]);
    expectUserError(result);
    expect(result.stderr).toContain('container "main": ErrImagePull: ');
    expect({stdout: result.stdout, exitCode: result.exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
  });

  test.each([
    ['a file that is missing', undefined, 'config at'],
    ['no YAML', 'metadata: {name: [', 'invalid config'],
    ['no metadata', 'hostname: box', 'metadata is not set'],
    ['an alias without its anchor', 'metadata: *x', 'invalid config'],
    ['what can not be merged', '<<: 3', 'invalid config'],
    ['bytes without end', `#${'x'.repeat(10 * 1024 * 1024)}`, 'is larger than 10 MiB'],
    ['no object', '- 1\n- 2\n', 'invalid config'],
    ['an empty file', '', 'invalid config'],
  ])('refuses %s', async (_, text, words) => {
    const scene = await aScene();
    const path = join(scene.directory, 'box.conf');
    if (text !== undefined) await writeFile(path, text);
    const result = await scene.run(['runp', path]);
    expectUserError(result);
    expect(result.stderr).toContain(words);
    expect({stdout: result.stdout, exitCode: result.exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(scene.runtime.sandboxes).toEqual([]);
  });

  test.each([
    ['a config', JSON.stringify(CONFIG)],
    ['a manifest', aManifest()],
  ])('reads %s from a pipe', async (_, text) => {
    const scene = await aScene();
    const pipe = join(scene.directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const [result] = await Promise.all([scene.run(['runp', pipe]), writeFile(pipe, text)]);
    expect(result).toEqual({stdout: `${scene.runtime.sandboxes[0]!.id}\n`, stderr: '', exitCode: 0});
  });

  test('stops waiting for a pipe at Ctrl-C', async () => {
    const scene = await aScene();
    const pipe = join(scene.directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const signal = AbortSignal.timeout(100);
    const {stderr} = await scene.run(['runp', pipe], {signal});
    expect(stderr).toContain('aborted due to timeout');
  });

  test('refuses a device', async () => {
    const scene = await aScene();
    const result = await scene.run(['runp', '/dev/zero']);
    expectUserError(result);
    expect(result.stderr).toContain('"/dev/zero" is neither a file nor a directory');
  });

  test('refuses a directory', async () => {
    const scene = await aScene();
    const path = join(scene.directory, 'd');
    await mkdir(path);
    const result = await scene.run(['runp', path]);
    expectUserError(result);
    expect(result.stderr).toContain(path);
    expect(result.exitCode).toBe(1);
    expect(await readdir(path)).toEqual([]);
  });
});

describe('delete refuses', () => {
  test('a word that is longer than a file name may be', async () => {
    const scene = await aScene();
    const result = await scene.run(['delete', 'a'.repeat(300)]);
    expectUserError(result);
    expect(result.stderr).toContain(`pod "${'a'.repeat(300)}" not found`);
  });

  test('a file that can not be reached', async () => {
    const scene = await aScene();
    const loop = join(scene.directory, 'loop');
    await symlink('loop', loop);
    const result = await scene.run(['delete', loop]);
    expectUserError(result);
    expect(result.stderr).toContain(`cannot read manifest "${loop}": too many symbolic links`);
  });
});
