import {mkdir, symlink, writeFile} from 'node:fs/promises';
import {createServer} from 'node:http';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {listenOnLoopback} from '../base/listen-on-loopback.js';
import {temporaryDirectory} from '../base/temporary-directory.js';
import {FakeRuntime} from '../fakes/fake-runtime.js';
import {aSandbox} from '../fakes/runtime-builders.js';
import {runKcri, type RunOptions} from '../cli/run-kcri.js';
import {aContainerSpec, aManifest, createTestbed, type CommandTestbed} from './command-testbed.js';

/** A port that nobody listens on. */
const CLOSED = 1;

const VOLUMES = [
  {name: 'cache', emptyDir: {}},
  {name: 'node', hostPath: {path: '/tmp'}},
  {name: 'data', persistentVolumeClaim: {claimName: 'db'}},
];

async function synced(): Promise<CommandTestbed> {
  const testbed = await createTestbed();
  const volumeMounts = VOLUMES.map(({name}) => ({name, mountPath: `/${name}`}));
  const containers = [aContainerSpec('main', {volumeMounts})];
  const stdin = aManifest({containers, volumes: VOLUMES, metadata: {labels: {app: 'web'}}});
  expect(await testbed.run(['sync', '-'], {stdin})).toMatchObject({exitCode: 0});
  return testbed;
}

/** Runs `get volumes`, which has no directory of logs. */
async function get(
  {runtime, rootDir}: CommandTestbed,
  args: readonly string[] = [],
  options: RunOptions = {},
) {
  const line = ['--root-dir', rootDir, 'get', 'volumes', ...args];
  return await runKcri(line, {endpoint: runtime.endpoint, ...options});
}

