import {describe, expect, test} from 'vitest';
import {NO_METRICS, type VolumeOperation} from '../../../../src/kubelet/contract/kubelet-metrics.js';
import type {StoredObject} from '../../../fakes/api-server/object-storage.js';
import type {FakeCsiDriver} from '../../../fakes/plugins/fake-csi-driver.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';
import {startCsiTestbed, type CsiTestbed} from './csi-testbed.js';

const CLAIM = '/api/v1/namespaces/default/persistentvolumeclaims/c';
const VOLUME = '/api/v1/persistentvolumes/pv';
const GI = 1024 * 1024 * 1024;
/** Status of a claim whose controller has enlarged the volume. */
const PENDING = {
  capacity: {storage: '1Gi'},
  allocatedResources: {storage: '2Gi'},
  allocatedResourceStatuses: {storage: 'NodeResizePending'},
  conditions: [{type: 'FileSystemResizePending', status: 'True'}],
};
const DONE = {phase: 'Bound', capacity: {storage: '2Gi'}, allocatedResources: {storage: '2Gi'}};

/** A running kubelet with a volume and its driver, which can enlarge it. */
interface ExpansionTestbed extends AsyncDisposable {
  readonly csi: CsiTestbed;
  readonly driver: FakeCsiDriver;
  /** Changes sizes: the status of the claim, and the capacity of the volume. */
  resize(status: object, capacity?: string): void;
  status(): Readonly<Record<string, unknown>>;
  /** Events with these reasons as `object reason: message`. */
  events(...reasons: readonly string[]): readonly string[];
}

async function startExpansion(
  status: object,
  {
    capabilities = ['STAGE_UNSTAGE_VOLUME', 'EXPAND_VOLUME'],
    claim = {},
    volume = {},
    source = {},
    operations = [] as string[],
  } = {},
): Promise<ExpansionTestbed> {
  const volumeOperated = ({operation}: VolumeOperation): void => void operations.push(operation);
  const csi = await startCsiTestbed({
    source,
    metrics: {...NO_METRICS, volumeOperated, pleg: () => undefined},
    prepare: ({storage}) => {
      const found = storage.get(CLAIM)!;
      const spec = {...(found['spec'] as object), resources: {requests: {storage: '2Gi'}}, ...claim};
      storage.put(CLAIM, {...found, spec, status: {phase: 'Bound', ...status}});
      const pv = storage.get(VOLUME)!;
      const {claimRef, ...others} = pv['spec'] as {readonly claimRef: object};
      const ref = {...claimRef, namespace: 'default', name: 'c'};
      storage.put(VOLUME, {...pv, spec: {...others, capacity: {storage: '2Gi'}, claimRef: ref, ...volume}});
    },
  });
  const driver = await csi.plug({capabilities});
  const {cluster} = csi;
  const {api} = cluster;
  const get = (path: string): StoredObject => api.storage.get(path)!;
  return {
    csi,
    driver,
    resize: (next, capacity = '2Gi') => {
      api.storage.put(CLAIM, {...get(CLAIM), status: {phase: 'Bound', ...next}});
      const pv = get(VOLUME);
      api.storage.put(VOLUME, {...pv, spec: {...(pv['spec'] as object), capacity: {storage: capacity}}});
    },
    status: () => get(CLAIM)['status'] as Readonly<Record<string, unknown>>,
    events: (...reasons) =>
      [...cluster.events('Pod'), ...cluster.events('PersistentVolumeClaim')]
        .filter(({reason}) => reasons.includes(reason))
        .map(({involvedObject, reason, message}) => `${involvedObject.kind} ${reason}: ${message}`),
    [Symbol.asyncDispose]: () => csi[Symbol.asyncDispose](),
  };
}

