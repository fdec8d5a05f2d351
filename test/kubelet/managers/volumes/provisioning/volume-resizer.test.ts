import {mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterEach, beforeEach, expect, test} from 'vitest';
import {systemClock} from '../../../../../src/base/clock.js';
import {SystemError} from '../../../../../src/base/errors.js';
import type {ClaimToProvision} from '../../../../../src/kubelet/contract/volumes/claimed-volume.js';
import type {
  CsiVolumeToExpand,
  ExpandedCsiVolume,
} from '../../../../../src/kubelet/contract/volumes/csi-volumes.js';
import {ProvisionedClaims} from '../../../../../src/kubelet/managers/volumes/provisioning/provisioned-claims.js';
import {
  ProvisionedVolumeStore,
  type ProvisionedVolume,
} from '../../../../../src/kubelet/managers/volumes/provisioning/provisioned-volume-store.js';
import {VolumeResizer} from '../../../../../src/kubelet/managers/volumes/provisioning/volume-resizer.js';
import type {VolumeWorkOptions} from '../../../../../src/kubelet/managers/volumes/provisioning/volume-work.js';
import {until} from '../../../../base/until.js';
import {FakeClock} from '../../../../fakes/fake-clock.js';

const MIB = 1024 ** 2;
const REF = {namespace: 'default', name: 'data'};
const {signal} = new AbortController();

const RECORD: ProvisionedVolume = {
  ...{version: 1, name: 'pvc-1', claim: 'default/data', manager: 'sync', state: 'Bound'},
  request: {
    ...{driver: 'dirs.example.com', name: 'pvc-1', mountOptions: [], accessModes: ['ReadWriteOnce']},
    ...{fsType: 'ext4', parameters: {}, requiredBytes: String(MIB), limitBytes: '0'},
  },
  reclaimPolicy: 'Delete',
  volume: {
    metadata: {name: 'pvc-1'},
    spec: {capacity: {storage: String(MIB)}, csi: {driver: 'dirs.example.com', volumeHandle: 'h'}},
  },
};

let rootDir: string;
let store: ProvisionedVolumeStore;
let asked: CsiVolumeToExpand[];
let events: string[];

beforeEach(async () => {
  rootDir = await mkdtemp(join(tmpdir(), 'kcri-resizer-'));
  store = new ProvisionedVolumeStore(rootDir);
  await store.put(RECORD);
  [asked, events] = [[], []];
});
afterEach(async () => {
  await rm(rootDir, {recursive: true});
});

function aClaim(storage: string, allowVolumeExpansion = true): ClaimToProvision {
  const secret = {'secret-name': 'keys', 'secret-namespace': '${pvc.namespace}'};
  const parameters = Object.fromEntries(
    ['controller-expand', 'node-expand'].flatMap((purpose) =>
      Object.entries(secret).map(([field, value]) => [`csi.storage.k8s.io/${purpose}-${field}`, value]),
    ),
  );
  return {
    ...REF,
    spec: {accessModes: ['ReadWriteOnce'], resources: {requests: {storage}}},
    storageClass: {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: {name: 'dirs'},
      provisioner: 'dirs.example.com',
      ...{allowVolumeExpansion, parameters},
    },
    readOnly: false,
  };
}

function aResizer(
  expand: () => ExpandedCsiVolume | Promise<ExpandedCsiVolume>,
  waiting: Pick<VolumeWorkOptions<never>, 'clock' | 'waitMs'> = {clock: systemClock, waitMs: Infinity},
): VolumeResizer {
  const expandVolume = async (volume: CsiVolumeToExpand) => {
    asked.push(volume);
    return await expand();
  };
  return new VolumeResizer({store, csi: () => ({expandVolume}), ...waiting});
}

async function tryResize(resizer: VolumeResizer, claim: ClaimToProvision) {
  const [record = RECORD] = await store.list();
  return await resizer.resize(
    record,
    claim,
    (_type, reason, message) => {
      events.push(`${reason}: ${message}`);
    },
    signal,
  );
}

async function resize(resizer: VolumeResizer, claim: ClaimToProvision): Promise<ProvisionedVolume> {
  const {record, isGrowing} = await tryResize(resizer, claim);
  expect(isGrowing).toBe(false);
  return record;
}

