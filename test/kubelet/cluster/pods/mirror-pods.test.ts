import {expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import type {Node} from '../../../../src/api/types/v1-node.js';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import {ApiClient} from '../../../../src/kube-api/api-client.js';
import {HttpConnection} from '../../../../src/kube-api/http-connection.js';
import type {ClusterHost} from '../../../../src/kubelet/contract/cluster/cluster-link.js';
import {FakeApiServer} from '../../../fakes/api-server/fake-api-server.js';
import {FakeClock, TEST_TIME_MS} from '../../../fakes/fake-clock.js';
import {until} from '../../../base/until.js';
import {computeMirrorPodActions, MirrorPods} from '../../../../src/kubelet/cluster/pods/mirror-pods.js';
import {podUid} from '../../../../src/cri/index.js';
import {BUSYBOX} from '../../../fakes/runtime-builders.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {ClusterTestbed, NODE_PATH} from '../cluster-testbed.js';

const MIRROR = 'st-goldennode';
const PODS = '/api/v1/namespaces/default/pods';

const manifest = (value: string): string => `apiVersion: v1
kind: Pod
metadata: {name: st, labels: {v: "${value}"}}
spec:
  terminationGracePeriodSeconds: 2
  containers: [{name: main, image: "${BUSYBOX}", env: [{name: V, value: "${value}"}]}]
`;

async function startWithStaticPod(): Promise<ClusterTestbed> {
  const testbed = await ClusterTestbed.start();
  await testbed.daemon.put('st.yaml', manifest('one'));
  await testbed.untilPhase(MIRROR, 'Running');
  return testbed;
}

const mirrorOf = ({api}: ClusterTestbed): Pod | undefined => api.pod(MIRROR) as Pod | undefined;

const hashOf = (testbed: ClusterTestbed): string | undefined =>
  mirrorOf(testbed)?.metadata.annotations?.['kubernetes.io/config.hash'];

test('a static pod gets a mirror pod that the Node owns, with the fields that the kubelet sends', async () => {
  await using testbed = await startWithStaticPod();
  const [request, ...others] = testbed.api.requests.filter(
    ({method, path}) => method === 'POST' && path === PODS,
  );
  expect(others).toEqual([]);
  const hash = hashOf(testbed);
  expect(request?.body).toEqual({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: MIRROR,
      namespace: 'default',
      uid: hash,
      labels: {v: 'one'},
      annotations: {
        'kubernetes.io/config.hash': hash,
        'kubernetes.io/config.mirror': hash,
        'kubernetes.io/config.seen': expect.any(String) as string,
        'kubernetes.io/config.source': 'file',
      },
      ownerReferences: [
        {
          apiVersion: 'v1',
          kind: 'Node',
          name: 'goldennode',
          uid: testbed.api.storage.get(NODE_PATH)?.metadata.uid,
          controller: true,
        },
      ],
    },
    spec: {
      containers: [
        {
          name: 'main',
          image: BUSYBOX,
          env: [{name: 'V', value: 'one'}],
          imagePullPolicy: 'IfNotPresent',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
        },
      ],
      dnsPolicy: 'ClusterFirst',
      enableServiceLinks: true,
      nodeName: 'goldennode',
      restartPolicy: 'Always',
      schedulerName: 'default-scheduler',
      securityContext: {},
      terminationGracePeriodSeconds: 2,
      tolerations: [{operator: 'Exists', effect: 'NoExecute'}],
    },
    status: {phase: 'Pending'},
  });
});

test('the status of a static pod reaches its mirror pod, with host addresses and without generations', async () => {
  await using testbed = await startWithStaticPod();
  const {api} = testbed;
  const status = testbed.status(MIRROR);
  expect(status).toMatchObject({
    hostIP: GOLDEN_NODE.nodeIps[0],
    containerStatuses: [{name: 'main', ready: true}],
  });
  expect(JSON.stringify(testbed.statusPatches(MIRROR))).not.toContain('observedGeneration');
  for (const patch of testbed.statusPatches(MIRROR))
    expect(patch['metadata']).toEqual({uid: api.pod(MIRROR)?.metadata.uid});
});

