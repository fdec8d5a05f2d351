import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import {runKcri, type RunResult} from '../cli/run-kcri.js';
import {anImage, aSandbox, aContainer, BUSYBOX, FakeRuntime} from '../fakes/fake-runtime.js';
import type {ProfileName} from '../fakes/runtime/profiles/profiles.js';
import {aContainerSpec, aManifest, createTestbed, expectUserError} from './command-testbed.js';

/** A pod and a container as crictl's users write them. */
const POD_CONFIG = {
  metadata: {name: 'Web_1', namespace: 'shop', uid: 'u1', attempt: 0},
  hostname: 'web',
  labels: {app: 'web'},
  annotations: {team: 'checkout'},
  port_mappings: [
    {container_port: 80, host_port: 8080},
    {container_port: 53, protocol: 'UDP'},
  ],
  linux: {security_context: {namespace_options: {pid: 'POD', ipc: 'NODE'}}},
};
const CONTAINER_CONFIG = {
  metadata: {name: 'main'},
  image: {image: BUSYBOX},
  command: ['sh', '-c'],
  args: ['sleep 60'],
  working_dir: '/srv',
  envs: [
    {key: 'GREETING', value: 'hello $(NAME)'},
    {key: 'DB_PASSWORD', value: 'secret'},
  ],
  mounts: [{host_path: '/srv/data', container_path: '/data', readonly: true}],
  log_path: 'main.log',
  stdin: true,
  tty: true,
};

async function generate(runtime: FakeRuntime, ...args: readonly string[]): Promise<RunResult> {
  return await runKcri(['--root-dir', '/nonexistent/root', 'generate', ...args], {
    endpoint: runtime.endpoint,
  });
}

async function startCrictlPod(profile: ProfileName): Promise<FakeRuntime> {
  const testbed = await createTestbed({profile, images: [anImage()]});
  const files = {container: CONTAINER_CONFIG, pod: {...POD_CONFIG, log_directory: testbed.directory}};
  for (const [name, config] of Object.entries(files))
    await writeFile(join(testbed.directory, `${name}.json`), JSON.stringify(config));
  const paths = Object.keys(files).map((name) => join(testbed.directory, `${name}.json`));
  const {exitCode, stderr} = await runKcri(['run', '--no-pull', ...paths], {
    endpoint: testbed.runtime.endpoint,
  });
  expect({exitCode, stderr}).toMatchObject({exitCode: 0});
  return testbed.runtime;
}

