import {expect, test} from 'vitest';
import type {Node} from '../../../src/api/types/v1-node.js';
import type {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import {TEST_TIME_MS} from '../../fakes/fake-clock.js';
import {BUSYBOX} from '../../fakes/runtime-builders.js';
import {ClusterTestbed, LEASE_PATH, NODE_PATH} from './cluster-testbed.js';

const readyOf = (node: unknown): string | undefined =>
  (node as Node | undefined)?.status?.conditions?.find(({type}) => type === 'Ready')?.status;

test('a kubelet registers its node, becomes ready and holds a lease', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  await daemon.until('the node is ready', () => readyOf(api.storage.get(NODE_PATH)) === 'True');
  await daemon.until('the lease is renewed', () =>
    api.requests.some(({method, path}) => method === 'PUT' && path === LEASE_PATH),
  );
  const node = api.storage.get(NODE_PATH) as unknown as Node;
  expect(node.status?.addresses).toContainEqual({type: 'Hostname', address: 'goldennode'});
  expect(api.storage.get(LEASE_PATH)).toMatchObject({
    metadata: {
      ownerReferences: [{apiVersion: 'v1', kind: 'Node', name: 'goldennode', uid: node.metadata.uid}],
    },
    spec: {holderIdentity: 'goldennode', leaseDurationSeconds: 40},
  });
});

test('the CSINode belongs to the Node, and is created when the API server accepts it', async () => {
  const path = '/apis/storage.k8s.io/v1/csinodes';
  await using testbed = await ClusterTestbed.start((server) => {
    server.inject((request) => request.method === 'POST' && request.path === path, {code: 500}, 1);
  });
  const {api, daemon} = testbed;
  await daemon.until('the CSINode exists', () => api.storage.get(`${path}/goldennode`) !== undefined);
  const uid = api.storage.get(NODE_PATH)?.metadata.uid;
  expect(api.storage.get(`${path}/goldennode`)).toMatchObject({
    metadata: {ownerReferences: [{apiVersion: 'v1', kind: 'Node', name: 'goldennode', uid}]},
    spec: {drivers: []},
  });
});

/** Distinct messages about the readiness of the node that the API server received, in order. */
const readyMessages = (api: FakeApiServer): readonly string[] => {
  const messages = api.requests.flatMap(({body}) => {
    const {conditions = []} = (body?.['status'] ?? {}) as NonNullable<Node['status']>;
    const found = conditions.find(({type, message}) => type === 'Ready' && message !== undefined);
    return found === undefined ? [] : [found.message ?? ''];
  });
  return [...new Set(messages)];
};

// As recorded in node-start and node-restart.
test('a new node is ready when it has a CSINode, one that has one already stays ready', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  await daemon.until('the node is ready', () => readyOf(api.storage.get(NODE_PATH)) === 'True');
  expect(readyMessages(api)).toEqual(['CSINode is not yet initialized', 'kubelet is posting ready status']);
  expect(daemon.clock.now() - TEST_TIME_MS).toBeLessThan(10_000);
  await using restarted = await ClusterTestbed.start((server) => {
    server.create('/apis/storage.k8s.io/v1/csinodes/goldennode', {});
  });
  await restarted.daemon.until('the node is registered', () => readyMessages(restarted.api).length > 0);
  expect(readyMessages(restarted.api)).toEqual(['kubelet is posting ready status']);
});

test('ResourceSlices that are left of the node are deleted, and those of other nodes stay', async () => {
  const path = '/apis/resource.k8s.io/v1/resourceslices';
  await using testbed = await ClusterTestbed.start((server) => {
    server.create(`${path}/own`, {spec: {nodeName: 'goldennode'}});
    server.create(`${path}/other`, {spec: {nodeName: 'other'}});
    server.inject((request) => request.method === 'DELETE', {code: 500}, 1);
  });
  const {api, daemon} = testbed;
  await daemon.until('the slice is deleted', () => api.storage.get(`${path}/own`) === undefined);
  expect(api.storage.get(`${path}/other`)).toBeDefined();
});

