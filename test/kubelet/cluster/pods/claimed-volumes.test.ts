import {mkdir, stat} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {BUSYBOX} from '../../../fakes/runtime-builders.js';
import {ClusterTestbed} from '../cluster-testbed.js';

const CLAIM_PATH = '/api/v1/namespaces/default/persistentvolumeclaims/c';
const VOLUME_PATH = '/api/v1/persistentvolumes/pv';
const CLAIM_UID = '00000000-0000-4000-8000-000000000001';

interface Objects {
  readonly claim?: {readonly metadata?: object; readonly spec?: object; readonly status?: object};
  readonly volume?: object;
}

/** Creates a bound claim and its volume. */
function createClaim({api}: Pick<ClusterTestbed, 'api'>, {claim = {}, volume = {}}: Objects = {}): void {
  api.create(CLAIM_PATH, {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    spec: {accessModes: ['ReadWriteOnce'], volumeName: 'pv', ...claim.spec},
    status: {phase: 'Bound', ...claim.status},
    metadata: {uid: CLAIM_UID, ...claim.metadata},
  });
  api.create(VOLUME_PATH, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    spec: {
      accessModes: ['ReadWriteOnce'],
      volumeMode: 'Filesystem',
      claimRef: {namespace: 'default', name: 'c', uid: CLAIM_UID},
      ...volume,
    },
  });
}

/** Creates a pod that mounts the claim. */
function createPod(
  testbed: ClusterTestbed,
  source: object = {persistentVolumeClaim: {claimName: 'c'}},
): void {
  testbed.createPod('p', {
    volumes: [{name: 'v', ...source}],
    containers: [{name: 'main', image: BUSYBOX, volumeMounts: [{name: 'v', mountPath: '/v'}]}],
  });
}

const mountsOf = ({daemon}: ClusterTestbed): unknown =>
  daemon.ownContainers[0]?.config.mounts.filter(({containerPath}) => containerPath === '/v');

test('a claim of a hostPath volume is mounted, and the requests are those of a kubelet', async () => {
  const directory = await temporaryDirectory();
  await using testbed = await ClusterTestbed.start();
  const path = join(directory, 'pv');
  createClaim(testbed, {volume: {hostPath: {path, type: 'DirectoryOrCreate'}}});
  createPod(testbed);
  await testbed.untilPhase('p', 'Running');
  expect(mountsOf(testbed)).toMatchObject([{hostPath: path, readonly: false}]);
  expect((await stat(path)).isDirectory()).toBe(true);
  const requests = testbed.api.requests.filter((request) => request.path.includes('persistentvolume'));
  expect(requests.slice(0, 2).map((request) => `${request.method} ${request.path}`)).toEqual([
    `GET ${CLAIM_PATH}`,
    `GET ${VOLUME_PATH}`,
  ]);
});

test('a filesystem is not given to containers as a device', async () => {
  await using testbed = await ClusterTestbed.start();
  createClaim(testbed, {volume: {hostPath: {path: '/dev/null'}}});
  testbed.createPod('p', {
    volumes: [{name: 'v', persistentVolumeClaim: {claimName: 'c'}}],
    containers: [{name: 'main', image: BUSYBOX, volumeDevices: [{name: 'v', devicePath: '/dev/x'}]}],
  });
  const failures = () => testbed.daemon.events.filter(({reason}) => reason === 'FailedMount');
  await testbed.daemon.until('the mount fails', () => failures().length > 0);
  expect(failures()[0]?.message).toContain(
    'volume v has volumeMode Filesystem, but is specified in volumeDevices',
  );
});

test('a claim that is used read-only is mounted read-only', async () => {
  const directory = await temporaryDirectory();
  await using testbed = await ClusterTestbed.start();
  createClaim(testbed, {volume: {hostPath: {path: directory}}});
  createPod(testbed, {persistentVolumeClaim: {claimName: 'c', readOnly: true}});
  await testbed.untilPhase('p', 'Running');
  expect(mountsOf(testbed)).toMatchObject([{hostPath: directory, readonly: true}]);
});

const UNPROCESSED =
  'Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed to process volumes=[v]: ';