test('a static pod gets the variables of Services', async () => {
  await using testbed = await ClusterTestbed.start((api) => {
    api.create('/api/v1/namespaces/default/services/kubernetes', {
      apiVersion: 'v1',
      kind: 'Service',
      spec: {clusterIP: '10.99.0.1', ports: [{name: 'https', port: 443, protocol: 'TCP'}]},
    });
  });
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  await testbed.daemon.put('st.yaml', manifest('one'));
  await testbed.untilPhase(MIRROR, 'Running');
  const container = testbed.daemon.ownContainers.find(
    (candidate) => testbed.daemon.nameOf(candidate) === `${MIRROR}/main/0`,
  );
  const variables = (container?.config.envs ?? []).map(({key, value}) => `${key}=${String(value)}`);
  expect(variables).toContain('KUBERNETES_SERVICE_HOST=10.99.0.1');
});

test('a mirror pod deleted by a user is replaced, and the containers keep running', async () => {
  await using testbed = await startWithStaticPod();
  const {api, daemon} = testbed;
  const before = mirrorOf(testbed)?.metadata.uid;
  api.deletePod(MIRROR);
  await daemon.until('another mirror pod has the status', () => {
    const mirror = mirrorOf(testbed);
    return mirror?.metadata.uid !== before && mirror?.status?.phase === 'Running';
  });
  expect(api.requests.find(({method, path}) => method === 'DELETE' && path.includes('/pods/'))?.body).toEqual(
    {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      gracePeriodSeconds: 0,
      preconditions: {uid: before},
    },
  );
  expect(daemon.running).toEqual([`${MIRROR}/main/0`]);
  expect(daemon.fake.calls.filter(({method}) => method === 'StopContainer')).toEqual([]);
});

test('a force-deleted mirror pod is created again', async () => {
  await using testbed = await startWithStaticPod();
  const before = mirrorOf(testbed)?.metadata.uid;
  testbed.api.deletePod(MIRROR, 0);
  await testbed.daemon.until('there is another mirror pod', () => {
    const mirror = mirrorOf(testbed);
    return mirror !== undefined && mirror.metadata.uid !== before;
  });
  expect(testbed.daemon.running).toEqual([`${MIRROR}/main/0`]);
});

test('a changed manifest replaces the mirror pod when the new pod starts', async () => {
  await using testbed = await startWithStaticPod();
  const [before, hash] = [mirrorOf(testbed)?.metadata.uid, hashOf(testbed)];
  await testbed.daemon.put('st.yaml', manifest('two'));
  await testbed.daemon.until('the new pod runs', () => {
    const {metadata, status} = mirrorOf(testbed) ?? {metadata: {}};
    return metadata.labels?.['v'] === 'two' && status?.phase === 'Running';
  });
  expect(hashOf(testbed)).not.toBe(hash);
  expect(mirrorOf(testbed)?.metadata.uid).not.toBe(before);
  expect(testbed.api.writes.filter((write) => /(POST|DELETE) .*pods/.test(write))).toEqual([
    `POST ${PODS}`,
    `DELETE ${PODS}/${MIRROR}`,
    `POST ${PODS}`,
  ]);
});

test('a removed manifest ends the containers, then their last status is sent and the mirror pod deleted', async () => {
  await using testbed = await startWithStaticPod();
  await testbed.daemon.remove('st.yaml');
  await testbed.untilDeleted(MIRROR);
  const [last] = testbed.statusPatches(MIRROR).slice(-1) as {status: {containerStatuses: object[]}}[];
  expect(last?.status.containerStatuses).toMatchObject([{state: {terminated: {}}}]);
  const deletions = testbed.api.requests.filter(
    ({method, path}) => method === 'DELETE' && path.includes('/pods/'),
  );
  expect(deletions.map(({body}) => body?.['preconditions'])).toEqual([{}]);
  await testbed.daemon.untilAllRemoved();
});