test('a bound pod runs, and its status reaches the API server', async () => {
  await using testbed = await ClusterTestbed.start();
  const pod = testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  expect(testbed.daemon.running).toEqual(['web/main/0']);
  const {conditions, observedGeneration, podIP, containerStatuses} = testbed.status('web');
  expect({observedGeneration, hasIp: podIP !== undefined}).toEqual({observedGeneration: 1, hasIp: true});
  expect(containerStatuses?.[0]).toMatchObject({name: 'main', ready: true, restartCount: 0});
  expect(conditions?.map(({type, status}) => `${type}=${status}`)).toEqual([
    'PodReadyToStartContainers=True',
    'Initialized=True',
    'Ready=True',
    'ContainersReady=True',
    'PodScheduled=True',
  ]);
  for (const patch of testbed.statusPatches('web'))
    expect(patch['metadata']).toEqual({uid: pod.metadata.uid});
});

test('a deleted pod is stopped, gets a terminal phase, and is then deleted for good', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  const pod = testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  api.deletePod('web');
  await testbed.untilDeleted('web');
  const stops = daemon.fake.calls.filter(({method}) => method === 'StopContainer');
  expect(stops.map(({request}) => request)).toEqual([expect.objectContaining({timeout: '30'}) as object]);
  const last = testbed.statusPatches('web').at(-1) as {readonly status: object};
  expect(last.status).toMatchObject({phase: expect.stringMatching(/Succeeded|Failed/) as string});
  const deletion = api.requests.find(({method, path}) => method === 'DELETE' && path.includes('/pods/'));
  expect(deletion?.body).toEqual({
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    gracePeriodSeconds: 0,
    preconditions: {uid: pod.metadata.uid},
  });
  expect(api.requests.findLastIndex(({path}) => path.endsWith('/pods/web/status'))).toBeLessThan(
    api.requests.findIndex(({method, path}) => method === 'DELETE' && path.includes('/pods/')),
  );
  await daemon.untilAllRemoved();
});

test('a pod that has completed stays with the phase Succeeded and is not started again', async () => {
  await using testbed = await ClusterTestbed.start();
  testbed.createPod('job', {restartPolicy: 'Never'});
  await testbed.untilPhase('job', 'Running');
  testbed.daemon.kill('main', 0);
  await testbed.untilPhase('job', 'Succeeded');
  expect(testbed.status('job').conditions?.find(({type}) => type === 'Ready')).toMatchObject({
    status: 'False',
    reason: 'PodCompleted',
  });
  expect(testbed.api.writes.filter((write) => /DELETE .*pods/.test(write))).toEqual([]);
});

test('a force-deleted pod is stopped without further requests about it', async () => {
  await using testbed = await ClusterTestbed.start();
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  testbed.api.deletePod('web', 0);
  await testbed.daemon.untilAllRemoved();
  expect(testbed.api.writes.filter((write) => /DELETE .*pods/.test(write))).toEqual([]);
});

test('a pod that the node lacks resources for fails with a reason, and no call is made for it', async () => {
  await using testbed = await ClusterTestbed.start();
  testbed.createPod('big', {
    containers: [{name: 'main', image: BUSYBOX, resources: {requests: {cpu: '100'}}}],
  });
  await testbed.untilPhase('big', 'Failed');
  expect(testbed.status('big')).toMatchObject({
    reason: 'OutOfcpu',
    message: expect.stringContaining('Pod was rejected: ') as string,
    observedGeneration: 1,
  });
  expect(testbed.daemon.ownContainers).toEqual([]);
});

test('a pod that is deleted before its containers start gets a terminal phase and is deleted for good', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  testbed.createPod('web', {initContainers: [{name: 'init', image: BUSYBOX}]});
  await daemon.until('the init container runs', () => daemon.running.includes('web/init/0'));
  api.deletePod('web');
  await testbed.untilDeleted('web');
  const last = testbed.statusPatches('web').at(-1) as {readonly status: object};
  expect(last.status).toMatchObject({phase: 'Failed'});
});