test('a local volume of a larger claim is enlarged on the node, with the events and the status of a CSI volume', async () => {
  const local = {path: await temporaryDirectory()};
  await using testbed = await startExpansion(PENDING, {volume: {csi: undefined, local}});
  testbed.csi.createPod('p');
  await testbed.csi.cluster.untilPhase('p', 'Running');
  expect(testbed.status()).toEqual(expect.objectContaining(DONE));
  const done = `FileSystemResizeSuccessful: MountVolume.NodeExpandVolume succeeded for volume "pv" ${GOLDEN_NODE.nodeName}`;
  expect(testbed.events('FileSystemResizeSuccessful')).toEqual([
    `Pod ${done}`,
    `PersistentVolumeClaim ${done}`,
  ]);
  testbed.csi.cluster.api.deletePod('p');
  await testbed.csi.cluster.untilDeleted('p');
});

/** Returns how often the kubelet has read the claim. */
function claimReads({csi}: ExpansionTestbed): number {
  const {requests} = csi.cluster.api;
  return requests.filter(({method, path}) => method === 'GET' && path === CLAIM).length;
}

const SUCCESS = `MountVolume.NodeExpandVolume succeeded for volume "pv" ${GOLDEN_NODE.nodeName}`;

describe('a volume that its controller has enlarged', () => {
  test('is enlarged on the node before its pod starts, and the claim gets the size', async () => {
    await using testbed = await startExpansion(PENDING, {source: {fsType: 'ext4'}});
    const {csi, driver} = testbed;
    csi.createPod('p');
    await csi.cluster.untilPhase('p', 'Running');
    expect(driver.callsTo('NodeExpandVolume')).toMatchObject([
      {
        volume_id: 'h1',
        volume_path: `${csi.podVolume('p')}/mount`,
        staging_target_path: driver.callsTo('NodeStageVolume')[0]?.['staging_target_path'],
        capacity_range: {required_bytes: String(2 * GI)},
        volume_capability: {mount: {fs_type: 'ext4'}, access_mode: {mode: 'SINGLE_NODE_WRITER'}},
      },
    ]);
    expect(testbed.status()).toEqual({...DONE, conditions: []});
    const patches = csi.cluster.api.requests.filter(
      ({method, path}) => method === 'PATCH' && path.includes(CLAIM),
    );
    expect(patches.map(({body}) => (body as {readonly status: object}).status)).toEqual([
      {allocatedResourceStatuses: {storage: 'NodeResizeInProgress'}},
      expect.objectContaining({capacity: {storage: '2Gi'}, allocatedResourceStatuses: null}),
    ]);
    const {daemon} = csi.cluster;
    await daemon.until(
      'the events are sent',
      () => testbed.events('FileSystemResizeSuccessful').length === 2,
    );
    expect(testbed.events('FileSystemResizeSuccessful')).toEqual([
      `Pod FileSystemResizeSuccessful: ${SUCCESS}`,
      `PersistentVolumeClaim FileSystemResizeSuccessful: ${SUCCESS}`,
    ]);
  });

  test('keeps its pod from starting while the driver fails', async () => {
    await using testbed = await startExpansion(PENDING);
    testbed.driver.fail('NodeExpandVolume', 'INTERNAL', 'broken');
    testbed.csi.createPod('p');
    await testbed.csi.cluster.untilPhase('p', 'Running');
    expect(testbed.csi.failures()).toContain(
      'MountVolume.Setup failed while expanding volume for volume "pv" : Expander.NodeExpand failed to expand the volume : rpc error: code = Internal desc = broken',
    );
    expect(testbed.status()).toMatchObject(DONE);
  });

  test('is enlarged without a status of the resize, as by older controllers', async () => {
    await using testbed = await startExpansion({capacity: {storage: '1Gi'}});
    testbed.csi.createPod('p');
    await testbed.csi.cluster.untilPhase('p', 'Running');
    expect(testbed.driver.callsTo('NodeExpandVolume')).toHaveLength(1);
    expect(testbed.status()).toMatchObject({capacity: {storage: '2Gi'}});
  });

  test('is left to a driver without the capability, if its controller has no status', async () => {
    await using testbed = await startExpansion({capacity: {storage: '1Gi'}}, {capabilities: []});
    testbed.csi.createPod('p');
    await testbed.csi.cluster.untilPhase('p', 'Running');
    expect(testbed.driver.callsTo('NodeExpandVolume')).toEqual([]);
    expect(testbed.status()).toMatchObject({capacity: {storage: '1Gi'}});
  });

  test('is not enlarged for a read-only pod, which is told', async () => {
    await using testbed = await startExpansion(PENDING);
    const {csi, driver} = testbed;
    csi.createPod('p', {volumes: [{name: 'v', persistentVolumeClaim: {claimName: 'c', readOnly: true}}]});
    await csi.cluster.untilPhase('p', 'Running');
    await csi.cluster.daemon.until(
      'the events are sent',
      () => testbed.events('FileSystemResizeFailed').length === 2,
    );
    expect(testbed.events('FileSystemResizeFailed')[0]).toContain(
      'MountVolume.NodeExpandVolume failed for volume "pv" requested read-only file system',
    );
    expect(driver.callsTo('NodeExpandVolume')).toEqual([]);
  });
});

