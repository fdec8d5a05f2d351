import {expect, test} from 'vitest';
import {computeVolumes} from '../../../../../src/kubelet/managers/volumes/inventory/compute-volumes.js';
import type {VolumePod} from '../../../../../src/kubelet/managers/volumes/inventory/node-volume.js';
import type {
  PodVolumeFact,
  StagedVolumeFact,
  VolumeFacts,
} from '../../../../../src/kubelet/managers/volumes/inventory/volume-facts.js';
import type {Pod} from '../../../../../src/api/types/v1-pod.js';
import type {Volume} from '../../../../../src/api/types/v1-volumes.js';
import {LINEAR_GROWTH, measureTimeGrowth} from '../../../../base/time-growth.js';
import {aContainer, aContainerStatus, aPod} from '../../../../fakes/a-pod.js';

const MOUNT = {device: '8:1', fileSystem: 'ext4', source: '/dev/sda1', path: '/mnt'};

function aFact(fields: Partial<PodVolumeFact> & {readonly name: string}): PodVolumeFact {
  const {plugin = 'kubernetes.io/empty-dir', name} = fields;
  const path = `/root/pods/u1/volumes/${plugin}/${name}`;
  return {uid: 'u1', plugin, path, isBlock: false, isComplete: true, mount: undefined, ...fields};
}

function aCsiFact(fields: Partial<PodVolumeFact> & {readonly name: string}): PodVolumeFact {
  const data = {driverName: 'csi.test', volumeHandle: 'h1', volumeLifecycleMode: 'Persistent'} as const;
  return aFact({plugin: 'kubernetes.io/csi', data, ...fields});
}

function aStaged(fields: Partial<StagedVolumeFact> = {}): StagedVolumeFact {
  const data = {driverName: 'csi.test', volumeHandle: 'h1'};
  return {plugin: 'kubernetes.io/csi', path: '/root/staged', name: undefined, mount: MOUNT, data, ...fields};
}

function someFacts(pods: readonly PodVolumeFact[], fields: Partial<VolumeFacts> = {}): VolumeFacts {
  const uids = [...new Set(pods.map(({uid}) => uid))];
  const rest = {staged: [], claims: [], provisioned: [], problems: []};
  return {requestedDir: '/root', rootDir: '/root', isOfKcri: true, uids, pods, ...rest, ...fields};
}

/** Returns a pod whose container uses all volumes. */
function aVolumePod(
  volumes: readonly Volume[],
  fields: Partial<VolumePod> = {},
  isStarted = true,
): VolumePod {
  const volumeMounts = volumes.map(({name}) => ({name, mountPath: `/${name}`}));
  const running = {state: {running: {startedAt: '2026-01-01T00:00:00Z'}}};
  const containerStatuses = [aContainerStatus(isStarted ? running : {state: {waiting: {}}})];
  const pod: Pod = {
    ...aPod({volumes: [...volumes], containers: [aContainer({volumeMounts})]}),
    status: {phase: isStarted ? 'Running' : 'Pending', containerStatuses},
  };
  return {uid: 'u1', namespace: 'default', name: 'web', pod, events: [], histories: [], ...fields};
}

function compute(pods: readonly VolumePod[], facts: VolumeFacts, knowsAll = true) {
  return computeVolumes({facts: [facts], pods, knowsAllPods: () => knowsAll});
}

const CLAIM: Volume = {name: 'data', persistentVolumeClaim: {claimName: 'db'}};
const NFS: Volume = {name: 'nfs', nfs: {server: 's', path: '/'}};