describe('get volumes', () => {
  // Proves: get volumes, get volumes --output, get volumes --no-headers, get volumes --all-namespaces, get volumes --sort-by, get volumes --template, get volumes --format
  test('lists the volumes of pods in all formats', async () => {
    const testbed = await synced();
    const {stdout, stderr} = await get(testbed);
    expect(stderr).toBe('');
    expect(stdout.replaceAll(/ +/g, ' ').replaceAll(/\d\S*B/g, 'SIZE')).toBe(
      [
        'POD VOLUME KIND DRIVER STATE USED CAPACITY',
        'web cache emptyDir <none> mounted SIZE -',
        'web node hostPath <none> mounted - -',
        'web data claim <none> mounted SIZE -',
        '',
      ].join('\n'),
    );
    const wide = await get(testbed, ['-o', 'wide', '--no-headers', '-A', '--sort-by=.metadata.name']);
    expect(wide.stdout.split('\n').map((line) => line.split(/ +/).slice(0, 3).join(' '))).toEqual([
      'default web cache',
      'default web data',
      'default web node',
      '',
    ]);
    expect(wide.stdout).toContain(join(testbed.rootDir, 'claims/default/db'));
    const names = 'volume/web/cache\nvolume/web/node\nvolume/web/data\n';
    expect((await get(testbed, ['-o', 'name'])).stdout).toBe(names);
    const json = JSON.parse((await get(testbed, ['-o', 'json'])).stdout) as {
      readonly items: readonly unknown[];
    };
    expect(json.items[2]).toMatchObject({
      ...{kind: 'Volume', metadata: {name: 'data', namespace: 'default'}, pod: {name: 'web'}, type: 'claim'},
      ...{state: 'mounted', claim: 'default/db', volumeMode: 'Filesystem'},
      usage: {inodesUsed: 1},
    });
    const columns = await get(testbed, ['-o', 'custom-columns=STATE:.state,TYPE:.type']);
    expect(columns.stdout).toMatch(/^STATE +TYPE\nmounted +emptyDir\n/);
    const template = await get(testbed, ['--template={{range .items}}{{.type}} {{end}}']);
    expect(template.stdout).toBe('emptyDir hostPath claim \n');
    expect((await get(testbed, ['--format={{.state}}'])).stdout).toBe('mounted\nmounted\nmounted\n');
  });

  // Proves: get volumes --namespace, get volumes --selector, get volumes --manager, get volumes --exit-code
  test('selects pods by name, namespace, label and manager', async () => {
    const testbed = await synced();
    for (const args of [['web'], ['-n', 'default'], ['-l', 'app=web'], ['--manager=kcri']])
      expect((await get(testbed, [...args, '--no-headers'])).stdout.split('\n')).toHaveLength(4);
    for (const args of [['-n', 'test'], ['-l', 'app=none'], ['--manager=none']])
      expect(await get(testbed, args)).toMatchObject({stdout: '', stderr: 'No resources found\n'});
    expect(await get(testbed, ['-n', 'test', '--exit-code'])).toMatchObject({stderr: '', exitCode: 2});
    expect(await get(testbed, ['missing'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('pod "missing" not found') as string,
    });
  });

  test('shows claims without a pod, and orphaned volumes with hostile names on one line', async () => {
    const testbed = await synced();
    await mkdir(join(testbed.rootDir, 'claims/shop/old'), {recursive: true});
    const orphan = join(testbed.rootDir, 'pods/u1/volumes/kubernetes.io~empty-dir/x\u001b[31m\ny');
    await mkdir(orphan, {recursive: true});
    const {stdout} = await get(testbed, ['--no-headers']);
    expect(stdout.replaceAll(/ +/g, ' ')).toMatch(
      /<none> uid u1 x\\x1b\[31m\\ny emptyDir <none> orphaned .*\nshop <none> old claim <none> unused .*\n$/,
    );
    expect((await get(testbed, ['-n', 'shop'])).stdout).toMatch(/\n<none> +old +claim /);
    // Without the runtime, nobody knows whether the pod exists.
    testbed.runtime.injectError('ListPodSandbox', {code: 'UNAVAILABLE', message: 'down'});
    const {stdout: unknown} = await get(testbed, ['--no-headers']);
    expect(unknown).toMatch(/uid u1 .*emptyDir +<none> +mounted/);
  });

  test('shows the volumes of the kubelet of the machine, whose answer says which pods exist', async () => {
    const rootDir = await temporaryDirectory();
    for (const uid of ['uid-of-db', 'uid-of-none'])
      await mkdir(join(rootDir, `pods/${uid}/volumes/kubernetes.io~empty-dir/cache`), {recursive: true});
    const db = aSandbox({name: 'db', namespace: 'shop', uid: 'uid-of-db'});
    await using runtime = await FakeRuntime.start({sandboxes: [db]});
    const pod = {metadata: {uid: 'uid-of-db', name: 'db', namespace: 'shop'}, spec: {containers: []}};
    const server = createServer((_request, response) => response.end(JSON.stringify({items: [pod]})));
    const port = await listenOnLoopback(server);
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const run = async (readOnlyPort: number) => {
      const localKubelet = {readOnlyPort, port: CLOSED, credentials: [], rootDir};
      const own = await temporaryDirectory();
      const line = ['--root-dir', own, 'get', 'volumes', '--no-headers'];
      const {stdout} = await runKcri(line, {endpoint: runtime.endpoint, localKubelet});
      return stdout.replaceAll(/ +/g, ' ').replaceAll(/\d\S*B/g, 'SIZE');
    };
    const first = 'shop db cache emptyDir <none> mounted SIZE -\n';
    expect(await run(port)).toBe(`${first}<none> uid uid-of-none cache emptyDir <none> orphaned SIZE -\n`);
    expect(await run(CLOSED)).toBe(`${first}<none> uid uid-of-none cache emptyDir <none> mounted SIZE -\n`);
  });

  test('shows a pod that starts while its volumes are read as a pod', async () => {
    const rootDir = await temporaryDirectory();
    await mkdir(join(rootDir, 'pods/uid-of-new/volumes/kubernetes.io~empty-dir/cache'), {recursive: true});
    const db = aSandbox({name: 'db', namespace: 'shop', uid: 'uid-of-db'});
    await using runtime = await FakeRuntime.start({sandboxes: [db]});
    const pods = ['db', 'new'].map((name) => ({
      metadata: {uid: `uid-of-${name}`, name, namespace: 'shop'},
      spec: {containers: []},
    }));
    let answers = 0;
    const server = createServer((_request, response) => {
      answers += 1;
      response.end(JSON.stringify({items: pods.slice(0, answers)}));
    });
    const readOnlyPort = await listenOnLoopback(server);
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const localKubelet = {readOnlyPort, port: CLOSED, credentials: [], rootDir};
    const line = ['--root-dir', await temporaryDirectory(), 'get', 'volumes', '--no-headers'];
    const {stdout} = await runKcri(line, {endpoint: runtime.endpoint, localKubelet});
    expect(stdout).toMatch(/^shop +new +cache +emptyDir +<none> +mounted/);
  });

  test('knows its own pods in a root directory that is that of the kubelet too', async () => {
    const testbed = await synced();
    await mkdir(join(testbed.rootDir, 'pods/u1/volumes/kubernetes.io~empty-dir/x'), {recursive: true});
    const link = join(await temporaryDirectory(), 'kubelet');
    await symlink(testbed.rootDir, link);
    const localKubelet = {readOnlyPort: CLOSED, port: CLOSED, credentials: [], rootDir: link};
    const {stdout} = await get(testbed, ['--no-headers'], {localKubelet});
    expect(stdout).toMatch(/uid u1 +x +emptyDir +<none> +orphaned/);
  });

  test('says what cannot be read', async () => {
    const testbed = await synced();
    await mkdir(join(testbed.rootDir, 'pods/u1'));
    await writeFile(join(testbed.rootDir, 'pods/u1/volumes'), '');
    const {stderr, stdout} = await get(testbed);
    expect(stderr).toMatch(
      /^kcri: warning: not all volumes are shown: .*pods\/u1\/volumes": not a directory\n$/,
    );
    expect(stdout).toContain('cache');
  });

  test('works only on this machine', async () => {
    const {stderr, exitCode} = await runKcri(['-r', 'ssh://node-1', 'get', 'volumes']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('"get volumes" works only on this machine, not on ssh://node-1');
  });
});