test.each<[string, Objects, string]>([
  [
    'is not bound',
    {claim: {status: {phase: 'Pending'}}},
    `${UNPROCESSED}error processing PVC default/c: PVC is not bound`,
  ],
  [
    'names no volume',
    {claim: {spec: {volumeName: ''}}},
    `${UNPROCESSED}error processing PVC default/c: PVC has empty pvc.Spec.VolumeName`,
  ],
  [
    'is being deleted',
    {claim: {metadata: {deletionTimestamp: '2026-05-01T12:00:00Z'}}},
    `${UNPROCESSED}error processing PVC default/c: PVC is being deleted`,
  ],
  [
    'names a volume that does not exist',
    {claim: {spec: {volumeName: 'none'}}},
    `${UNPROCESSED}error processing PVC default/c: failed to fetch PV none from API server: persistentvolumes "none" not found`,
  ],
  [
    'has a volume of no claim',
    {volume: {claimRef: undefined}},
    `${UNPROCESSED}error processing PVC default/c: found PV object pv but it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`,
  ],
  [
    'has a volume of another claim',
    {volume: {claimRef: {uid: 'other'}}},
    `${UNPROCESSED}error processing PVC default/c: found PV object pv but its pv.Spec.ClaimRef.UID other does not point to claim.UID ${CLAIM_UID}`,
  ],
  [
    'has a block volume',
    {volume: {volumeMode: 'Block'}},
    `${UNPROCESSED}volume v has volumeMode Block, but is specified in volumeMounts`,
  ],
  [
    'has a volume of another node',
    {
      volume: {
        hostPath: {path: '/x'},
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [
              {matchExpressions: [{key: 'kubernetes.io/hostname', operator: 'In', values: ['other']}]},
            ],
          },
        },
      },
    },
    'MountVolume.NodeAffinity check failed for volume "pv" : no matching NodeSelectorTerms',
  ],
  [
    'has a hostPath volume with mount options',
    {volume: {hostPath: {path: '/x'}, mountOptions: ['ro']}},
    'MountVolume.MountOptionSupport check failed for volume "pv" : Mount options are not supported for this volume type',
  ],
  [
    'has a local volume whose directory does not exist',
    {volume: {local: {path: '/none/such'}}},
    'MountVolume.NewMounter initialization failed for volume "pv" : path "/none/such" does not exist',
  ],
  [
    'has a volume of a kind that kcri does not know',
    {volume: {flocker: {}}},
    `${UNPROCESSED}failed to get Plugin from volumeSpec for volume "pv" err=no volume plugin matched`,
  ],
  [
    'has a FlexVolume whose driver is missing',
    {volume: {flexVolume: {driver: 'kcri.test/none'}}},
    `${UNPROCESSED}failed to get Plugin from volumeSpec for volume "pv" err=no volume plugin matched: the FlexVolume driver "kcri.test/none" is not installed: no file /usr/libexec/kubernetes/kubelet-plugins/volume/exec/kcri.test~none/none`,
  ],
])('a claim that %s keeps the pod pending with an event', async (_title, objects, message) => {
  await using testbed = await ClusterTestbed.start();
  createClaim(testbed, objects);
  createPod(testbed);
  const failures = (): readonly string[] =>
    testbed.daemon.events.filter(({reason}) => reason === 'FailedMount').map((event) => event.message);
  await testbed.daemon.until('the mount failed', () => failures().length > 0);
  expect(failures()[0]).toBe(message);
  expect(testbed.status('p').phase).toBe('Pending');
});

test('a pod with a volume of a CSI driver waits for the driver', async () => {
  await using testbed = await ClusterTestbed.start();
  testbed.createPod('data', {
    volumes: [{name: 'data', csi: {driver: 'disk.example.com'}}],
    containers: [{name: 'main', image: BUSYBOX, volumeMounts: [{name: 'data', mountPath: '/data'}]}],
  });
  const messages = (): readonly string[] =>
    testbed.daemon.events.filter(({reason}) => reason === 'FailedMount').map(({message}) => message);
  await testbed.daemon.until('the mount failed', () => messages().length > 0);
  expect(messages()[0]).toBe(
    'MountVolume.SetUp failed for volume "data" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name disk.example.com not found in the list of registered CSI drivers',
  );
  expect(testbed.status('data').phase).toBe('Pending');
});

test('a pod starts when its claim has been bound', async () => {
  const directory = await temporaryDirectory();
  await using testbed = await ClusterTestbed.start();
  createPod(testbed);
  await testbed.daemon.until('the mount failed', () =>
    testbed.daemon.events.some(({message}) =>
      message.includes('error processing PVC default/c: failed to fetch PVC from API server'),
    ),
  );
  createClaim(testbed, {volume: {hostPath: {path: directory}}});
  await testbed.untilPhase('p', 'Running');
});

test('a container restarts while its claim cannot be read', async () => {
  const directory = await temporaryDirectory();
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  createClaim(testbed, {volume: {hostPath: {path: directory}}});
  createPod(testbed);
  await testbed.untilPhase('p', 'Running');
  api.inject(({path}) => path === CLAIM_PATH, {code: 500});
  daemon.kill('main', 1);
  await daemon.until('the container runs again', () => daemon.running.includes('p/main/1'));
});

test('a generic ephemeral volume uses the claim of its pod, and no claim of another owner', async () => {
  const directory = await temporaryDirectory();
  await using testbed = await ClusterTestbed.start();
  const {api, daemon} = testbed;
  createClaim(testbed, {volume: {hostPath: {path: directory}}});
  const claim = api.storage.get(CLAIM_PATH)!;
  const path = '/api/v1/namespaces/default/persistentvolumeclaims/p-v';
  api.storage.put(path, {...claim, metadata: {...claim.metadata, name: 'p-v'}});
  createPod(testbed, {ephemeral: {volumeClaimTemplate: {spec: {}}}});
  const message = `${UNPROCESSED}PVC default/p-v was not created for pod default/p (pod is not owner)`;
  await daemon.until('the claim is refused', () => daemon.events.some((event) => event.message === message));
  const ownerReferences = [
    {apiVersion: 'v1', kind: 'Pod', name: 'p', uid: api.pod('p')?.metadata.uid, controller: true},
  ];
  api.storage.put(path, {...claim, metadata: {...claim.metadata, name: 'p-v', ownerReferences}});
  await testbed.untilPhase('p', 'Running');
});

/** Mounting requires root. */
test.skipIf(process.getuid?.() !== 0)(
  'a local volume is mounted for the pod, and its files remain when the pod is removed',
  async () => {
    const directory = await temporaryDirectory();
    const path = join(directory, 'disk');
    await mkdir(join(path, 'kept'), {recursive: true});
    await using testbed = await ClusterTestbed.start();
    createClaim(testbed, {volume: {local: {path}}});
    createPod(testbed);
    await testbed.untilPhase('p', 'Running');
    const [mount] = mountsOf(testbed) as readonly {readonly hostPath: string}[];
    expect(mount?.hostPath).toMatch(/\/volumes\/kubernetes\.io~local-volume\/pv$/);
    expect((await stat(join(mount!.hostPath, 'kept'))).isDirectory()).toBe(true);
    testbed.api.deletePod('p');
    await testbed.untilDeleted('p');
    await testbed.daemon.untilAllRemoved();
    expect((await stat(join(path, 'kept'))).isDirectory()).toBe(true);
  },
);