test.each<readonly [string, Volume, PodVolumeFact | undefined, Partial<VolumeFacts>, object]>([
  ['emptyDir', {name: 'a', emptyDir: {}}, aFact({name: 'a'}), {}, {kind: 'emptyDir', state: 'mounted'}],
  [
    'an unfinished ConfigMap',
    {name: 'a', configMap: {name: 'c'}},
    aFact({name: 'a', plugin: 'kubernetes.io/configmap', isComplete: false}),
    {},
    {kind: 'configMap', state: 'pending'},
  ],
  [
    'a disk that its CSI driver mounts',
    {name: 'a', azureDisk: {diskName: 'd', diskURI: '/disks/d', kind: 'Managed'}},
    aCsiFact({name: '~disks~d'}),
    {},
    {kind: 'csi', name: 'a', driver: 'csi.test', persistentVolume: undefined, state: 'published'},
  ],
  [
    'a disk that its CSI driver has not mounted',
    {name: 'a', azureDisk: {diskName: 'd', diskURI: '/disks/d', kind: 'Managed'}},
    undefined,
    {uids: ['u1']},
    {
      kind: 'azureDisk',
      driver: 'disk.csi.azure.com',
      state: 'error',
      message: 'its directory does not exist',
    },
  ],
  [
    'a disk that its CSI driver does not know',
    {name: 'a', azureDisk: {diskName: 'd', diskURI: '/disks/d', kind: 'Shared'}},
    undefined,
    {},
    {kind: 'azureDisk', driver: undefined},
  ],
  [
    'hostPath',
    {name: 'a', hostPath: {path: '/x'}},
    undefined,
    {},
    {kind: 'hostPath', state: 'mounted', path: '/x'},
  ],
  [
    'NFS without a mount',
    NFS,
    aFact({name: 'nfs', plugin: 'kubernetes.io/nfs'}),
    {},
    {kind: 'nfs', state: 'pending'},
  ],
  [
    'mounted NFS',
    NFS,
    aFact({name: 'nfs', plugin: 'kubernetes.io/nfs', mount: MOUNT}),
    {},
    {kind: 'nfs', state: 'mounted', mount: MOUNT},
  ],
  [
    'the claim of a CSI volume',
    CLAIM,
    aCsiFact({name: 'pv1'}),
    {},
    {
      kind: 'csi',
      state: 'published',
      name: 'data',
      claim: 'default/db',
      persistentVolume: 'pv1',
      handle: 'h1',
    },
  ],
  [
    'a claim that is staged but not published',
    CLAIM,
    aCsiFact({name: 'pv1', isComplete: false}),
    {staged: [aStaged()]},
    {state: 'staged', stagingPath: '/root/staged'},
  ],
  [
    'a damaged identity',
    CLAIM,
    aFact({plugin: 'kubernetes.io/csi', name: 'pv1', damage: 'bad file'}),
    {},
    {state: 'error', message: 'bad file'},
  ],
  [
    'a directory of a claim',
    CLAIM,
    undefined,
    {claims: ['default/db'], uids: ['u1']},
    {kind: 'claim', state: 'mounted', path: '/root/claims/default/db', claim: 'default/db'},
  ],
  [
    'a block volume',
    CLAIM,
    aCsiFact({name: 'pv1', isBlock: true, mount: MOUNT}),
    {},
    {state: 'published', isBlock: true},
  ],
  ['a lost directory', {name: 'a', emptyDir: {}}, undefined, {uids: ['u1']}, {state: 'error'}],
  ['NFS without a directory', NFS, undefined, {uids: ['u1']}, {state: 'error'}],
  [
    'an iSCSI disk without a directory',
    {name: 'a', iscsi: {targetPortal: 'p', iqn: 'i', lun: 0}},
    undefined,
    {uids: ['u1']},
    {state: 'error'},
  ],
  [
    'a Fibre Channel disk without a directory',
    {name: 'a', fc: {wwids: ['x']}},
    undefined,
    {uids: ['u1']},
    {state: 'error'},
  ],
  [
    'the claim of a provisioned volume without a directory',
    CLAIM,
    undefined,
    {
      uids: ['u1'],
      provisioned: [{name: 'pv1', claim: 'default/db', driver: 'csi.test', handle: 'h1', isBlock: true}],
    },
    {
      ...{state: 'error', message: 'its directory does not exist'},
      ...{kind: 'csi', persistentVolume: 'pv1', isBlock: true},
    },
  ],
  [
    'a FlexVolume',
    {name: 'a', flexVolume: {driver: 'example.com/box'}},
    aFact({plugin: 'example.com/box', name: 'a', mount: MOUNT}),
    {},
    {kind: 'flexVolume', driver: 'example.com/box', state: 'mounted'},
  ],
  [
    'a FlexVolume without a directory',
    {name: 'a', flexVolume: {driver: 'example.com/box'}},
    undefined,
    {uids: ['u1']},
    {
      kind: 'flexVolume',
      driver: 'example.com/box',
      state: 'error',
      message: 'its directory does not exist',
    },
  ],
  ['a claim of an unknown kind', CLAIM, undefined, {uids: ['u1']}, {state: 'mounted'}],
  [
    'an ephemeral volume of a driver without a directory',
    {name: 'a', csi: {driver: 'csi.test'}},
    undefined,
    {uids: ['u1']},
    {state: 'error', message: 'its directory does not exist'},
  ],
])('the state of %s follows from its directory', (...[, volume, fact, fields, expected]) => {
  const facts = someFacts(fact === undefined ? [] : [fact], fields);
  const [found, ...others] = compute([aVolumePod([volume])], facts);
  expect(found).toMatchObject({name: volume.name, pod: {name: 'web'}, ...expected});
  expect(others).toEqual([]);
});