test('a mirror pod that cannot be deleted is tried again with the next housekeeping', async () => {
  await using testbed = await startWithStaticPod();
  const {api, daemon} = testbed;
  api.inject(({method, path}) => method === 'DELETE' && path.startsWith(PODS), {code: 503}, 2);
  await daemon.remove('st.yaml');
  await daemon.until('the deletion fails', () =>
    daemon.errors.some((error) => error.startsWith('Failed deleting a mirror pod')),
  );
  const failedAt = daemon.clock.now();
  await testbed.untilDeleted(MIRROR);
  expect(daemon.clock.now() - failedAt).toBeLessThan(10_000);
});

test('the mirror pod of a manifest that was removed while the kubelet was down is deleted', async () => {
  await using testbed = await startWithStaticPod();
  await testbed.daemon.stop();
  await testbed.daemon.remove('st.yaml');
  testbed.daemon.run();
  await testbed.untilDeleted(MIRROR);
  await testbed.daemon.untilAllRemoved();
});

test('a restarted kubelet keeps the mirror pod of a static pod that has not changed', async () => {
  await using testbed = await startWithStaticPod();
  const {api, daemon} = testbed;
  const before = mirrorOf(testbed)?.metadata.uid;
  await daemon.stop();
  const writes = api.writes.length;
  daemon.run();
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  expect(api.writes.slice(writes).filter((write) => /(POST|DELETE) .*pods/.test(write))).toEqual([]);
  expect(mirrorOf(testbed)?.metadata.uid).toBe(before);
});

test('a static pod runs before the API server can be reached, and gets its mirror pod then', async () => {
  await using testbed = await ClusterTestbed.start(async (api) => api.refuse());
  const {api, daemon} = testbed;
  await daemon.put('st.yaml', manifest('one'));
  await daemon.until('the static pod runs', () => daemon.running.includes(`${MIRROR}/main/0`));
  await api.listen();
  await testbed.untilPhase(MIRROR, 'Running');
});

test('a mirror pod that the API server refuses is tried again every minute, and logged once', async () => {
  const isCreation = ({method, path}: {method: string; path: string}): boolean =>
    method === 'POST' && path === PODS;
  await using testbed = await ClusterTestbed.start((api) => {
    api.inject(isCreation, {code: 403, message: 'can not create pods that reference secrets'}, 2);
  });
  await testbed.daemon.put('st.yaml', manifest('one'));
  await testbed.untilPhase(MIRROR, 'Running');
  expect(testbed.api.requests.filter(isCreation)).toHaveLength(3);
  const refusals = testbed.daemon.errors.filter((error) => error.includes('mirror pod'));
  expect(refusals).toEqual(['Failed creating a mirror pod: can not create pods that reference secrets']);
});

test('the kubelet shows a static pod instead of its mirror pod', async () => {
  await using testbed = await startWithStaticPod();
  const {view} = testbed.daemon;
  expect(view.pods().map(({metadata}) => metadata.uid)).toEqual([hashOf(testbed)]);
});

test('only a mirror pod of another version or with a deletion timestamp is replaced', () => {
  const pod = (metadata: object): Pod =>
    ({apiVersion: 'v1', kind: 'Pod', metadata: {name: 'a', namespace: 'b', ...metadata}, spec: {}}) as Pod;
  const staticPod = pod({annotations: {'kubernetes.io/config.hash': 'h1'}});
  const kinds = (mirror: Pod | undefined): readonly string[] =>
    computeMirrorPodActions({
      staticPods: () => [{pod: staticPod, mirror}],
      orphanedMirrorPods: () => [],
    }).map(({kind}) => kind);
  const annotations = {'kubernetes.io/config.mirror': 'h1'};
  expect(kinds(undefined)).toEqual(['create']);
  expect(kinds(pod({annotations}))).toEqual([]);
  expect(kinds(pod({annotations, deletionTimestamp: '2026-05-01T12:00:00Z'}))).toEqual(['replace']);
  expect(kinds(pod({annotations: {'kubernetes.io/config.mirror': 'h2'}}))).toEqual(['replace']);
  expect(kinds(pod({}))).toEqual(['replace']);
});

