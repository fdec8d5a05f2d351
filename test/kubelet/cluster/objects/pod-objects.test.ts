import {readFile} from 'node:fs/promises';
import {expect, test} from 'vitest';
import type {RecordedRequest} from '../../../fakes/api-server/fake-api-server.js';
import {anImage, BUSYBOX} from '../../../fakes/runtime-builders.js';
import {ClusterTestbed} from '../cluster-testbed.js';

const CONFIG_MAP = '/api/v1/namespaces/default/configmaps/settings';
const MOUNT = {name: 'settings', mountPath: '/settings'};
const VOLUMES = [{name: 'settings', configMap: {name: 'settings', defaultMode: 420}}];

/** Returns the objects that are watched, by kind and name. */
function watched({api}: ClusterTestbed): readonly string[] {
  const isDataWatch = ({path}: RecordedRequest): boolean => /\/(?:configmaps|secrets)$/.test(path);
  return api.requests
    .filter(isDataWatch)
    .map(({path, query}) => `${path.split('/').at(-1)} ${query['fieldSelector']}`)
    .toSorted();
}

/** Returns the variables that a container was last created with. */
function variables({daemon}: ClusterTestbed): readonly string[] {
  const created = daemon.fake.calls.filter(({method}) => method === 'CreateContainer').at(-1);
  const {envs} = (created!.request as {config: {envs: {key: string; value: string}[]}}).config;
  return envs.map(({key, value}) => `${key}=${Buffer.from(value, 'base64').toString()}`);
}

async function untilIdle(testbed: ClusterTestbed, watches: number): Promise<void> {
  await testbed.daemon.until(`${watches} watches`, () => testbed.api.watches.count === watches);
}

// The watches are those of the recorded cases vol-secret and pull-secret.
test('one watch follows each ConfigMap and Secret of a pod, and ends with the pod', async () => {
  await using testbed = await ClusterTestbed.start((api) => {
    api.create(CONFIG_MAP, {kind: 'ConfigMap', data: {a: '1'}});
    for (const name of ['password', 'registry'])
      api.create(`/api/v1/namespaces/default/secrets/${name}`, {kind: 'Secret', data: {a: 'MQ=='}});
  });
  const {api} = testbed;
  await testbed.daemon.until('it is quiet', () => api.watches.count >= 4);
  const before = api.watches.count;
  testbed.createPod('web', {
    volumes: VOLUMES,
    imagePullSecrets: [{name: 'registry'}],
    containers: [
      {
        name: 'main',
        image: BUSYBOX,
        volumeMounts: [MOUNT],
        env: [{name: 'A', valueFrom: {secretKeyRef: {name: 'password', key: 'a'}}}],
        envFrom: [{configMapRef: {name: 'settings'}}],
      },
    ],
  });
  await testbed.untilPhase('web', 'Running');
  expect(watched(testbed)).toEqual([
    'configmaps metadata.name=settings',
    'secrets metadata.name=password',
    'secrets metadata.name=registry',
  ]);
  expect(api.watches.count).toBe(before + 3);
  api.deletePod('web');
  await testbed.untilDeleted('web');
  await untilIdle(testbed, before);
  await testbed.daemon.untilAllRemoved();
});

test('a pod that has completed is not followed further', async () => {
  await using testbed = await ClusterTestbed.start((api) => {
    api.create(CONFIG_MAP, {kind: 'ConfigMap', data: {a: '1'}});
  });
  const {api, daemon} = testbed;
  await daemon.until('it is quiet', () => api.watches.count >= 4);
  const before = api.watches.count;
  testbed.createPod('job', {
    restartPolicy: 'Never',
    containers: [{name: 'main', image: BUSYBOX, envFrom: [{configMapRef: {name: 'settings'}}]}],
  });
  await testbed.untilPhase('job', 'Running');
  expect(api.watches.count).toBe(before + 1);
  daemon.kill('main', 0);
  await testbed.untilPhase('job', 'Succeeded');
  await untilIdle(testbed, before);
});

