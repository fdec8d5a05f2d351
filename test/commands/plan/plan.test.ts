import {readdir} from 'node:fs/promises';
import {describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import {aContainer, anImage, aSandbox, type RecordedCall} from '../../fakes/fake-runtime.js';
import {
  aContainerSpec,
  aManifest,
  createTestbed,
  aScript,
  expectUserError,
  isMutatingCall,
  NO_LEFTOVERS,
  type CommandTestbed,
} from '../command-testbed.js';

interface Call {
  readonly method: string;
  readonly request: unknown;
}

interface Plan {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
  readonly replaces?: string;
  readonly calls: readonly Call[];
}

async function planOf(testbed: CommandTestbed, args: readonly string[]): Promise<readonly Plan[]> {
  const {stdout, stderr, exitCode} = await testbed.run(['plan', ...args, '-o', 'json']);
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  return JSON.parse(stdout) as readonly Plan[];
}

/** Replaces values that a plan cannot know: IDs, addresses, random names, the time when the manifest was read. */
function withPlaceholders(testbed: CommandTestbed, calls: readonly RecordedCall[]): readonly Call[] {
  const known = new Map<string, string>();
  for (const {config, id, ips} of testbed.runtime.sandboxes) {
    known.set(
      id,
      `<sandbox ${config.metadata!.namespace}/${config.metadata!.name}/${config.metadata!.attempt}>`,
    );
    for (const ip of ips) known.set(ip, '<pod IP>');
  }
  for (const {config, id} of testbed.runtime.containers)
    known.set(id, `<container ${config.metadata!.name}/${config.metadata!.attempt}>`);
  for (const image of testbed.runtime.state.registry) known.set(image.id, `<image ${image.repoTags[0]!}>`);
  return calls
    .filter(({method}) => isMutatingCall(method))
    .map(({method, request}) => {
      const text = withPlainEnv(request, [...known]);
      return {method, request: withoutTimes(JSON.parse(text))};
    });
}

function withPlainEnv(request: unknown, known: readonly (readonly [string, string])[]): string {
  const text = JSON.stringify(request, (key, value: unknown) =>
    key === 'envs' && Array.isArray(value)
      ? (value as {key: string; value?: string}[]).map(({key, value = ''}) => ({
          key,
          value: Buffer.from(value, 'base64').toString(),
        }))
      : value,
  );
  return known.reduce((result, [actual, placeholder]) => result.replaceAll(actual, placeholder), text);
}

function withoutTimes(value: unknown): unknown {
  const text = JSON.stringify(value)
    .replaceAll(/(config\.seen":")[^"]*/g, '$1<seen>')
    .replaceAll(/(\/containers\/[a-z]+\/)[0-9a-f]{8}"/g, '$1<random>"');
  return JSON.parse(text) as unknown;
}

const env = [
  {name: 'POD_IP', valueFrom: {fieldRef: {fieldPath: 'status.podIP'}}},
  {name: 'GREETING', value: 'hello $(POD_IP)'},
];
const CASES: Readonly<Record<string, string>> = {
  'one container': aManifest(),
  'init containers and an environment': aManifest({
    initContainers: [aScript('first', 'true'), aScript('second', 'true')],
    containers: [aContainerSpec('main', {env}), aContainerSpec('other')],
  }),
  'an image to be pulled': aManifest({
    containers: [
      aContainerSpec('main', {image: 'localhost:5000/app:1'}),
      aContainerSpec('other', {image: 'localhost:5000/app:1'}),
      aContainerSpec('third', {image: 'localhost:5000/app:1', imagePullPolicy: 'Always'}),
    ],
  }),
  'an image without a tag': aManifest({
    containers: [aContainerSpec('main', {image: 'localhost:5000/latest'})],
  }),
  'a volume': aManifest({
    containers: [aContainerSpec('main', {volumeMounts: [{name: 'data', mountPath: '/data'}]})],
    volumes: [{name: 'data', emptyDir: {}}],
  }),
  "the host's network": aManifest({hostNetwork: true, containers: [aContainerSpec('main', {env})]}),
  'a job': aManifest({restartPolicy: 'Never'}),
};

const registry = ['localhost:5000/app:1', 'localhost:5000/latest:latest'].map((name) => anImage({name}));

describe('a plan lists the calls of the sync', () => {
  test.each(Object.keys(CASES))('for %s', async (name) => {
    const testbed = await createTestbed({registry});
    const file = await testbed.write('pod.json', CASES[name]!);
    const [plan] = await planOf(testbed, [file]);
    expect(plan!.calls.length).toBeGreaterThan(2);
    testbed.runtime.clearCalls();
    await testbed.run(['sync', file]);
    expect(plan!.calls.map(({method, request}) => ({method, request: withoutTimes(request)}))).toEqual(
      withPlaceholders(testbed, testbed.runtime.calls),
    );
  });

  test('for a manifest that replaces a pod, with its UID', async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', await testbed.write('pod.json', aManifest())]);
    const [old] = testbed.runtime.sandboxes;
    const file = await testbed.write('pod.json', aManifest({containers: [aScript('main', 'sleep 60')]}));
    const [plan] = await planOf(testbed, [file]);
    expect(plan!.replaces).toBe(old!.config.metadata!.uid);
    testbed.runtime.clearCalls();
    await testbed.run(['sync', file]);
    expect(plan!.calls.map(({method, request}) => ({method, request: withoutTimes(request)}))).toEqual(
      withPlaceholders(testbed, testbed.runtime.calls),
    );
  });

  test('for a container to be restarted', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('pod.json', aManifest());
    await testbed.run(['sync', file]);
    testbed.runtime.exitContainer(testbed.runtime.containers[0]!.id, 1);
    const [plan] = await planOf(testbed, [file]);
    testbed.runtime.clearCalls();
    await testbed.run(['sync', file]);
    expect(plan!.calls.map(({method}) => method)).toEqual(['CreateContainer', 'StartContainer']);
    expect(testbed.mutatingCalls).toEqual(['CreateContainer', 'StartContainer']);
  });

  test('for a container with several dead instances, of which one is kept', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('pod.json', aManifest());
    for (let crash = 0; crash < 2; crash++) {
      await testbed.run(['sync', file]);
      const running = testbed.runtime.containers.find(({state}) => state === 'CONTAINER_RUNNING');
      testbed.runtime.exitContainer(running!.id, 1);
    }
    const [oldest] = testbed.runtime.containers;
    const [plan] = await planOf(testbed, [file]);
    testbed.runtime.clearCalls();
    await testbed.run(['sync', file]);
    const removals = testbed.runtime.callsTo('RemoveContainer');
    expect(removals).toMatchObject([{code: 'OK', request: {container_id: oldest!.id}}]);
    expect(plan!.calls[0]).toMatchObject({
      method: 'RemoveContainer',
      request: {container_id: oldest!.id},
    });
    // A sync removes it while it starts the next instance.
    const methods = plan!.calls.map(({method}) => method);
    expect(methods).toEqual(['RemoveContainer', 'CreateContainer', 'StartContainer']);
    expect(testbed.mutatingCalls.toSorted()).toEqual(methods.toSorted());
  });

  test('for a dead sandbox', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('pod.json', aManifest());
    await testbed.run(['sync', file]);
    testbed.runtime.state.sandboxes.forEach((sandbox) => (sandbox.state = 'SANDBOX_NOTREADY'));
    const [plan] = await planOf(testbed, [file]);
    testbed.runtime.clearCalls();
    await testbed.run(['sync', file]);
    expect(plan!.calls.map(({method}) => method)).toEqual(testbed.mutatingCalls);
    expect(testbed.mutatingCalls).toContain('RunPodSandbox');
  });
});