test('the driver enlarges the volume of a claim that asks for more, once', async () => {
  const resizer = aResizer(() => ({bytes: BigInt(3 * MIB), needsNode: false}));
  const resized = await resize(resizer, aClaim('2Mi'));
  expect(asked).toMatchObject([
    {handle: 'h', requiredBytes: BigInt(2 * MIB), secret: {namespace: 'default', name: 'keys'}},
  ]);
  expect(events).toEqual([
    'Resizing: External resizer is resizing volume pvc-1',
    'VolumeResizeSuccessful: Resize volume succeeded',
  ]);
  expect(resized.volume?.spec).toMatchObject({
    capacity: {storage: String(3 * MIB)},
    csi: {volumeHandle: 'h', nodeExpandSecretRef: {name: 'keys'}},
  });
  expect((await resize(resizer, aClaim('2Mi'))).claimStatus?.capacity).toEqual({storage: String(3 * MIB)});
  expect(asked).toHaveLength(1);
});

/** A volume that is larger than what its claim has asked for. */
async function putLarger(): Promise<ProvisionedVolume> {
  const spec = {...RECORD.volume?.spec, capacity: {storage: '4Mi'}};
  const larger = {...RECORD, volume: {metadata: {name: 'pvc-1'}, spec}};
  await store.put(larger);
  return larger;
}

test.each(['1Mi', '3Mi', '4Mi'])(
  'a claim for %s asks for no more than a volume of 4Mi has',
  async (storage) => {
    const resizer = aResizer(() => ({bytes: 0n, needsNode: false}));
    const larger = await putLarger();
    expect(await resize(resizer, aClaim(storage))).toMatchObject(larger);
    expect([...asked, ...events]).toEqual([]);
  },
);

test('a request that fits in a larger volume is stored: after it, less is refused, also by the next process', async () => {
  await putLarger();
  await resize(
    aResizer(() => ({bytes: 0n, needsNode: false})),
    aClaim('3Mi'),
  );
  expect((await store.list())[0]?.claimSpec?.resources?.requests).toEqual({storage: '3Mi'});
  await resize(
    aResizer(() => ({bytes: 0n, needsNode: false})),
    aClaim('2Mi'),
  );
  expect(events).toEqual([expect.stringMatching(/can not be less than status\.capacity \(4Mi\)$/)]);
  expect((await store.list())[0]?.claimSpec?.resources?.requests).toEqual({storage: '3Mi'});
  expect(asked).toEqual([]);
});

test('a request that fits in a larger volume is refused if the class does not allow it', async () => {
  const larger = await putLarger();
  expect(
    await resize(
      aResizer(() => ({bytes: 0n, needsNode: false})),
      aClaim('3Mi', false),
    ),
  ).toEqual(larger);
  expect(events).toEqual([expect.stringMatching(/must support resize$/)]);
});

const RULE =
  'spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

test.each<[fields: object, problems: string]>([
  [{accessModes: ['ReadWriteMany']}, `${RULE} (accessModes: ["ReadWriteOnce"] → ["ReadWriteMany"])`],
  [{storageClassName: 'other'}, `${RULE} (storageClassName: "dirs" → "other")`],
  [{selector: {matchLabels: {a: 'b'}}}, `${RULE} (selector: <none> → {"matchLabels":{"a":"b"}})`],
  [
    {accessModes: ['ReadOnlyMany'], volumeName: 'pv'},
    `${RULE} (accessModes: ["ReadWriteOnce"] → ["ReadOnlyMany"]; volumeName: "pvc-1" → "pv")`,
  ],
  [{volumeName: 'pv'}, `${RULE} (volumeName: "pvc-1" → "pv")`],
  [
    {dataSource: {kind: 'PersistentVolumeClaim', name: 'c'}},
    `${RULE} (dataSource: <none> → {"kind":"PersistentVolumeClaim","name":"c"})`,
  ],
  [
    {resources: {requests: {storage: '512Ki'}, limits: {storage: '9Mi'}}},
    `[${RULE} (resources.limits.storage: <none> → "9Mi"), spec.resources.requests.storage: Forbidden: field can not be less than status.capacity (1Mi)]`,
  ],
  [
    {volumeMode: 'Block'},
    `[${RULE} (volumeMode: "Filesystem" → "Block"), volumeMode: Invalid value: "Block": field is immutable]`,
  ],
])('a claim with changed %j is refused in the words of the API server, once', async (fields, problems) => {
  const resizer = aResizer(() => ({bytes: 0n, needsNode: false}));
  const stored = {...RECORD, claimSpec: {...aClaim('1Mi').spec, storageClassName: 'dirs'}};
  await store.put(stored);
  const claim = aClaim('2Mi');
  for (let time = 0; time < 2; time++)
    expect(await resize(resizer, {...claim, spec: {...claim.spec, ...fields}})).toEqual(stored);
  expect(events).toEqual([
    `ClaimChangeRefused: PersistentVolumeClaim "default/data" is invalid: ${problems}`,
  ]);
  expect(asked).toEqual([]);
});