test('a changed ConfigMap reaches the volume without a restart, and variables with the next one', async () => {
  await using testbed = await ClusterTestbed.start((api) => {
    api.create(CONFIG_MAP, {kind: 'ConfigMap', data: {a: '1'}});
  });
  const {api, daemon} = testbed;
  const pod = testbed.createPod('web', {
    volumes: VOLUMES,
    containers: [
      {name: 'main', image: BUSYBOX, volumeMounts: [MOUNT], envFrom: [{configMapRef: {name: 'settings'}}]},
    ],
  });
  await testbed.untilPhase('web', 'Running');
  expect(variables(testbed)).toContain('a=1');
  api.create(CONFIG_MAP, {kind: 'ConfigMap', data: {a: '2'}});
  const file = `${daemon.rootDir}/pods/${pod.metadata.uid}/volumes/kubernetes.io~configmap/settings/a`;
  await daemon.until('the file has changed', async () => (await readFile(file, 'utf8')) === '2');
  expect(daemon.running).toEqual(['web/main/0']);
  daemon.kill('main', 1);
  await daemon.until('the container runs again', () => daemon.running.includes('web/main/1'));
  expect(variables(testbed)).toContain('a=2');
});

test('a container that restarts during an outage gets the last known values', async () => {
  await using testbed = await ClusterTestbed.start((api) => {
    api.create(CONFIG_MAP, {kind: 'ConfigMap', data: {a: '1'}});
  });
  const {api, daemon} = testbed;
  testbed.createPod('web', {
    containers: [{name: 'main', image: BUSYBOX, envFrom: [{configMapRef: {name: 'settings'}}]}],
  });
  await testbed.untilPhase('web', 'Running');
  await api.refuse();
  // The watch of an object that only variables use ends after five minutes.
  for (let minutes = 0; minutes < 7; minutes += 1) await daemon.clock.advance(60_000);
  daemon.kill('main', 1);
  await daemon.until('the container runs again', () => daemon.running.includes('web/main/1'));
  expect(variables(testbed)).toContain('a=1');
  await api.listen();
});

test.each([
  ['variable', {containers: [{name: 'main', image: BUSYBOX, envFrom: [{configMapRef: {name: 'settings'}}]}]}],
  [
    'optional volume',
    {
      volumes: [{name: 'settings', configMap: {name: 'settings', optional: true}}],
      containers: [{name: 'main', image: BUSYBOX, volumeMounts: [MOUNT]}],
    },
  ],
])('a pod waits for the object of a %s that cannot be read, and then starts', async (_title, spec) => {
  await using testbed = await ClusterTestbed.start((api) => {
    api.create(CONFIG_MAP, {kind: 'ConfigMap', data: {a: '1'}});
    api.inject(({path}) => path.endsWith('/configmaps'), {code: 403, message: 'no relationship found'});
  });
  const {api, daemon} = testbed;
  testbed.createPod('web', spec);
  const message = 'failed to sync configmap cache: timed out waiting for the condition';
  await daemon.until('the failure is reported', () =>
    daemon.events.some((event) => event.message.includes(message)),
  );
  expect(daemon.running).toEqual([]);
  api.clearFaults();
  await testbed.untilPhase('web', 'Running');
});

test('a missing pull secret is reported and keeps no pod from starting', async () => {
  await using testbed = await ClusterTestbed.start();
  testbed.createPod('web', {imagePullSecrets: [{name: 'registry'}]});
  await testbed.untilPhase('web', 'Running');
  expect(testbed.daemon.events.map(({reason}) => reason)).toContain('FailedToRetrieveImagePullSecret');
});

test('the RuntimeClasses are watched, and a pod gets the handler of its own', async () => {
  const path = '/apis/node.k8s.io/v1/runtimeclasses';
  await using testbed = await ClusterTestbed.start(undefined, {
    runtime: {images: [anImage()], runtimeHandlers: ['second']},
  });
  const {api, daemon} = testbed;
  testbed.createPod('web', {runtimeClassName: 'sandboxed', overhead: {memory: '64Mi'}});
  await daemon.until('the RuntimeClass is missed', () =>
    daemon.events.some(({reason}) => reason === 'FailedCreatePodSandBox'),
  );
  expect(daemon.events.find(({reason}) => reason === 'FailedCreatePodSandBox')?.message).toContain(
    'runtimeclass.node.k8s.io "sandboxed" not found',
  );
  expect(testbed.status('web').phase).toBe('Pending');
  api.create(`${path}/sandboxed`, {kind: 'RuntimeClass', handler: 'second'});
  await testbed.untilPhase('web', 'Running');
  const {request} = daemon.fake.calls.filter(({method}) => method === 'RunPodSandbox').at(-1)!;
  expect(Object.entries(request)).toContainEqual(['runtime_handler', 'second']);
  expect(JSON.stringify(request)).toContain(String(64 * 1024 * 1024));
  const reads = api.requests.filter((each) => each.path.startsWith(path));
  expect(reads.map((each) => each.path)).toEqual([path]);
});