describe('plan', () => {
  test('changes nothing in the runtime or on disk', async () => {
    const testbed = await createTestbed({registry});
    const file = await testbed.write('pod.json', CASES['an image to be pulled']!);
    await testbed.run(['plan', file]);
    expect(testbed.mutatingCalls).toEqual([]);
    expect(await testbed.listLeftovers()).toEqual(NO_LEFTOVERS);
    expect(await readdir(testbed.directory)).toEqual(['pod.json']);
  });

  test('leaves a pod unchanged that it would replace', async () => {
    const testbed = await createTestbed();
    await testbed.run(['sync', await testbed.write('pod.json', aManifest())]);
    const before = await testbed.listLeftovers();
    testbed.runtime.clearCalls();
    await testbed.run(['plan', await testbed.write('pod.json', aManifest({restartPolicy: 'Never'}))]);
    expect(testbed.mutatingCalls).toEqual([]);
    expect(await testbed.listLeftovers()).toEqual(before);
  });

  test('is empty for an up-to-date pod', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('pod.json', aManifest({initContainers: [aScript('setup', 'true')]}));
    await testbed.run(['sync', file]);
    const {stdout, exitCode} = await testbed.run(['plan', file]);
    expect(stdout).toMatch(
      /^1 pod: 1 unchanged; 0 CRI calls\n\npod default\/web \(uid [0-9a-f-]{36}\): nothing to do\n$/,
    );
    expect(exitCode).toBe(0);
  });

  test('is a numbered list by default', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('pod.json', aManifest({containers: [aContainerSpec('main', {env})]}));
    const {stdout} = await testbed.run(['plan', file]);
    expect(stdout).toMatch(
      /^1 pod: 1 to create; \d+ CRI calls\n\npod default\/web \(uid [0-9a-f-]{36}\): create\n {2}1\. RunPodSandbox\n {5}config\.metadata\.name: web$/m,
    );
    expect(stdout).toMatch(/^ {2}2\. CreateContainer\n {5}pod_sandbox_id: <sandbox default\/web\/0>$/m);
    expect(stdout).toContain('     sandbox_config: as RunPodSandbox\n');
    expect(stdout).toMatch(/^ {5}config\.envs\[\d+\]\.value: hello <pod IP>$/m);
    expect(stdout).toMatch(/^ {2}3\. StartContainer\n {5}container_id: <container main\/0>$/m);
  });

  test('has equal contents with -o yaml and -o json', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('pod.json', aManifest());
    const {stdout} = await testbed.run(['plan', file, '-o', 'yaml']);
    const plans = await planOf(testbed, [file]);
    expect(withoutTimes(parse(stdout))).toEqual(withoutTimes(plans));
  });

  test('plans several pods independently', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write(
      'pods.yaml',
      `${aManifest({name: 'a'})}\n---\n${aManifest({name: 'b'})}\n`,
    );
    expect((await planOf(testbed, [file])).map(({pod, calls}) => [pod, calls.length])).toEqual([
      ['a', 3],
      ['b', 3],
    ]);
  });

  test('--static plans the static pod', async () => {
    const testbed = await createTestbed();
    const file = await testbed.write('pod.json', aManifest());
    const [plan] = await planOf(testbed, [file, '--static', '--hostname-override', 'node1']);
    expect(plan!.pod).toBe('web-node1');
  });

  // Proves: Container.imagePullPolicy
  test('reports the error of the sync', async () => {
    const testbed = await createTestbed({images: []});
    const containers = [aContainerSpec('main', {imagePullPolicy: 'Never'})];
    const result = await testbed.run(['plan', await testbed.write('pod.json', aManifest({containers}))]);
    expectUserError(result);
    expect(result.stderr).toContain('container "main": ErrImageNeverPull: ');
    expect(result.exitCode).toBe(1);
  });

  test('rejects the UID of a pod not created by kcri, like a sync', async () => {
    const foreign = aSandbox({name: 'foreign', uid: 'my-uid'});
    const testbed = await createTestbed({sandboxes: [foreign], containers: [aContainer({sandbox: foreign})]});
    const file = await testbed.write('pod.json', aManifest({metadata: {uid: 'my-uid'}}));
    for (const command of ['plan', 'sync']) {
      const result = await testbed.run([command, file]);
      expectUserError(result);
      expect(result.stderr).toContain('the UID "my-uid" is in use by a pod that kcri did not create');
      expect(result.exitCode).toBe(1);
    }
    expect(testbed.mutatingCalls).toEqual([]);
    expect(await testbed.records()).toEqual([]);
  });
});
