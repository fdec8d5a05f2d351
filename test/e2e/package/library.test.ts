import {execFile} from 'node:child_process';
import {mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {promisify} from 'node:util';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {aManifest} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Creates a project in which the packed kcri and its dependencies are installed. */
async function makeConsumer(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'kcri-consumer-'));
  const modules = join(dir, 'node_modules');
  await mkdir(modules);
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', dir];
  const {stdout} = await run('npm', pack, {cwd: ROOT});
  const [{filename}] = JSON.parse(stdout) as [{filename: string}];
  await run('tar', ['-xf', join(dir, filename), '-C', dir]);
  await rename(join(dir, 'package'), join(modules, 'kcri'));
  const {dependencies} = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  for (const name of [...Object.keys(dependencies), '@types/node']) {
    await mkdir(dirname(join(modules, name)), {recursive: true});
    await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  }
  await writeFile(join(dir, 'package.json'), '{"type": "module"}\n');
  return dir;
}

let consumer: string;
beforeAll(async () => {
  consumer = await makeConsumer();
});
afterAll(() => rm(consumer, {recursive: true}));

describe.each(newestRuntime)('the client as a library: $name', (which) => {
  let testbed: PodTestbed;
  beforeAll(async () => {
    testbed = await startPodTestbed(which);
  });
  afterAll(() => testbed[Symbol.asyncDispose]());

  test('examples/list-pods.mjs lists the pods, in this checkout and with the installed package', async () => {
    const {endpoint} = testbed.runtime;
    expect(await testbed.sync(aManifest('listed'))).toMatchObject({exitCode: 0});
    const {sandboxes} = await testbed.pod('listed');
    const example = await readFile(join(ROOT, 'examples/list-pods.mjs'));
    await writeFile(join(consumer, 'list-pods.mjs'), example);
    for (const file of [join(ROOT, 'examples/list-pods.mjs'), join(consumer, 'list-pods.mjs')])
      expect((await run(process.execPath, [file, endpoint])).stdout).toMatch(
        new RegExp(`^containerd \\S+\n${sandboxes[0]!.id.slice(0, 13)}  default/listed\n$`),
      );
    expect(await testbed.delete('listed')).toMatchObject({exitCode: 0});
  });
});

test('examples/list-pods.mjs without a runtime prints an error message', async () => {
  const file = join(ROOT, 'examples/list-pods.mjs');
  const failure = await run(process.execPath, [file, 'unix:///nowhere.sock']).catch(
    (error: unknown) => error,
  );
  expect(failure).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^Version: .*\/nowhere\.sock/) as string,
  });
});

test('the installed package has a command', async () => {
  const {stdout} = await run(process.execPath, [
    join(consumer, 'node_modules/kcri/bin/kcri.js'),
    '--version',
  ]);
  expect(stdout).toMatch(/^kcri version v\d/);
});

/** The lines with @ts-expect-error must not compile, which proves that the types are installed. */
const TYPED = `import {connect, isNotFound, type ContainerId, type ListContainersResponse} from 'kcri';
const {runtime} = connect('unix:///run/containerd/containerd.sock', {timeoutMs: 1000});
export const list: ListContainersResponse = await runtime.listContainers({filter: {podSandboxId: undefined}});
export const ids: readonly ContainerId[] = list.containers.map(({id}) => id);
export const created: bigint | undefined = list.containers[0]?.createdAt;
for await (const event of runtime.getContainerEvents()) if (isNotFound(event)) break;
// @ts-expect-error a state is one of CRI's words
await runtime.listContainers({filter: {state: {state: 'RUNNING'}}});
// @ts-expect-error a container's id is not a sandbox's
await runtime.stopPodSandbox({podSandboxId: ids[0]});
// @ts-expect-error there is no such field
await runtime.startContainer({containerID: 'x'});
`;

test('the installed package has types', async () => {
  await writeFile(join(consumer, 'consumer.ts'), TYPED);
  const compilerOptions = {module: 'nodenext', target: 'es2023', strict: true, noEmit: true, types: ['node']};
  const tsconfig = join(consumer, 'tsconfig.json');
  await writeFile(tsconfig, JSON.stringify({compilerOptions, files: ['consumer.ts']}));
  const tsc = join(ROOT, 'node_modules/typescript-7/bin/tsc');
  const {stdout} = await run(process.execPath, [tsc, '-p', tsconfig]).catch(
    (error: unknown) => error as {stdout: string},
  );
  expect(stdout).toBe('');
});