/** Runs a mirror pod loop until it is disposed. */
function runMirrors(
  api: FakeApiServer,
  host: Pick<ClusterHost, 'staticPods' | 'orphanedMirrorPods'>,
  statusesTried = async (): Promise<void> => undefined,
): AsyncDisposable & {readonly clock: FakeClock} {
  const clock = new FakeClock({nowMs: TEST_TIME_MS});
  const credentials = {tls: {rejectUnauthorized: true}, token: undefined};
  const connection = new HttpConnection(new URL(api.url), {current: async () => credentials});
  const mirrors = new MirrorPods({
    client: new ApiClient({connection, userAgent: 'kcri', clock}),
    node: () => ({metadata: {name: 'n1', uid: 'u1'}}) as Node,
    statusesTried,
    clock,
    logger: SILENT_LOGGER,
  });
  const controller = new AbortController();
  const ended = mirrors.run(host as ClusterHost, controller.signal).catch(() => undefined);
  return {
    clock,
    [Symbol.asyncDispose]: async () => {
      controller.abort();
      await ended;
    },
  };
}

const createMirror = (api: FakeApiServer): Pod =>
  api.createPod({metadata: {name: MIRROR}, spec: {}}) as unknown as Pod;

test('a mirror pod is not replaced if its static pod ends while it is deleted', async () => {
  await using api = await FakeApiServer.start();
  const mirror = createMirror(api);
  const pod: Pod = {...mirror, metadata: {...mirror.metadata, uid: podUid('static')}};
  const isDeleted = (): boolean => api.pod(MIRROR) === undefined;
  let looksAfterwards = 0;
  await using mirrors = runMirrors(api, {
    staticPods: () => {
      if (!isDeleted()) return [{pod, mirror}];
      looksAfterwards += 1;
      return [];
    },
    orphanedMirrorPods: () => [],
  });
  await until(() => mirrors.clock.sleeping > 0);
  await mirrors.clock.advance(50);
  await until(() => looksAfterwards > 0);
  expect(api.writes).toEqual([`DELETE ${PODS}/${MIRROR}`]);
});

test('a mirror pod is not replaced if its manifest turns out to have been deleted before it', async () => {
  await using api = await FakeApiServer.start();
  const mirror = createMirror(api);
  const pod: Pod = {...mirror, metadata: {...mirror.metadata, uid: podUid('static')}};
  let isRemoved = false;
  await using mirrors = runMirrors(api, {
    staticPods: () => (isRemoved ? [] : [{pod, mirror}]),
    orphanedMirrorPods: () => [],
  });
  await until(() => mirrors.clock.sleeping > 0);
  isRemoved = true;
  await mirrors.clock.advance(50);
  await until(() => mirrors.clock.sleeping > 0);
  expect(api.writes).toEqual([]);
});

// As recorded in static-before-node: the mirror pod shows how its containers have ended.
test('a mirror pod is deleted after the last status of its static pod was sent', async () => {
  await using api = await FakeApiServer.start();
  const mirror = createMirror(api);
  let sent = (): void => undefined;
  let isAsked = false;
  const host = {staticPods: () => [], orphanedMirrorPods: () => [mirror]};
  await using _mirrors = runMirrors(api, host, async () => {
    isAsked = true;
    await new Promise<void>((resolve) => {
      sent = resolve;
    });
  });
  await until(() => isAsked);
  expect(api.writes).toEqual([]);
  sent();
  await until(() => api.pod(MIRROR) === undefined);
});