test('fields that the API server keeps or compares by value do not count as changed', async () => {
  const resizer = aResizer(() => ({bytes: 0n, needsNode: false}));
  const resources = {requests: {storage: '1Mi'}, limits: {storage: '1Gi'}};
  const spec = {
    ...aClaim('1Mi').spec,
    resources,
    storageClassName: 'dirs',
    volumeMode: 'Filesystem' as const,
  };
  await store.put({...RECORD, claimSpec: spec});
  const claim = aClaim('1Mi');
  const applied = {
    accessModes: [...(spec.accessModes ?? [])],
    volumeName: 'pvc-1',
    resources: {...resources, limits: {storage: '1024Mi'}},
    volumeAttributesClassName: 'gold',
  };
  await resize(resizer, {...claim, spec: applied});
  expect(events).toEqual([]);
  expect((await store.list())[0]?.claimSpec).toEqual({
    ...{...spec, volumeName: 'pvc-1'},
    volumeAttributesClassName: 'gold',
  });
});

test('a claim that asks for less than before is refused, which is reported once', async () => {
  const resizer = aResizer(() => ({bytes: 0n, needsNode: false}));
  for (let time = 0; time < 2; time++) expect(await resize(resizer, aClaim('512Ki'))).toEqual(RECORD);
  const refused =
    'VolumeResizeFailed: PersistentVolumeClaim "default/data" is invalid: spec.resources.requests.storage: Forbidden: field can not be less than status.capacity';
  expect(events.splice(0)).toEqual([`${refused} (1Mi)`]);
  const enlarged = await resize(resizer, aClaim('2Mi'));
  events.length = 0;
  expect(await resize(resizer, aClaim('1Mi'))).toEqual(enlarged);
  expect(events).toEqual([`${refused} (2Mi)`]);
  expect(asked).toHaveLength(1);
});

test('a claim may ask for less while its volume has not grown on the node', async () => {
  const resizer = aResizer(() => ({bytes: BigInt(3 * MIB), needsNode: true}));
  const enlarged = await resize(resizer, aClaim('3Mi'));
  events.length = 0;
  const {claimSpec, ...others} = await resize(resizer, aClaim('2Mi'));
  expect(others).toEqual({...enlarged, claimSpec: undefined});
  expect(claimSpec?.resources?.requests).toEqual({storage: '2Mi'});
  expect(events).toEqual([]);
});

test('what is left for the node is in the status of the claim, until it is done', async () => {
  await resize(
    aResizer(() => ({bytes: BigInt(2 * MIB), needsNode: true})),
    aClaim('2Mi'),
  );
  expect(events.at(-1)).toMatch(/^FileSystemResizeRequired: /);
  const claims = new ProvisionedClaims(rootDir);
  const claim = await claims.claim(REF);
  expect(claim.status).toMatchObject({
    capacity: {storage: String(MIB)},
    allocatedResources: {storage: String(2 * MIB)},
    allocatedResourceStatuses: {storage: 'NodeResizePending'},
    conditions: [{type: 'FileSystemResizePending', status: 'True'}],
  });
  const status = {capacity: {storage: String(2 * MIB)}, conditions: []};
  await claims.patchClaim(claim, {status, isForced: false}, signal);
  expect((await store.list())[0]?.claimStatus).toEqual(status);
  // The claim was changed since it was read.
  await expect(claims.patchClaim(claim, {status, isForced: false}, signal)).rejects.toThrow('meanwhile');
  await claims.patchClaim(claim, {status: {}, isForced: true}, signal);
  expect((await store.list())[0]?.claimStatus).toEqual({});
});