test('ConfigMaps and tokens of a pod come from the API server', async () => {
  await using testbed = await ClusterTestbed.start((api) => {
    api.create('/api/v1/namespaces/default/configmaps/kube-root-ca.crt', {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      data: {'ca.crt': 'root'},
    });
  });
  const token = {serviceAccountToken: {path: 'token', expirationSeconds: 3607}};
  testbed.createPod('web', {
    serviceAccountName: 'default',
    volumes: [
      {
        name: 'access',
        projected: {
          defaultMode: 420,
          sources: [token, {configMap: {name: 'kube-root-ca.crt', items: [{key: 'ca.crt', path: 'ca.crt'}]}}],
        },
      },
    ],
    containers: [{name: 'main', image: BUSYBOX, volumeMounts: [{name: 'access', mountPath: '/access'}]}],
  });
  await testbed.untilPhase('web', 'Running');
  const request = testbed.api.requests.find(({path}) => path.endsWith('/serviceaccounts/default/token'));
  expect(request?.body?.['spec']).toMatchObject({
    audiences: null,
    expirationSeconds: 3607,
    boundObjectRef: {kind: 'Pod', name: 'web', uid: testbed.api.pod('web')?.metadata.uid},
  });
  // Unmounts the volume.
  testbed.api.deletePod('web');
  await testbed.daemon.untilAllRemoved();
});

test('a missing ConfigMap keeps the pod pending until it exists', async () => {
  await using testbed = await ClusterTestbed.start();
  testbed.createPod('web', {
    volumes: [{name: 'settings', configMap: {name: 'settings'}}],
    containers: [{name: 'main', image: BUSYBOX, volumeMounts: [{name: 'settings', mountPath: '/settings'}]}],
  });
  await testbed.daemon.until('the mount failed', () =>
    testbed.daemon.events.some(({reason}) => reason === 'FailedMount'),
  );
  expect(testbed.status('web').phase).toBe('Pending');
  testbed.api.create('/api/v1/namespaces/default/configmaps/settings', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    data: {a: 'b'},
  });
  await testbed.untilPhase('web', 'Running');
});

test('a kubelet that starts before its API server joins when it is there', async () => {
  await using testbed = await ClusterTestbed.start(async (api) => api.refuse());
  const {api, daemon} = testbed;
  await daemon.until('registration failed', () =>
    daemon.errors.some((error) => error.startsWith('Unable to register node')),
  );
  await api.listen();
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
});

test('pods keep running through an outage, and their statuses catch up', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  await api.refuse();
  daemon.kill('main', 1);
  await daemon.until('the container runs again', () => daemon.running.includes('web/main/1'));
  await api.listen();
  await daemon.until(
    'the restart is reported',
    () => testbed.status('web').containerStatuses?.[0]?.restartCount === 1,
  );
  expect(daemon.maxConcurrentInstances).toBe(1);
});

test('after its version has expired, the watch starts again and no pod is restarted', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  api.storage.compact();
  api.watches.end(410);
  testbed.createPod('other');
  await testbed.untilPhase('other', 'Running');
  expect(daemon.running).toEqual(['other/main/0', 'web/main/0']);
});

test('a failed status patch is repeated', async () => {
  await using testbed = await ClusterTestbed.start((api) => {
    api.inject(({method, path}) => method === 'PATCH' && path.endsWith('/pods/web/status'), {code: 500}, 3);
  });
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
});

test('a restarted kubelet adopts its pods, and reconciles its node', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  await daemon.stop();
  const registrations = api.writes.filter((write) => write === 'POST /api/v1/nodes').length;
  const node = api.storage.get(NODE_PATH)!;
  api.storage.put(NODE_PATH, {
    ...node,
    metadata: {...node.metadata, labels: {'kubernetes.io/hostname': 'wrong', team: 'a'}},
  });
  daemon.run();
  await daemon.until('the label is put back', () => {
    const labels = api.storage.get(NODE_PATH)?.metadata['labels'] as Record<string, string>;
    return labels['kubernetes.io/hostname'] === 'goldennode' && labels['team'] === 'a';
  });
  testbed.createPod('other', {nodeSelector: {team: 'a'}});
  await testbed.untilPhase('other', 'Running');
  expect(daemon.running).toEqual(['other/main/0', 'web/main/0']);
  expect(registrations).toBe(1);
});