describe('a volume that is enlarged while a pod uses it', () => {
  async function startRunning(operations: string[] = []): Promise<ExpansionTestbed> {
    const testbed = await startExpansion(
      {capacity: {storage: '1Gi'}},
      {volume: {capacity: {storage: '1Gi'}}, operations},
    );
    testbed.csi.createPod('p');
    await testbed.csi.cluster.untilPhase('p', 'Running');
    return testbed;
  }

  test('is enlarged on the node when its controller has finished', async () => {
    const operations: string[] = [];
    await using testbed = await startRunning(operations);
    const {csi, driver} = testbed;
    const {daemon} = csi.cluster;
    testbed.resize({...PENDING, allocatedResourceStatuses: {storage: 'ControllerResizeInProgress'}});
    const before = claimReads(testbed);
    await daemon.until(
      'the kubelet looks at the claim again and again',
      () => claimReads(testbed) > before + 6,
    );
    expect(driver.callsTo('NodeExpandVolume')).toEqual([]);
    testbed.resize(PENDING);
    await daemon.until(
      'the claim has the size',
      () => 'capacity' in testbed.status() && !('allocatedResourceStatuses' in testbed.status()),
    );
    expect(driver.callsTo('NodeExpandVolume')).toHaveLength(1);
    expect(testbed.status()).toMatchObject(DONE);
    expect(driver.callsTo('NodePublishVolume')).toHaveLength(1);
    expect(operations).toContain('volume_fs_resize');
  });

  test('keeps its pod running when the driver refuses the size, which the claim shows', async () => {
    await using testbed = await startRunning();
    const {daemon} = testbed.csi.cluster;
    testbed.driver.fail('NodeExpandVolume', 'OUT_OF_RANGE', 'too large');
    testbed.resize(PENDING);
    await daemon.until('the event is sent', () => testbed.events('VolumeResizeFailed').length > 0);
    const failure =
      'Expander.NodeExpand failed to expand the volume rpc error: code = OutOfRange desc = too large';
    expect(testbed.events('VolumeResizeFailed')).toEqual([
      `Pod VolumeResizeFailed: NodeExpandVolume.NodeExpandVolume failed for volume "pv" : ${failure}`,
    ]);
    expect(testbed.status()).toMatchObject({
      allocatedResourceStatuses: {storage: 'NodeResizeInfeasible'},
      conditions: [
        {type: 'FileSystemResizePending'},
        {type: 'NodeResizeError', status: 'True', message: `failed to expand pvc with ${failure}`},
      ],
    });
    expect(testbed.csi.cluster.status('p').phase).toBe('Running');
  });

  test('is not tried again if the driver can do it only while nobody uses the volume', async () => {
    await using testbed = await startRunning();
    const {csi, driver} = testbed;
    driver.fail('NodeExpandVolume', 'FAILED_PRECONDITION', 'in use', 5);
    testbed.resize(PENDING);
    const {daemon} = csi.cluster;
    await daemon.until('the driver is asked', () => driver.callsTo('NodeExpandVolume').length > 0);
    const before = claimReads(testbed);
    await daemon.until('the kubelet looks at the claim again', () => claimReads(testbed) > before);
    expect(driver.callsTo('NodeExpandVolume')).toHaveLength(1);
    expect(testbed.events('VolumeResizeFailed')).toEqual([]);
  });
});
