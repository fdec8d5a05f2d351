import {randomBytes} from 'node:crypto';
import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {IMAGE} from '../harness/manifests.js';
import {startPrivateRuntime, type TestRuntime} from '../harness/test-runtime.js';
import {newestRuntime} from '../harness/runtimes-under-test.js';

interface Inspected {
  readonly info: {readonly config: Readonly<Record<string, unknown>>};
  readonly status: Readonly<Record<string, unknown>>;
}

const POD = {
  metadata: {name: 'round', namespace: 'default', uid: randomBytes(8).toString('hex'), attempt: 0},
  hostname: 'round',
  labels: {app: 'round', quoted: '"<&>"'},
  annotations: {yes: 'no', multi: 'a\nb\n'},
  port_mappings: [{container_port: 80, protocol: 'UDP'}],
  linux: {security_context: {namespace_options: {pid: 'CONTAINER'}}},
};
const GENERATED_POD = {
  ...POD,
  metadata: {...POD.metadata, name: 'generated', uid: randomBytes(8).toString('hex')},
  hostname: 'generated',
};
const CONTAINER = {
  metadata: {name: 'main', attempt: 0},
  image: {image: IMAGE},
  command: ['sleep'],
  args: ['3600'],
  working_dir: '/tmp',
  envs: [{key: 'GREETING', value: 'hello=world "x"'}],
  labels: {one: '1', truth: 'true'},
  mounts: [{host_path: '/tmp', container_path: '/data', readonly: true}],
  linux: {
    resources: {cpu_shares: 512, memory_limit_in_bytes: 67_108_864},
    security_context: {run_as_user: {value: 0}, capabilities: {add_capabilities: ['NET_ADMIN']}},
  },
};

describe.each(newestRuntime)('the output of inspect as input: $name', (which) => {
  let runtime: TestRuntime;
  let dir: string;
  beforeAll(async () => {
    runtime = await startPrivateRuntime(which);
    dir = await mkdtemp(join(tmpdir(), 'kcri-round-'));
  });
  afterAll(async () => {
    await runtime.stop();
    await rm(dir, {recursive: true});
  });

  async function kcri(...args: readonly string[]): Promise<string> {
    const {stdout, exitCode, stderr} = await runtime.kcri(args);
    expect({args, exitCode, stderr: stderr.replace(/^kcri: (?:warning|note): .*\n/gm, '')}).toEqual({
      args,
      exitCode: 0,
      stderr: '',
    });
    return stdout.trim();
  }

  async function file(name: string, text: string): Promise<string> {
    const path = join(dir, name);
    await writeFile(path, text);
    return path;
  }

  async function inspected(command: string, id: string): Promise<Inspected> {
    return JSON.parse(await kcri(command, id)) as Inspected;
  }

  test('creates an equal pod and container, from JSON, YAML and the status alone', async () => {
    const pod = await kcri('runp', await file('pod.json', JSON.stringify(POD)));
    const podJson = await file('pod-inspected.json', await kcri('inspectp', pod));
    const first = await kcri('create', pod, await file('c.json', JSON.stringify(CONTAINER)), podJson);
    const original = (await inspected('inspect', first)).info.config;

    for (const [output, name] of [
      ['json', 'again'],
      ['yaml', 'once-more'],
    ] as const) {
      const text = await kcri('inspect', '-o', output, first);
      const renamed = text.replace(/("?name"?: )"?main"?$/m, `$1"${name}"`);
      const id = await kcri('create', pod, await file(`c-${output}`, renamed), podJson);
      const {config} = (await inspected('inspect', id)).info;
      expect(config).toEqual({...original, metadata: {name}});
    }

    const {status} = await inspected('inspect', first);
    const bare = {...status, metadata: {name: 'bare'}};
    const id = await kcri('create', pod, await file('bare.json', JSON.stringify(bare)), podJson);
    expect(await inspected('inspect', id)).toMatchObject({
      status: {metadata: {name: 'bare'}, mounts: status['mounts'], labels: CONTAINER.labels},
    });

    const {config: podConfig} = (await inspected('inspectp', pod)).info;
    await kcri('rmp', '-f', pod);
    const again = await kcri('runp', podJson);
    expect((await inspected('inspectp', again)).info.config).toEqual(podConfig);
    expect((await inspected('inspectp', again)).status).toMatchObject({
      metadata: POD.metadata,
      labels: POD.labels,
      annotations: POD.annotations,
    });
    await kcri('rmp', '-f', again);
  });

  test('generate writes manifests from which sync creates equal pods, for crictl and for kcri', async () => {
    const pod = await kcri('runp', await file('gen-pod.json', JSON.stringify(GENERATED_POD)));
    const config = await file('gen-container.json', JSON.stringify(CONTAINER));
    const id = await kcri('create', pod, config, await file('gen-pod-2.json', await kcri('inspectp', pod)));
    await kcri('start', id);
    const original = (await inspected('inspect', id)).info.config;
    const manifest = await kcri('generate', 'generated');
    await kcri('rmp', '-f', pod);

    const generated = await file('generated.yaml', manifest);
    await kcri('plan', '--offline', generated);
    await kcri('sync', generated);
    const {config: again} = (await inspected('inspect', await kcri('ps', '-q', '--name', 'main'))).info;
    expect(again).toMatchObject({
      command: original['command'],
      args: original['args'],
      working_dir: original['working_dir'],
      envs: expect.arrayContaining(original['envs'] as unknown[]) as unknown,
      mounts: expect.arrayContaining([expect.objectContaining(CONTAINER.mounts[0]!)]) as unknown,
      linux: {
        resources: {memory_limit_in_bytes: 67_108_864},
        security_context: {capabilities: {add_capabilities: ['NET_ADMIN']}},
      },
    });

    // kcri has the manifest of its own pod, and a pod that it does not manage has the same containers.
    expect(await kcri('generate', 'generated')).toBe(manifest);
    const derived = await runtime.kcri(['--root-dir', dir, 'generate', 'generated'], {
      env: {CONTAINER_RUNTIME_ENDPOINT: runtime.endpoint},
    });
    expect(derived.exitCode).toBe(0);
    expect(derived.stdout).toContain('mountPath: /data');
    expect(derived.stdout).not.toMatch(/etc-hosts|termination-log|kubernetes\.io/);
    expect(await kcri('delete', generated)).toBe('pod "default/generated" deleted');
  });

  test('templates print values from the runtime', async () => {
    expect(await kcri('info', '-o', 'jsonpath={.status.conditions[?(@.type=="RuntimeReady")].status}')).toBe(
      'true',
    );
    expect(await kcri('images', '-o', 'go-template={{len .images}}')).toMatch(/^[1-9]\d*$/);
    expect(await kcri('pods', '-o', 'jsonpath={.items[*].id}')).toBe('');
  });
});