describe('generate', () => {
  // Proves: generate
  test.each(['containerd-1.6', 'containerd-1.7', 'containerd-2', 'cri-o'] as const)(
    'writes the manifest of a pod that crictl created on %s, which plan and sync accept',
    async (profile) => {
      const runtime = await startCrictlPod(profile);
      const {stdout, stderr, exitCode} = await generate(runtime, 'Web_1');
      expect({exitCode, stderr}).toMatchObject({exitCode: 0});
      expect(parse(stdout)).toMatchObject({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {name: 'web-1', namespace: 'shop', labels: {app: 'web'}, annotations: {team: 'checkout'}},
        spec: {
          hostIPC: true,
          shareProcessNamespace: true,
          containers: [
            {
              name: 'main',
              image: BUSYBOX,
              workingDir: '/srv',
              env: [
                {name: 'GREETING', value: 'hello $$(NAME)'},
                {name: 'DB_PASSWORD', value: 'secret'},
              ],
              volumeMounts: [{name: 'data', mountPath: '/data', readOnly: true}],
            },
          ],
          volumes: [{name: 'data', hostPath: {path: '/srv/data'}}],
        },
      });
      expect(stderr).toContain('note: pod "shop/web-1": container "main": DB_PASSWORD may be secret');
      const other = await createTestbed();
      expect(await other.run(['plan', '--offline', '-'], {stdin: stdout})).toMatchObject({exitCode: 0});
      expect(await other.run(['sync', '-'], {stdin: stdout})).toMatchObject({exitCode: 0});
      const [created] = other.runtime.containers;
      expect([...created!.config.command, ...created!.config.args]).toEqual(['sh', '-c', 'sleep 60']);
      const again = await generate(other.runtime, 'web-1');
      const [first, second] = [stdout, again.stdout].map(
        (text) => parse(text) as {spec: {containers: unknown[]}},
      );
      expect(second).toMatchObject({
        spec: {
          containers: [{...(first!.spec.containers[0] as object), command: expect.any(Array) as unknown}],
        },
      });
    },
  );

  test('writes image, mounts and a note for a runtime that returns no commands', async () => {
    const runtime = await startCrictlPod('cri-dockerd');
    const {stdout, stderr, exitCode} = await generate(runtime, 'Web_1');
    const mounts = [{name: 'data', mountPath: '/data', readOnly: true}];
    expect({exitCode, pod: parse(stdout) as unknown}).toMatchObject({
      exitCode: 0,
      pod: {spec: {containers: [{name: 'main', image: BUSYBOX, volumeMounts: mounts}]}},
    });
    expect(stderr).toContain('the runtime does not return commands and environment');
  });

  test('fails if the runtime becomes unavailable while the image is read', async () => {
    const runtime = await startCrictlPod('cri-dockerd');
    runtime.injectError('ImageStatus', {code: 'UNAVAILABLE', message: 'shutting down'});
    const {stdout, stderr, exitCode} = await generate(runtime, 'Web_1');
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toContain('shutting down');
  });

  test('writes ports, terminal and host name that containerd knows', async () => {
    const runtime = await startCrictlPod('containerd-2');
    const {stdout} = await generate(runtime, 'shop/Web_1');
    expect(parse(stdout)).toMatchObject({
      spec: {
        hostname: 'web',
        containers: [
          {
            command: ['sh', '-c'],
            args: ['sleep 60'],
            ports: [
              {containerPort: 80, hostPort: 8080},
              {containerPort: 53, protocol: 'UDP'},
            ],
            stdin: true,
            tty: true,
          },
        ],
      },
    });
  });

  test('writes the manifest that a pod of kcri was created from, without values of Secrets', async () => {
    const testbed = await createTestbed();
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: {name: 'login'},
      stringData: {password: 'hunter22'},
    };
    const env = [{name: 'PASSWORD', valueFrom: {secretKeyRef: {name: 'login', key: 'password'}}}];
    const probe = {exec: {command: ['true']}, periodSeconds: 7};
    const manifest = aManifest({containers: [aContainerSpec('main', {env, readinessProbe: probe})]});
    const file = await testbed.write('pod.yaml', manifest);
    const stdin = `${manifest}\n---\n${JSON.stringify(secret)}\n`;
    expect(await testbed.run(['sync', '-'], {stdin})).toMatchObject({exitCode: 0});
    const options = {endpoint: testbed.runtime.endpoint};
    const {stdout, stderr, exitCode} = await runKcri(
      ['--root-dir', testbed.rootDir, 'generate', 'web'],
      options,
    );
    expect(exitCode).toBe(0);
    const {apiVersion, kind, metadata, spec} = JSON.parse(manifest) as Record<string, {containers: object[]}>;
    const [container] = spec!.containers as Record<string, unknown>[];
    expect(parse(stdout)).toEqual({
      apiVersion,
      kind,
      metadata,
      // The pull policy is the default of a tagged image.
      spec: {...spec, containers: [{...container, imagePullPolicy: undefined}]},
    });
    expect(stderr).toContain('add the manifests of the Secrets and ConfigMaps that it refers to: login');
    expect(`${stdout}${stderr}`).not.toContain('hunter22');
    testbed.runtime.clearCalls();
    const again = await testbed.run(['sync', '-'], {stdin: `${stdout}---\n${JSON.stringify(secret)}\n`});
    expect({...again, calls: testbed.mutatingCalls}).toMatchObject({exitCode: 0, calls: []});
    expect(file).not.toBe('');
  });

  // Proves: generate --output
  test('writes one object or a List in JSON, and a Pod with only the named container', async () => {
    const sandbox = aSandbox({name: 'web'});
    const other = aSandbox({name: 'db', uid: 'u2'});
    await using runtime = await FakeRuntime.start({
      images: [anImage()],
      sandboxes: [sandbox, other],
      containers: [
        aContainer({sandbox, name: 'a'}),
        aContainer({sandbox, name: 'b'}),
        aContainer({sandbox: other, name: 'c'}),
      ],
    });
    const one = JSON.parse((await generate(runtime, '-o', 'json', 'web')).stdout) as unknown;
    expect(one).toMatchObject({kind: 'Pod', spec: {containers: [{name: 'a'}, {name: 'b'}]}});
    const list = JSON.parse((await generate(runtime, '-o', 'json', 'web/b', 'db')).stdout) as unknown;
    expect(list).toMatchObject({
      kind: 'List',
      items: [{spec: {containers: [{name: 'b'}]}}, {spec: {containers: [{name: 'c'}]}}],
    });
  });

  test('reports an unknown name and writes the others', async () => {
    await using runtime = await FakeRuntime.start({
      images: [anImage()],
      sandboxes: [aSandbox()],
      containers: [aContainer()],
    });
    const result = await generate(runtime, 'wbe', 'web');
    expectUserError(result);
    expect(result.stderr).toMatch(/wbe.*\n.*web/);
    expect({exitCode: result.exitCode, pod: parse(result.stdout) as unknown}).toMatchObject({
      exitCode: 1,
      pod: {kind: 'Pod'},
    });
  });

  test('a name of several pods is an error that lists them, also before they have a sandbox', async () => {
    const testbed = await createTestbed();
    testbed.runtime.injectError('RunPodSandbox', {code: 'UNKNOWN', message: 'no network'});
    for (const namespace of ['shop', 'blog']) {
      const stdin = aManifest({metadata: {namespace}});
      await testbed.run(['sync', '--timeout=1ms', '-'], {stdin});
    }
    const options = {endpoint: testbed.runtime.endpoint};
    const kcri = async (...args: readonly string[]) =>
      await runKcri(['--root-dir', testbed.rootDir, ...args], options);
    const expected = '"web" matches 2 pods\nhint: use one of blog/web, shop/web\n';
    const {stdout, stderr, exitCode} = await kcri('generate', 'web');
    expect({stdout, exitCode}).toEqual({stdout: '', exitCode: 1});
    expect(stderr).toContain(expected);
    expect((await kcri('tree', 'web')).stderr).toContain(expected);
    const one = await kcri('generate', 'shop/web');
    expect(parse(one.stdout)).toMatchObject({metadata: {name: 'web', namespace: 'shop'}});
  });

  test('a name of a pod of kcri and of another one is ambiguous', async () => {
    const other = aSandbox({name: 'web', namespace: 'blog', uid: 'u2'});
    const testbed = await createTestbed({images: [anImage()], sandboxes: [other]});
    expect(await testbed.run(['sync', '-'], {stdin: aManifest()})).toMatchObject({exitCode: 0});
    const {stderr, exitCode} = await runKcri(['--root-dir', testbed.rootDir, 'generate', 'web'], {
      endpoint: testbed.runtime.endpoint,
    });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('hint: use one of blog/web, default/web\n');
  });

  test('needs a name', async () => {
    await using runtime = await FakeRuntime.start();
    expect(await generate(runtime)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('no pod specified') as string,
    });
  });
});