test('the status of a claim without a created volume is not known', async () => {
  await expect(new ProvisionedClaims(rootDir).claim({namespace: 'default', name: 'other'})).rejects.toThrow(
    'was not created by kcri',
  );
});

test('a class that does not allow expansion refuses it, which is reported once', async () => {
  const resizer = aResizer(() => ({bytes: 0n, needsNode: false}));
  for (let time = 0; time < 2; time++) expect(await resize(resizer, aClaim('2Mi', false))).toEqual(RECORD);
  expect(asked).toEqual([]);
  expect(events).toEqual([expect.stringMatching(/^VolumeResizeFailed: .*must support resize$/)]);
});

test('a volume that its driver cannot enlarge is used as it is, and asked for again', async () => {
  let failure: Error | undefined = new SystemError('it is full');
  const resizer = aResizer(() => {
    if (failure !== undefined) throw failure;
    return {bytes: 0n, needsNode: false};
  });
  expect(await resize(resizer, aClaim('2Mi'))).toEqual(RECORD);
  expect(events.at(-1)).toBe(
    'VolumeResizeFailed: resize volume "pvc-1" by resizer "dirs.example.com" failed: it is full',
  );
  failure = undefined;
  // The driver does not say how large the volume is.
  expect((await resize(resizer, aClaim('2Mi'))).volume?.spec.capacity).toEqual({storage: '2Mi'});
});

/** A driver that does not answer until it is told to. */
function aHangingDriver() {
  let answer: (expanded: ExpandedCsiVolume) => void = () => undefined;
  const hanging = new Promise<ExpandedCsiVolume>((resolve) => {
    answer = resolve;
  });
  const clock = new FakeClock();
  return {clock, answer, resizer: aResizer(() => hanging, {clock, waitMs: 5000})};
}

test('a driver that hangs delays the pods of its claim for a while, once', async () => {
  const {clock, answer, resizer} = aHangingDriver();
  const first = tryResize(resizer, aClaim('2Mi'));
  await until(() => clock.sleeping > 0);
  await clock.advance(5000);
  expect(await first).toEqual({record: RECORD, isGrowing: true});
  // Another one, or the same again, does not wait.
  expect(await tryResize(resizer, aClaim('2Mi'))).toEqual({record: RECORD, isGrowing: true});
  expect(asked).toHaveLength(1);
  answer({bytes: BigInt(2 * MIB), needsNode: true});
  await until(() => events.length === 2);
  expect((await resize(resizer, aClaim('2Mi'))).claimStatus).toMatchObject({
    allocatedResourceStatuses: {storage: 'NodeResizePending'},
  });
  expect(asked).toHaveLength(1);
});

test('what others have done to a volume while its driver works is kept', async () => {
  const {answer, resizer} = aHangingDriver();
  const growing = tryResize(resizer, aClaim('2Mi'));
  await until(() => asked.length === 1);
  const done = await resize(
    aResizer(() => ({bytes: BigInt(2 * MIB), needsNode: false})),
    aClaim('2Mi'),
  );
  answer({bytes: BigInt(2 * MIB), needsNode: true});
  expect(await growing).toEqual({record: done, isGrowing: false});
  expect(await store.list()).toEqual([done]);
});

test('a volume that is deleted while its driver enlarges it stays deleted', async () => {
  const {answer, resizer} = aHangingDriver();
  const growing = tryResize(resizer, aClaim('2Mi'));
  await until(() => asked.length === 1);
  await store.delete(RECORD);
  answer({bytes: 0n, needsNode: false});
  expect(await growing).toEqual({record: RECORD, isGrowing: false});
  expect(await store.list()).toEqual([]);
});