test('a pod that was deleted while the kubelet was down is stopped and deleted', async () => {
  await using testbed = await ClusterTestbed.start();
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  await testbed.daemon.stop();
  testbed.api.deletePod('web');
  testbed.daemon.run();
  await testbed.untilDeleted('web');
  await testbed.daemon.untilAllRemoved();
});

test('pods are not stopped while the API server cannot be read', async () => {
  await using testbed = await ClusterTestbed.start();
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  await testbed.daemon.stop();
  await testbed.api.refuse();
  testbed.daemon.run();
  const until = testbed.daemon.clock.now() + 120_000;
  await testbed.daemon.until('two minutes have passed', () => testbed.daemon.clock.now() > until);
  expect(testbed.daemon.running).toEqual(['web/main/0']);
});

test('a status that somebody else has changed is put back, each time', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  for (let times = 0; times < 3; times += 1) {
    api.storage.put('/api/v1/namespaces/default/pods/web', {
      ...api.pod('web')!,
      status: {...testbed.status('web'), podIP: '192.0.2.9'},
    });
    const changedAt = daemon.clock.now();
    await daemon.until('the address is put back', () => testbed.status('web').podIP !== '192.0.2.9');
    expect(daemon.clock.now() - changedAt).toBeLessThan(11_000);
  }
});

test('an idle pod causes no requests about it', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  const quiet = (ms: number): Promise<void> => {
    const end = daemon.clock.now() + ms;
    return daemon.until('time has passed', () => daemon.clock.now() > end);
  };
  await quiet(30_000);
  const count = api.requests.length;
  await quiet(120_000);
  expect(api.requests.slice(count).filter(({path}) => path.includes('/pods/'))).toEqual([]);
});

test('a node whose runtime is not ready is reported as such', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  await daemon.until('the node is ready', () => readyOf(api.storage.get(NODE_PATH)) === 'True');
  daemon.fake.injectError('Status', {code: 'UNAVAILABLE', message: 'down'});
  daemon.fake.injectError('ListImages', {code: 'UNAVAILABLE', message: 'down'});
  daemon.fake.injectError('Version', {code: 'UNAVAILABLE', message: 'down'});
  await daemon.until('the node is not ready', () => readyOf(api.storage.get(NODE_PATH)) === 'False');
});

test('containers get the variables of Services, which own variables may refer to and replace', async () => {
  await using testbed = await ClusterTestbed.start((api) => {
    api.create('/api/v1/namespaces/default/services/kubernetes', {
      apiVersion: 'v1',
      kind: 'Service',
      spec: {clusterIP: '10.99.0.1', ports: [{name: 'https', protocol: 'TCP', port: 443}]},
    });
  });
  testbed.createPod('web', {
    containers: [
      {
        name: 'main',
        image: BUSYBOX,
        env: [
          {name: 'API', value: '$(KUBERNETES_SERVICE_HOST)'},
          {name: 'KUBERNETES_SERVICE_PORT', value: '6443'},
        ],
      },
    ],
  });
  await testbed.untilPhase('web', 'Running');
  const [container] = testbed.daemon.ownContainers;
  const variables = new Map(container?.config.envs.map(({key, value}) => [key, String(value)]));
  expect([variables.get('API'), variables.get('KUBERNETES_SERVICE_PORT')]).toEqual(['10.99.0.1', '6443']);
  expect(variables.get('KUBERNETES_PORT')).toBe('tcp://10.99.0.1:443');
});

test('events of pods reach the API server, also after an outage', async () => {
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  const reasons = (): readonly unknown[] => testbed.events('Pod').map(({reason}) => reason);
  await daemon.until('the start is reported', () => reasons().includes('Started'));
  expect(reasons()).toEqual(['Pulled', 'Created', 'Started']);
  await api.refuse();
  daemon.kill('main', 1);
  await daemon.until('the container runs again', () => daemon.running.includes('web/main/1'));
  await api.listen();
  const started = (): unknown => testbed.events('Pod').find(({reason}) => reason === 'Started')?.count;
  await daemon.until('the restart is counted', () => started() === 2);
});
