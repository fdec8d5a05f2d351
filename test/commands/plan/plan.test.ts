import {readdir} from 'node:fs/promises';
import {describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import {aContainer, anImage, aSandbox, type RecordedCall} from '../../fakes/fake-runtime.js';
import {
  aContainerSpec,
  aManifest,
  aScene,
  aScript,
  expectUserError,
  isMutatingCall,
  NO_LEFTOVERS,
  type PodScene,
} from '../pod-scene.js';

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

async function planOf(scene: PodScene, args: readonly string[]): Promise<readonly Plan[]> {
  const {stdout, stderr, exitCode} = await scene.run(['plan', ...args, '-o', 'json']);
  expect({stderr, exitCode}).toEqual({stderr: '', exitCode: 0});
  return JSON.parse(stdout) as readonly Plan[];
}

/** What a plan can't know, in a plan's words: ids, addresses, random names, when the manifest was read. */
function inPlansWords(scene: PodScene, calls: readonly RecordedCall[]): readonly Call[] {
  const known = new Map<string, string>();
  for (const {config, id, ips} of scene.runtime.sandboxes) {
    known.set(
      id,
      `<sandbox ${config.metadata!.namespace}/${config.metadata!.name}/${config.metadata!.attempt}>`,
    );
    for (const ip of ips) known.set(ip, '<pod IP>');
  }
  for (const {config, id} of scene.runtime.containers)
    known.set(id, `<container ${config.metadata!.name}/${config.metadata!.attempt}>`);
  for (const image of scene.runtime.state.registry) known.set(image.id, `<image ${image.repoTags[0]!}>`);
  return calls
    .filter(({method}) => isMutatingCall(method))
    .map(({method, request}) => {
      const text = withPlainEnv(request, [...known]);
      return {method, request: withoutMoment(JSON.parse(text))};
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
  return known.reduce((result, [actual, planned]) => result.replaceAll(actual, planned), text);
}

function withoutMoment(value: unknown): unknown {
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
  'an image that is to be pulled': aManifest({
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

describe('a plan is what the sync then does', () => {
  test.each(Object.keys(CASES))('for %s', async (name) => {
    const scene = await aScene({registry});
    const file = await scene.write('pod.json', CASES[name]!);
    const [plan] = await planOf(scene, [file]);
    expect(plan!.calls.length).toBeGreaterThan(2);
    scene.runtime.clearCalls();
    await scene.run(['sync', file]);
    expect(plan!.calls.map(({method, request}) => ({method, request: withoutMoment(request)}))).toEqual(
      inPlansWords(scene, scene.runtime.calls),
    );
  });

  test('for a manifest that replaces a pod, whose UID it names', async () => {
    const scene = await aScene();
    await scene.run(['sync', await scene.write('pod.json', aManifest())]);
    const [old] = scene.runtime.sandboxes;
    const file = await scene.write('pod.json', aManifest({containers: [aScript('main', 'sleep 60')]}));
    const [plan] = await planOf(scene, [file]);
    expect(plan!.replaces).toBe(old!.config.metadata!.uid);
    scene.runtime.clearCalls();
    await scene.run(['sync', file]);
    expect(plan!.calls.map(({method, request}) => ({method, request: withoutMoment(request)}))).toEqual(
      inPlansWords(scene, scene.runtime.calls),
    );
  });

  test('for a container that has to be restarted', async () => {
    const scene = await aScene();
    const file = await scene.write('pod.json', aManifest());
    await scene.run(['sync', file]);
    scene.runtime.exitContainer(scene.runtime.containers[0]!.id, 1);
    const [plan] = await planOf(scene, [file]);
    scene.runtime.clearCalls();
    await scene.run(['sync', file]);
    expect(plan!.calls.map(({method}) => method)).toEqual(['CreateContainer', 'StartContainer']);
    expect(scene.mutatingCalls).toEqual(['CreateContainer', 'StartContainer']);
  });

  test('for a container with several dead instances, of which one is kept', async () => {
    const scene = await aScene();
    const file = await scene.write('pod.json', aManifest());
    for (let crash = 0; crash < 2; crash++) {
      await scene.run(['sync', file]);
      const running = scene.runtime.containers.find(({state}) => state === 'CONTAINER_RUNNING');
      scene.runtime.exitContainer(running!.id, 1);
    }
    const [oldest] = scene.runtime.containers;
    const [plan] = await planOf(scene, [file]);
    scene.runtime.clearCalls();
    await scene.run(['sync', file]);
    const removals = scene.runtime.callsTo('RemoveContainer');
    expect(removals).toMatchObject([{code: 'OK', request: {container_id: oldest!.id}}]);
    expect(plan!.calls[0]).toMatchObject({
      method: 'RemoveContainer',
      request: {container_id: oldest!.id},
    });
    // A sync removes it while it starts the next instance.
    const methods = plan!.calls.map(({method}) => method);
    expect(methods).toEqual(['RemoveContainer', 'CreateContainer', 'StartContainer']);
    expect(scene.mutatingCalls.toSorted()).toEqual(methods.toSorted());
  });

  test('for a sandbox that has died', async () => {
    const scene = await aScene();
    const file = await scene.write('pod.json', aManifest());
    await scene.run(['sync', file]);
    scene.runtime.state.sandboxes.forEach((sandbox) => (sandbox.state = 'SANDBOX_NOTREADY'));
    const [plan] = await planOf(scene, [file]);
    scene.runtime.clearCalls();
    await scene.run(['sync', file]);
    expect(plan!.calls.map(({method}) => method)).toEqual(scene.mutatingCalls);
    expect(scene.mutatingCalls).toContain('RunPodSandbox');
  });
});

describe('plan', () => {
  test('changes nothing, in the runtime or on the disk', async () => {
    const scene = await aScene({registry});
    const file = await scene.write('pod.json', CASES['an image that is to be pulled']!);
    await scene.run(['plan', file]);
    expect(scene.mutatingCalls).toEqual([]);
    expect(await scene.listLeftovers()).toEqual(NO_LEFTOVERS);
    expect(await readdir(scene.directory)).toEqual(['pod.json']);
  });

  test('leaves a pod that it would replace as it is', async () => {
    const scene = await aScene();
    await scene.run(['sync', await scene.write('pod.json', aManifest())]);
    const before = await scene.listLeftovers();
    scene.runtime.clearCalls();
    await scene.run(['plan', await scene.write('pod.json', aManifest({restartPolicy: 'Never'}))]);
    expect(scene.mutatingCalls).toEqual([]);
    expect(await scene.listLeftovers()).toEqual(before);
  });

  test('has nothing to do for a pod that is as it should be', async () => {
    const scene = await aScene();
    const file = await scene.write('pod.json', aManifest({initContainers: [aScript('setup', 'true')]}));
    await scene.run(['sync', file]);
    const {stdout, exitCode} = await scene.run(['plan', file]);
    expect(stdout).toMatch(/^pod default\/web \(uid [0-9a-f-]{36}\): nothing to do\n$/);
    expect(exitCode).toBe(0);
  });

  test('is a numbered list for people', async () => {
    const scene = await aScene();
    const file = await scene.write('pod.json', aManifest({containers: [aContainerSpec('main', {env})]}));
    const {stdout} = await scene.run(['plan', file]);
    expect(stdout).toMatch(
      /^pod default\/web \(uid [0-9a-f-]{36}\)\n {2}1\. RunPodSandbox\n {5}config\.metadata\.name: web$/m,
    );
    expect(stdout).toMatch(/^ {2}2\. CreateContainer\n {5}pod_sandbox_id: <sandbox default\/web\/0>$/m);
    expect(stdout).toContain('     sandbox_config: as RunPodSandbox\n');
    expect(stdout).toMatch(/^ {5}config\.envs\[\d+\]\.value: hello <pod IP>$/m);
    expect(stdout).toMatch(/^ {2}3\. StartContainer\n {5}container_id: <container main\/0>$/m);
  });

  test('-o yaml is what -o json is', async () => {
    const scene = await aScene();
    const file = await scene.write('pod.json', aManifest());
    const {stdout} = await scene.run(['plan', file, '-o', 'yaml']);
    const plans = await planOf(scene, [file]);
    expect(withoutMoment(parse(stdout))).toEqual(withoutMoment(plans));
  });

  test('plans several pods, each by itself', async () => {
    const scene = await aScene();
    const file = await scene.write(
      'pods.yaml',
      `${aManifest({name: 'a'})}\n---\n${aManifest({name: 'b'})}\n`,
    );
    expect((await planOf(scene, [file])).map(({pod, calls}) => [pod, calls.length])).toEqual([
      ['a', 3],
      ['b', 3],
    ]);
  });

  test('--static plans the static pod', async () => {
    const scene = await aScene();
    const file = await scene.write('pod.json', aManifest());
    const [plan] = await planOf(scene, [file, '--static', '--hostname-override', 'node1']);
    expect(plan!.pod).toBe('web-node1');
  });

  test('tells what a sync would fail with', async () => {
    const scene = await aScene({images: []});
    const containers = [aContainerSpec('main', {imagePullPolicy: 'Never'})];
    const result = await scene.run(['plan', await scene.write('pod.json', aManifest({containers}))]);
    expectUserError(result);
    expect(result.stderr).toContain('container "main": ErrImageNeverPull: ');
    expect(result.exitCode).toBe(1);
  });

  test("refuses the UID of somebody else's pod, as a sync does", async () => {
    const foreign = aSandbox({name: 'foreign', uid: 'my-uid'});
    const scene = await aScene({sandboxes: [foreign], containers: [aContainer({sandbox: foreign})]});
    const file = await scene.write('pod.json', aManifest({metadata: {uid: 'my-uid'}}));
    for (const command of ['plan', 'sync']) {
      const result = await scene.run([command, file]);
      expectUserError(result);
      expect(result.stderr).toContain('the UID "my-uid" is in use by a pod that kcri did not create');
      expect(result.exitCode).toBe(1);
    }
    expect(scene.mutatingCalls).toEqual([]);
    expect(await scene.records()).toEqual([]);
  });
});