test('a volume that waits has the last error of its events, or of its history', () => {
  const event = (message: string, lastTimestamp: string) => ({
    reason: 'FailedMount',
    message,
    count: 1,
    lastTimestamp,
  });
  const events = [
    event('MountVolume.SetUp failed for volume "nfs" : new', '2026-01-01T00:00:02Z'),
    event('MountVolume.SetUp failed for volume "nfs" : old', '2026-01-01T00:00:01Z'),
    event('MountVolume.SetUp failed for volume "other" : x', '2026-01-01T00:00:03Z'),
  ];
  const facts = someFacts([aFact({name: 'nfs', plugin: 'kubernetes.io/nfs'})]);
  const waiting = aVolumePod([NFS], {events}, false);
  expect(compute([waiting], facts)).toMatchObject([
    {state: 'error', message: expect.stringMatching(/: new$/) as string},
  ]);
  const history = {name: 'nfs', volume: 'nfs', plugin: 'kubernetes.io/nfs', path: '/x', totalFailures: 3};
  const failing = {...history, failures: 1, lastError: 'no route'};
  expect(compute([{...waiting, histories: [failing]}], facts)).toMatchObject([{message: 'no route'}]);
  expect(
    compute([{...waiting, histories: [{...history, failures: 0, mountedAt: '2026-01-01T00:00:04Z'}]}], facts),
  ).toMatchObject([{state: 'pending'}]);
});

test('claims are matched with directories by histories and provisioned volumes, or stand for themselves', () => {
  const claims: Volume[] = ['a', 'b'].map((name) => ({name, persistentVolumeClaim: {claimName: name}}));
  const found = someFacts([aCsiFact({name: 'pv-b'}), aCsiFact({name: 'pv-a'})]);
  const names = (volumes: ReturnType<typeof compute>) => volumes.map(({name, claim}) => [name, claim]);
  expect(names(compute([aVolumePod(claims)], found))).toEqual([
    ['pv-b', undefined],
    ['pv-a', undefined],
  ]);
  const history = {plugin: '', path: '', failures: 0, totalFailures: 0};
  const recorded = {histories: [{...history, name: 'a', volume: 'pv-a'}]};
  const matched = [
    ['a', 'default/a'],
    ['b', 'default/b'],
  ];
  expect(names(compute([aVolumePod(claims, recorded)], found))).toEqual(matched);
  const provisioned = [{name: 'pv-a', claim: 'default/a', driver: 'csi.test', handle: 'h1'}];
  expect(names(compute([aVolumePod(claims)], {...found, provisioned}))).toEqual(matched);
});

test('a claim without a directory is lost if its volume was mounted there', () => {
  const history = {name: 'data', volume: 'pv1', path: '', failures: 0, totalFailures: 0};
  const stateAfter = (plugin: string) => {
    const histories = [{...history, plugin: `kubernetes.io/${plugin}`}];
    return compute([aVolumePod([CLAIM], {histories})], someFacts([], {uids: ['u1']})).map(({state}) => state);
  };
  expect(stateAfter('csi:csi.test')).toEqual(['error']);
  expect(stateAfter('host-path')).toEqual(['mounted']);
});

test('a volume of an unknown pod is orphaned only if all pods are known', () => {
  const facts = someFacts([aFact({name: 'a'})]);
  expect(compute([], facts)).toMatchObject([{pod: {uid: 'u1'}, state: 'orphaned'}]);
  expect(compute([], facts, false)).toMatchObject([{pod: {uid: 'u1'}, state: 'mounted'}]);
});

test('a pod that has ended, or whose spec is not known, has only its directories', () => {
  const pod = aVolumePod([NFS]);
  const ended = {...pod, pod: {...pod.pod, status: {phase: 'Succeeded'}} as Pod};
  expect(compute([ended], someFacts([]))).toEqual([]);
  const facts = someFacts([aFact({name: 'a'})]);
  expect(compute([{...pod, pod: undefined}], facts)).toMatchObject([{name: 'a', state: 'mounted'}]);
});

test('a volume that no container uses is unused', () => {
  const {pod, ...rest} = aVolumePod([]);
  const spec = {...pod?.spec, volumes: [{name: 'a', emptyDir: {}}]};
  expect(compute([{...rest, pod: {...pod, spec} as Pod}], someFacts([]))).toMatchObject([{state: 'unused'}]);
});

