import type {StorageClass} from '../../../src/api/types/v1-storage.js';
import {describe, expect, test} from 'vitest';
import {bindClaims} from '../../../src/api/claims/bind-claims.js';
import type {PersistentVolumeClaimSpec} from '../../../src/api/types/v1-attached-volumes.js';
import type {ObjectMeta} from '../../../src/api/types/v1-meta.js';
import type {
  ManifestClaim,
  ManifestVolume,
  PersistentVolumeSpec,
} from '../../../src/api/types/v1-persistent-volumes.js';

function aClaim(spec: PersistentVolumeClaimSpec = {}, name = 'data'): ManifestClaim {
  const defaults = {accessModes: ['ReadWriteOnce'], resources: {requests: {storage: '1Gi'}}} as const;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {name, namespace: 'default'},
    spec: {...defaults, ...spec},
  };
}

function aVolume(name: string, spec: PersistentVolumeSpec = {}, metadata: ObjectMeta = {}): ManifestVolume {
  const defaults = {
    capacity: {storage: '1Gi'},
    accessModes: ['ReadWriteOnce', 'ReadOnlyMany'],
    hostPath: {path: '/srv'},
  } as const;
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {name, ...metadata},
    spec: {...defaults, ...spec},
  };
}

/** Returns the volumes of claims by name, or the messages of those that cannot have theirs. */
function boundNames(
  ...objects: readonly (ManifestClaim | ManifestVolume | StorageClass)[]
): Record<string, string> {
  return Object.fromEntries(
    [...bindClaims(objects)].map(([key, bound]) => [
      key,
      bound.kind === 'bound'
        ? (bound.volume.metadata.name ?? '')
        : bound.kind === 'provisioned'
          ? `provisioned by ${bound.storageClass.provisioner}`
          : bound.problem.message,
    ]),
  );
}

describe('a claim gets the smallest volume', () => {
  test('that is large enough', () => {
    const volumes = [
      aVolume('large', {capacity: {storage: '5Gi'}}),
      aVolume('small', {capacity: {storage: '500Mi'}}),
      aVolume('fitting', {capacity: {storage: '2Gi'}}),
    ];
    expect(boundNames(aClaim(), ...volumes)).toEqual({'default/data': 'fitting'});
  });

  test.each<[string, PersistentVolumeClaimSpec, PersistentVolumeSpec, ObjectMeta?]>([
    ['of its storage class', {storageClassName: 'fast'}, {storageClassName: 'fast'}],
    ['with its access modes', {accessModes: ['ReadOnlyMany', 'ReadWriteOnce']}, {}],
    ['that its selector matches', {selector: {matchLabels: {disk: 'a'}}}, {}, {labels: {disk: 'a'}}],
  ])('%s', (_title, claim, volume, metadata) => {
    expect(boundNames(aClaim(claim), aVolume('a', volume, metadata))).toEqual({'default/data': 'a'});
  });

  test.each<[string, PersistentVolumeClaimSpec, PersistentVolumeSpec]>([
    ['storage class', {storageClassName: 'fast'}, {}],
    ['storage class of the volume', {}, {storageClassName: 'fast'}],
    ['access mode', {accessModes: ['ReadWriteMany']}, {}],
    ['selector', {selector: {matchLabels: {disk: 'a'}}}, {}],
    ['volume mode', {volumeMode: 'Block'}, {}],
    ['reservation', {}, {claimRef: {namespace: 'default', name: 'other'}}],
  ])('but none with another %s', (_title, claim, volume) => {
    expect(boundNames(aClaim(claim), aVolume('a', volume))).not.toHaveProperty('default/data');
  });
});

test('two claims do not share a volume', () => {
  expect(boundNames(aClaim(), aClaim({}, 'more'), aVolume('a'))).toEqual({'default/data': 'a'});
});

test('a volume that names a claim is reserved for it, even without a manifest of the claim', () => {
  const volume = aVolume('a', {claimRef: {namespace: 'default', name: 'data'}});
  expect(boundNames(aVolume('b'), volume, aClaim())).toEqual({'default/data': 'a'});
  expect(boundNames(volume)).toEqual({'default/data': 'a'});
});

describe('a claim that names a volume', () => {
  test('gets it, and not one that is smaller', () => {
    const objects = [aClaim(), aClaim({volumeName: 'b'}, 'named'), aVolume('a'), aVolume('b')];
    expect(boundNames(...objects)).toEqual({'default/data': 'a', 'default/named': 'b'});
  });

  test.each<readonly [Partial<PersistentVolumeSpec>, string]>([
    [{capacity: {storage: '1Mi'}}, 'requested PV is too small'],
    [{storageClassName: 'slow'}, 'storageClassName does not match'],
    [{volumeMode: 'Block'}, 'incompatible volumeMode'],
    [{accessModes: ['ReadOnlyMany']}, 'incompatible accessMode'],
  ])('fails if that is %j', (spec, why) => {
    expect(boundNames(aClaim({volumeName: 'a'}), aVolume('a', spec))).toEqual({
      'default/data': `Invalid value: "a": Cannot bind to requested volume "a": ${why}`,
    });
  });

  test('gets one that is reserved for it, whatever its class', () => {
    const claimRef = {namespace: 'default', name: 'data'};
    const volume = aVolume('a', {claimRef, storageClassName: 'slow'});
    expect(boundNames(aClaim({volumeName: 'a'}), volume)).toEqual({'default/data': 'a'});
  });

  test('fails if there is no such volume or it belongs to another claim', () => {
    const missing = 'Not found: "b": no PersistentVolume of this name is in the manifests';
    expect(boundNames(aClaim({volumeName: 'b'}), aVolume('a'))).toEqual({'default/data': missing});
    const reserved = aVolume('a', {claimRef: {namespace: 'default', name: 'other'}});
    expect(boundNames(aClaim({volumeName: 'a'}), reserved)['default/data']).toBe(
      'Invalid value: "a": the PersistentVolume belongs to the claim default/other',
    );
    const shared = boundNames(aClaim({volumeName: 'a'}), aClaim({volumeName: 'a'}, 'more'), aVolume('a'));
    expect(shared['default/more']).toContain('belongs to another claim');
  });
});

describe('a claim without a volume', () => {
  const aClass = (name: string, annotations: Record<string, string> = {}): StorageClass => ({
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: {name, annotations},
    provisioner: `${name}.example.com`,
  });
  const IS_DEFAULT = {'storageclass.kubernetes.io/is-default-class': 'true'};

  test('is provisioned by its class, if that is in the manifests', () => {
    const classes = [aClass('slow', IS_DEFAULT), aClass('fast')];
    const provisioned = (spec?: PersistentVolumeClaimSpec) => boundNames(aClaim(spec), ...classes);
    expect(provisioned({storageClassName: 'fast'})).toEqual({
      'default/data': 'provisioned by fast.example.com',
    });
    expect(provisioned()).toEqual({'default/data': 'provisioned by slow.example.com'});
    expect(provisioned({storageClassName: 'other'})).toEqual({});
    expect(provisioned({storageClassName: ''})).toEqual({});
  });

  test('takes a volume of its class first', () => {
    const volume = aVolume('a', {storageClassName: 'fast'});
    expect(boundNames(aClaim({storageClassName: 'fast'}), aClass('fast'), volume)).toEqual({
      'default/data': 'a',
    });
  });
});
