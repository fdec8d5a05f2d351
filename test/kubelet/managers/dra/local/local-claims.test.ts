import {readdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {Pod} from '../../../../../src/api/types/v1-pod.js';
import type {DeviceObjects} from '../../../../../src/kubelet/contract/resources/device-objects.js';
import type {AllocatedClaim} from '../../../../../src/kubelet/managers/dra/local/allocated-claim.js';
import {ClaimStore, type ClaimStorage} from '../../../../../src/kubelet/managers/dra/local/claim-store.js';
import {
  claimStatusesOf,
  LocalClaims,
  type LocalClaimsOptions,
} from '../../../../../src/kubelet/managers/dra/local/local-claims.js';
import {PlannedClaims} from '../../../../../src/kubelet/managers/dra/local/planned-claim-storage.js';
import {temporaryDirectory} from '../../../../base/temporary-directory.js';
import {aClaim, aClass, aPodWithClaims, aSpec, aTemplate, devices, DRIVER} from './device-fixtures.js';

const {signal} = new AbortController();

interface Node {
  readonly store: ClaimStore;
  readonly open: (objects: DeviceObjects, options?: Partial<LocalClaimsOptions>) => LocalClaims;
}

async function aNode(): Promise<Node> {
  const rootDir = await temporaryDirectory();
  const store = new ClaimStore(rootDir);
  return {
    store,
    open: (objects, options = {}) =>
      new LocalClaims({
        ...{storage: new ClaimStore(rootDir), manager: 'kubelet', objects: () => objects},
        node: {name: 'n1', matches: () => true},
        ...{isOffered: () => false, prepared: async () => Promise.resolve([])},
        ...options,
      }),
  };
}

/** Returns the devices of claims by name. */
const devicesOf = (claims: readonly AllocatedClaim[]): readonly string[] =>
  claims.flatMap(({claim}) => claim.status.allocation.devices.results.map(({device}) => device));

const give = async (claims: LocalClaims, pod: Pod): Promise<readonly string[]> =>
  devicesOf(await claims.allocate(pod, signal));

describe('claims', () => {
  test('of a template are created for each pod, named and owned as by the controller, and end with it', async () => {
    const {open, store} = await aNode();
    const claims = open(devices(['a', 'b'], aTemplate('one')));
    const pod = aPodWithClaims('web', 'template:one');
    const [first] = await claims.allocate(pod, signal);
    expect(first?.claim.metadata).toMatchObject({
      name: expect.stringMatching(/^web-entry0-[a-z0-9]{5}$/) as string,
      annotations: {'resource.kubernetes.io/pod-claim-name': 'entry0'},
      labels: {from: 'template'},
      ownerReferences: [{apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'uid-web', controller: true}],
    });
    expect(first?.claim.status.reservedFor).toEqual([{resource: 'pods', name: 'web', uid: 'uid-web'}]);
    expect(claimStatusesOf(pod, [first!])).toEqual({
      resourceClaimStatuses: [{name: 'entry0', resourceClaimName: first?.claim.metadata.name}],
    });
    expect(await claims.allocate(pod, signal)).toEqual([first]);
    expect(await open(devices([])).allocate(pod, signal)).toEqual([first]);
    expect(await give(claims, aPodWithClaims('other', 'template:one'))).toEqual(['b']);
    await claims.release('uid-web');
    expect(devicesOf(await store.list())).toEqual(['b']);
  });

  test('have no UID of the manifest, which could be a path or that of another claim', async () => {
    const {open, store} = await aNode();
    const [one, other] = ['one', 'other'].map((name) => {
      const {metadata, ...claim} = aClaim(name);
      return {...claim, metadata: {...metadata, uid: '../../etc/u'}};
    });
    const claims = open(devices(['a', 'b'], one!, other!));
    expect(await give(claims, aPodWithClaims('web', 'one', 'other'))).toEqual(['a', 'b']);
    expect(await readdir(store.directory)).toHaveLength(2);
    expect(devicesOf(await store.list()).toSorted()).toEqual(['a', 'b']);
  });

  test('of manifests are shared by pods, and deallocated with the last', async () => {
    const {open, store} = await aNode();
    const claims = open(devices(['a'], aClaim('gpu')));
    expect(await give(claims, aPodWithClaims('web', 'gpu', 'gpu'))).toEqual(['a']);
    expect(await give(claims, aPodWithClaims('other', 'gpu'))).toEqual(['a']);
    expect(claimStatusesOf(aPodWithClaims('web', 'gpu'), await store.list())).toEqual({});
    await claims.release('uid-web');
    const [left] = await store.list();
    expect(left?.claim.status.reservedFor.map(({name}) => name)).toEqual(['other']);
    await claims.release('uid-other');
    expect(await store.list()).toEqual([]);
  });

  test('of pods with long names have names that are cut in both parts', async () => {
    const {open} = await aNode();
    const pod = aPodWithClaims('p'.repeat(60), 'template:one');
    const [first] = await open(devices(['a'], aTemplate('one'))).allocate(pod, signal);
    expect(first?.claim.metadata.name).toMatch(/^p{50}-e{1}ntry[a-z0-9]{5}$/);
  });

  test.each<[string, Pod, DeviceObjects, string]>([
    [
      'a missing claim',
      aPodWithClaims('web', 'gpu'),
      devices(['a']),
      'resourceclaim.resource.k8s.io "gpu" not found',
    ],
    [
      'a missing template',
      aPodWithClaims('web', 'template:one'),
      devices(['a']),
      'resourceclaimtemplate.resource.k8s.io "one" not found',
    ],
    [
      'too few devices',
      aPodWithClaims('web', 'gpu'),
      devices(['a'], aClaim('gpu', aSpec(2))),
      'cannot allocate all claims: claim default/gpu, request req needs 2 devices of class gpu: 1 device on this node',
    ],
    [
      'a wrong selector',
      aPodWithClaims('web', 'gpu'),
      devices(['a'], aClaim('gpu'), aClass('gpu', {selectors: [{cel: {expression: 'device.x'}}]})),
      'class gpu: selector #0: CEL compile error: No such key: x in "device.x"',
    ],
  ])('that cannot be had are an error: %s', async (_title, pod, objects, message) => {
    const {open, store} = await aNode();
    await expect(open(objects).allocate(pod, signal)).rejects.toThrow(message);
    expect(await store.list()).toEqual([]);
  });

  test('whose selector costs too much are an error that names it, and what to do', async () => {
    const {open} = await aNode();
    const many = 'lists.range(1000)';
    const expression = `${many}.all(a, ${many}.all(b, a + b >= 0))`;
    const objects = devices(['a'], aClaim('gpu'), aClass('gpu', {selectors: [{cel: {expression}}]}));
    await expect(open(objects).allocate(aPodWithClaims('web', 'gpu'), signal)).rejects.toMatchObject({
      message: `claim default/gpu, request req, class gpu: selector #0: CEL runtime error: operation cancelled: actual cost limit exceeded (1000000) in "${expression}"`,
      hint: 'simplify the CEL expression',
    });
  });

  test('are not shared between a kubelet and commands', async () => {
    const {open} = await aNode();
    const objects = devices(['a'], aClaim('gpu'));
    await open(objects).allocate(aPodWithClaims('web', 'gpu'), signal);
    await expect(
      open(objects, {manager: 'sync'}).allocate(aPodWithClaims('other', 'gpu'), signal),
    ).rejects.toThrow('resourceclaim in use: default/gpu belongs to pods of kcri kubelet');
  });

  test('do not get devices that an earlier kubelet has prepared', async () => {
    const {open} = await aNode();
    const left = {request: '', driver: DRIVER, pool: 'pool', device: 'a'};
    const prepared = async () => Promise.resolve([{uid: 'other', devices: [left]}]);
    const claims = open(devices(['a', 'b'], aTemplate('one')), {prepared});
    expect(await give(claims, aPodWithClaims('web', 'template:one'))).toEqual(['b']);
  });

  test('that are asked for at once by processes get different devices', async () => {
    const {open, store} = await aNode();
    const names = ['a', 'b', 'c', 'd'];
    const objects = devices(names, aTemplate('one'));
    const given = await Promise.all(
      names.map(async (name) => give(open(objects), aPodWithClaims(name, 'template:one'))),
    );
    expect(given.flat().toSorted()).toEqual(names);
    expect((await readdir(store.directory)).filter((name) => !name.endsWith('.json'))).toEqual([]);
  });

  test('in a damaged file are an error, since their devices are not known', async () => {
    const {open, store} = await aNode();
    const claims = open(devices(['a', 'b'], aTemplate('one')));
    await claims.allocate(aPodWithClaims('web', 'template:one'), signal);
    const [file = ''] = await readdir(store.directory);
    await writeFile(join(store.directory, file), '{"version":1}');
    await expect(claims.allocate(aPodWithClaims('other', 'template:one'), signal)).rejects.toThrow(
      `invalid state of a resource claim in "${join(store.directory, file)}"`,
    );
  });

  test('of a plan are not stored', async () => {
    const {open, store} = await aNode();
    const objects = devices(['a', 'b', 'c'], aTemplate('one'));
    await open(objects).allocate(aPodWithClaims('web', 'template:one'), signal);
    const storage = new PlannedClaims(async () => await store.list());
    const planned = open(objects, {storage});
    expect(await give(planned, aPodWithClaims('b', 'template:one'))).toEqual(['b']);
    expect(await give(planned, aPodWithClaims('c', 'template:one'))).toEqual(['c']);
    expect(devicesOf(await store.list())).toEqual(['a']);
  });
});

class Killed extends Error {}

/** A store of a process that is killed at its n-th write. */
function killedAt(store: ClaimStore, count: number): ClaimStorage {
  let writes = 0;
  const write = async (work: () => Promise<void>): Promise<void> => {
    writes += 1;
    if (writes >= count) throw new Killed();
    await work();
  };
  return {
    list: async () => await store.list(),
    get: async (uid) => await store.get(uid),
    locked: async (...options) => await store.locked(...options),
    put: async (claim) => write(async () => store.put(claim)),
    delete: async (claim) => write(async () => store.delete(claim)),
  };
}

describe.each([1, 2, 3, 4, 5])('killed at write %i', (count) => {
  test('a process leaves devices that are given once, and go on to the same pod', async () => {
    const {open, store} = await aNode();
    const objects = devices(['a', 'b', 'c', 'd'], aTemplate('one'), aClaim('named'));
    const pod = aPodWithClaims('web', 'template:one', 'named', 'template:one');
    const killed = open(objects, {storage: killedAt(store, count)});
    try {
      await killed.allocate(pod, signal);
      await killed.release('uid-web');
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
    const left = devicesOf(await store.list());
    const claims = open(objects);
    const other = await give(claims, aPodWithClaims('other', 'template:one'));
    expect(left).not.toContain(other[0]);
    const given = await give(claims, pod);
    expect(new Set([...given, ...other]).size).toBe(4);
    expect(given).toEqual(expect.arrayContaining([...left]));
    await claims.release('uid-web');
    expect(devicesOf(await store.list())).toEqual(other);
  });
});

describe('extended resources of DeviceClasses', () => {
  const withResources = (spec: Pod['spec']): Pod => ({
    ...aPodWithClaims('web'),
    spec,
  });
  const container = (name: string, count: number, more: object = {}) => ({
    ...{name, image: 'i', ...more},
    resources: {requests: {cpu: '1', 'example.com/gpu': String(count)}},
  });
  const objects = devices(['a', 'b', 'c', 'd'], aClass('gpu', {extendedResourceName: 'example.com/gpu'}));

  test('become requests of one claim, of which init containers reuse the devices', async () => {
    const {open, store} = await aNode();
    const pod = withResources({
      initContainers: [container('first', 3), container('sidecar', 1, {restartPolicy: 'Always'})],
      containers: [container('main', 1)],
    });
    expect(await give(open(objects), pod)).toEqual(['a', 'b', 'c']);
    const claims = await store.list();
    expect(claimStatusesOf(pod, claims).extendedResourceClaimStatus).toEqual({
      resourceClaimName: expect.stringMatching(/^web-extended-resources-[a-z0-9]{5}$/) as string,
      requestMappings: [
        ['sidecar', 'container-1-request-1'],
        ['main', 'container-2-request-1'],
        ['first', 'container-1-request-1'],
        ['first', 'container-2-request-1'],
        ['first', 'container-0-request-1'],
      ].map(([containerName, requestName]) => ({
        ...{containerName, requestName, resourceName: 'example.com/gpu'},
      })),
    });
  });

  test('are left to device plugins that offer them', async () => {
    const {open} = await aNode();
    const claims = open(objects, {isOffered: (name) => name === 'example.com/gpu'});
    expect(await give(claims, withResources({containers: [container('main', 1)]}))).toEqual([]);
  });

  test('are known by the name of the class too', async () => {
    const {open} = await aNode();
    const requests = {'deviceclass.resource.kubernetes.io/gpu': '2'};
    const pod = withResources({containers: [{name: 'main', image: 'i', resources: {requests}}]});
    expect(await give(open(devices(['a', 'b'])), pod)).toEqual(['a', 'b']);
  });
});