test('staged volumes, provisioned volumes and claims without a pod are listed after the others', () => {
  const provisioned = ['pv1', 'pv2'].map((name, index) => ({
    ...{name, claim: `default/c${index}`, driver: 'csi.test', handle: `h${index + 1}`, isBlock: index === 1},
  }));
  const facts = someFacts([], {staged: [aStaged()], provisioned, claims: ['shop/cart']});
  expect(compute([], facts)).toMatchObject([
    {
      pod: undefined,
      state: 'staged',
      persistentVolume: 'pv1',
      claim: 'default/c0',
      stagingPath: '/root/staged',
    },
    {state: 'unused', persistentVolume: 'pv2', driver: 'csi.test', isBlock: true},
    {state: 'unused', kind: 'claim', name: 'cart', path: '/root/claims/shop/cart'},
  ]);
});

test.each([
  [true, false],
  [false, true],
])('a volume that was retained is not the one that its claim has got since', (...released) => {
  const provisioned = released.map((isReleased, index) => ({
    ...{name: isReleased ? 'old' : 'new', claim: 'default/db', driver: 'csi.test', handle: `h${index}`},
    isReleased,
  }));
  const pod = aVolumePod([CLAIM], {}, false);
  expect(compute([pod], someFacts([], {uids: ['u1'], provisioned}))).toMatchObject([
    {pod: {name: 'web'}, state: 'pending', persistentVolume: 'new'},
    {pod: undefined, state: 'released', persistentVolume: 'old', claim: 'default/db'},
  ]);
});

test('a staged volume is that of a claim only if its driver has made it', () => {
  const provisioned = [{claim: 'default/db', name: 'pvc-1', driver: 'other.test', handle: 'h1'}];
  const facts = someFacts([], {staged: [aStaged()], provisioned});
  expect(compute([], facts)).toMatchObject([
    {state: 'staged', claim: undefined, persistentVolume: undefined},
    {state: 'unused', claim: 'default/db', driver: 'other.test'},
  ]);
});

test('the volumes of many pods are found in linear time', () => {
  const growth = measureTimeGrowth(4000, (size) => {
    const names = Array.from({length: size}, (_, index) => `${index}`);
    const dataOf = (volumeHandle: string) => ({driverName: 'csi.test', volumeHandle});
    const facts = someFacts(
      names.map((name) => aCsiFact({name, uid: `u${name}`, data: dataOf(name)})),
      {
        claims: names.map((name) => `default/directory${name}`),
        staged: names.map((name) => aStaged({path: `/staged/${name}`, data: dataOf(name)})),
        provisioned: names.map((name) => ({
          ...{name, claim: `default/${name}`, driver: 'csi.test', handle: name},
        })),
      },
    );
    compute(
      names.map((name) => aVolumePod([CLAIM], {uid: `u${name}`})),
      facts,
    );
  });
  expect(growth).toBeLessThan(LINEAR_GROWTH);
});

test.each<readonly [string, readonly PodVolumeFact[], Partial<VolumeFacts>, object]>([
  ['created', [], {}, {state: 'pending', stagingPath: undefined}],
  ['staged', [], {staged: [aStaged({mount: undefined})]}, {state: 'pending', stagingPath: '/root/staged'}],
  [
    'published',
    [aCsiFact({name: 'pv', isComplete: false})],
    {staged: [aStaged()]},
    {state: 'staged', stagingPath: '/root/staged'},
  ],
])('a volume of a driver that hangs is not yet %s, and has one row', (done, found, fields, expected) => {
  const handle = done === 'created' ? undefined : 'h1';
  const provisioned = [{name: 'pv', claim: 'default/db', driver: 'csi.test', handle}];
  const facts = someFacts(found, {uids: ['u1'], provisioned, ...fields});
  expect(compute([aVolumePod([CLAIM], {}, false)], facts)).toMatchObject([
    {name: 'data', message: `not yet ${done} by the CSI driver "csi.test"`, ...expected},
  ]);
});

test('a volume that was unmounted of a pod that is being deleted is not listed as an error', () => {
  const known = aVolumePod([NFS]);
  const pod = {
    ...known.pod,
    metadata: {...known.pod?.metadata, deletionTimestamp: '2026-01-01T00:00:00Z'},
  } as Pod;
  const facts = someFacts([], {uids: ['u1']});
  expect(compute([known], facts)).toMatchObject([{state: 'error', message: 'its directory does not exist'}]);
  expect(compute([{...known, pod}], facts)).toEqual([]);
});
