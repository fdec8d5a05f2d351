import {chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../base/temporary-directory.js';
import {startFailingProxy} from '../harness/failing-proxy.js';
import {aContainer, aManifest, type ManifestFields} from '../harness/manifests.js';
import {startPodTestbed, type PodTestbed} from '../harness/pod-testbed.js';
import {ALICE, startImageRegistry, type ImageRegistry} from '../harness/image-registry.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Returns a Secret with a login for a registry. */
const aSecret = (name: string, host: string, password = ALICE.password): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name},
    type: 'kubernetes.io/dockerconfigjson',
    data: {
      '.dockerconfigjson': base64(
        JSON.stringify({auths: {[host]: {auth: base64(`${ALICE.name}:${password}`)}}}),
      ),
    },
  });

/** Returns a manifest with a pod that runs an image and, in `beside`, other objects. */
function aPod(name: string, image: string, {spec = {}, beside = [], ...container}: PodFields = {}): string {
  const containers = [aContainer('main', {image, ...container})];
  return [aManifest(name, {containers, ...spec}), ...beside].join('\n---\n');
}

interface PodFields extends ManifestFields {
  readonly spec?: ManifestFields;
  readonly beside?: readonly string[];
}

describe.each(newestRuntime)('images of pods, on $name', (which) => {
  let testbed: PodTestbed;
  let open: ImageRegistry;
  let closed: ImageRegistry;
  let home: string;
  beforeAll(async () => {
    [open, closed] = await Promise.all([startImageRegistry(), startImageRegistry(ALICE)]);
    testbed = await startPodTestbed(which);
    home = await mkdtemp(join(tmpdir(), 'kcri-home-'));
  });
  afterAll(async () => {
    await testbed[Symbol.asyncDispose]();
    await Promise.all([open.stop(), closed.stop(), rm(home, {recursive: true})]);
  });

  /** Syncs as a user without stored credentials, and deletes the pod at the end of the test. */
  async function sync(name: string, manifest: string, args: readonly string[] = []) {
    onTestFinished(async () => {
      if ((await testbed.find(name)) !== undefined) await testbed.delete(name);
    });
    return await testbed.sync(manifest, args, {env: {HOME: home}, cwd: home});
  }

  const READY = {exitCode: 0, stderr: ''};

  const records = async (folder: 'pulling' | 'pulled'): Promise<string> => {
    const dir = join(testbed.runtime.rootDir, 'image_manager', folder);
    const names = await readdir(dir);
    return (await Promise.all(names.map((name) => readFile(join(dir, name), 'utf8')))).join('');
  };

  test('a public image can be used by any pod, and is recorded', async () => {
    const image = await open.push('team/open', '1');
    expect(await sync('img-open', aPod('img-open', image))).toMatchObject(READY);
    expect(await records('pulled')).toContain(`"${open.host}/team/open":{"nodePodsAccessible":true}`);
    expect(await records('pulling')).toBe('');
  });

  test("links in an image volume lead to nothing of the node, also as a volumeMount's subPath", async () => {
    const secret = await temporaryDirectory();
    await writeFile(join(secret, 'marker'), 'of the node');
    const image = await open.push('team/links', '1', [
      {type: 'directory', path: 'data'},
      {type: 'symlink', path: 'data/absolute', target: secret},
      {type: 'symlink', path: 'data/up', target: `${'../'.repeat(20)}${secret}`},
    ]);
    const spec = {volumes: [{name: 'v', image: {reference: image}}]};
    const mounting = (mount: object, command: string): string =>
      aPod('img-links', image, {
        spec: {...spec, restartPolicy: 'Never'},
        command: ['sh', '-c', command],
        volumeMounts: [{name: 'v', mountPath: '/v', ...mount}],
      });
    const complete = async (mount: object, command: string) => {
      const result = await sync('img-links', mounting(mount, command), [
        '--wait',
        'complete',
        '--logs',
        '--rm',
      ]);
      expect(`${result.stdout}${result.stderr}`).not.toContain('marker');
      return result;
    };
    if (which.folder === undefined) {
      expect((await complete({}, 'true')).stderr).toContain('does not support image volumes');
      return;
    }
    const listed = await complete({}, 'ls /v/data/absolute/ /v/data/up/ 2>/dev/null; ls -l /v/data');
    expect(listed.stdout).toContain('absolute -> ');
    // containerd 2.1 mounts the whole image.
    for (const subPath of ['data/absolute', 'data/up']) await complete({subPath}, 'ls -R /v');
    expect((await complete({subPath: 'data/..'}, 'true')).stderr).toContain("must not contain '..'");
  });

  test('a Secret gives its pod access, and no other pod to the pulled image', async () => {
    const image = await closed.pushUnique('team/closed', '1');
    const secret = aSecret('login', closed.host);
    const own = {spec: {imagePullSecrets: [{name: 'login'}]}, beside: [secret]};
    expect(await sync('img-own', aPod('img-own', image, own))).toMatchObject(READY);
    expect(await records('pulled')).toMatch(
      /"kubernetesSecrets":\[\{"uid":"","namespace":"default","name":"login"/,
    );
    expect(await records('pulled')).not.toContain(ALICE.password);

    const never = {imagePullPolicy: 'Never'};
    const other = await sync('img-other', aPod('img-other', image, never));
    expect(other).toMatchObject({exitCode: 1});
    expect(other.stderr).toContain('is not present with pull policy of Never');
    const account = JSON.stringify({
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: {name: 'default'},
      imagePullSecrets: [{name: 'same'}],
    });
    const same = {...never, beside: [aSecret('same', closed.host), account]};
    expect(await sync('img-same', aPod('img-same', image, same))).toMatchObject(READY);
  });

  test('a wrong password and a missing Secret are reported without passwords', async () => {
    const image = await closed.push('team/app', '1');
    const wrong = aPod('img-wrong', image, {
      spec: {imagePullSecrets: [{name: 'gone'}, {name: 'login'}]},
      beside: [aSecret('login', closed.host, 'wrong-secret')],
    });
    const {stdout, stderr, exitCode} = await sync('img-wrong', wrong, ['-D', '-o', 'json']);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/ErrImagePull: .*team\/app:1.*(?:401|authorization failed)/);
    expect(stdout).toContain(
      'Unable to retrieve some image pull secrets (gone); attempting to pull the image may not succeed.',
    );
    expect(stdout + stderr).not.toMatch(new RegExp(`wrong-secret|${base64('wrong-secret').slice(0, -2)}`));
  });

  test("the node's docker config and a credential provider give access", async () => {
    const image = await closed.push('team/node', '1');
    const config = join(home, '.docker', 'config.json');
    await mkdir(join(home, '.docker'));
    const login = {auths: {[closed.host]: {auth: base64(`${ALICE.name}:${ALICE.password}`)}}};
    await writeFile(config, JSON.stringify(login));
    const always = {imagePullPolicy: 'Always'};
    expect(await sync('img-node', aPod('img-node', image, always))).toMatchObject(READY);
    await writeFile(config, '{}');

    const bin = join(home, 'bin');
    await mkdir(bin);
    const answer = {
      kind: 'CredentialProviderResponse',
      apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
      cacheKeyType: 'Registry',
      auth: {[closed.host]: {username: ALICE.name, password: ALICE.password}},
    };
    await writeFile(join(bin, 'vault'), `#!/bin/sh\nprintf '%s' '${JSON.stringify(answer)}'\n`);
    await chmod(join(bin, 'vault'), 0o755);
    const providers = join(home, 'providers.yaml');
    await writeFile(
      providers,
      'apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\nproviders:\n- name: vault\n' +
        `  matchImages: ["${closed.host}"]\n  defaultCacheDuration: 10m\n  apiVersion: ${answer.apiVersion}\n`,
    );
    const flags = [
      '--image-credential-provider-config',
      providers,
      '--image-credential-provider-bin-dir',
      bin,
    ];
    expect(await sync('img-vault', aPod('img-vault', image, always), flags)).toMatchObject(READY);
    expect(await sync('img-none', aPod('img-none', image, always))).toMatchObject({exitCode: 1});
  });

  test("a missing tag and an unavailable registry are reported with the runtime's message", async () => {
    const missing = await sync('img-missing', aPod('img-missing', `${open.host}/team/open:nosuch`));
    expect(missing).toMatchObject({exitCode: 1});
    expect(missing.stderr).toMatch(/ErrImagePull: .*team\/open:nosuch.*not found/);
    const proxy = await startFailingProxy(open.host);
    await proxy[Symbol.asyncDispose]();
    const down = await sync('img-down', aPod('img-down', `${proxy.host}/team/open:1`));
    expect(down).toMatchObject({exitCode: 1});
    expect(down.stderr).toMatch(/ErrImagePull: .*connection refused/);
    expect(await records('pulling')).toBe('');
  });

  test('an interrupted download fails, and the next pull succeeds', async () => {
    await using proxy = await startFailingProxy(open.host);
    await open.pushUnique('team/cut', '1');
    const pod = aPod('img-cut', `${proxy.host}/team/cut:1`);
    proxy.set({kind: 'cut', afterBytes: 200_000});
    const {stderr, exitCode} = await sync('img-cut', pod);
    expect({exitCode, failed: proxy.hasFailed()}).toEqual({exitCode: 1, failed: true});
    expect(stderr).toMatch(/ErrImagePull: .*team\/cut:1/);
    expect(await records('pulling')).toBe('');
    proxy.set({kind: 'open'});
    expect(await sync('img-cut', pod)).toMatchObject(READY);
  });

  test('Ctrl-C ends a stalled pull', async () => {
    await using proxy = await startFailingProxy(open.host);
    await open.pushUnique('team/stall', '1');
    proxy.set({kind: 'stall', afterBytes: 200_000});
    const pod = aPod('img-stall', `${proxy.host}/team/stall:1`);
    const syncing = testbed.startSync(pod, ['--rm'], {env: {HOME: home}, cwd: home});
    await expect.poll(proxy.hasFailed).toBe(true);
    syncing.kill('SIGINT');
    expect((await syncing.exited).exitCode).toBe(130);
    expect(await testbed.find('img-stall')).toBeUndefined();
  });
});
