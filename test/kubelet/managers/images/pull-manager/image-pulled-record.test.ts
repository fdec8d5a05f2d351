import {describe, expect, test} from 'vitest';
import {
  findKnownSecret,
  mergePullAccess,
  type PullAccess,
  type ImagePulledRecord,
  type PulledWithSecret,
} from '../../../../../src/kubelet/managers/images/pull-manager/image-pulled-record.js';

const aSecret = (name: string, credentialHash: string, uid = ''): PulledWithSecret => ({
  uid,
  namespace: 'team',
  name,
  credentialHash,
});

const aRecord = (credentialMapping: ImagePulledRecord['credentialMapping'] = {}): ImagePulledRecord => ({
  lastUpdatedTime: '2026-01-01T00:00:00Z',
  imageRef: 'sha256:1',
  credentialMapping,
});

const OBSERVED = {
  imageRef: 'sha256:1',
  repository: 'r.example/app',
  nowMs: Date.parse('2026-05-01T12:00:00.750Z'),
};
const ALL_PODS: PullAccess = {nodePodsAccessible: true};
const withSecrets = (...kubernetesSecrets: readonly PulledWithSecret[]): PullAccess => ({kubernetesSecrets});

/** Returns the access to r.example/app after `access` was observed; undefined if the record does not change. */
const mapped = (before: ImagePulledRecord | undefined, access: PullAccess | undefined) =>
  mergePullAccess(before, {...OBSERVED, access})?.credentialMapping['r.example/app'];

test('a new record has the time, the image and its credentials', () => {
  expect(mergePullAccess(undefined, {...OBSERVED, access: ALL_PODS})).toEqual({
    lastUpdatedTime: '2026-05-01T12:00:00Z',
    imageRef: 'sha256:1',
    credentialMapping: {'r.example/app': ALL_PODS},
  });
});

test('unknown credentials grant no access and do not change an existing record', () => {
  expect(mergePullAccess(undefined, {...OBSERVED, access: undefined})?.credentialMapping).toEqual({});
  expect(
    mergePullAccess(aRecord({'r.example/app': ALL_PODS}), {...OBSERVED, access: undefined}),
  ).toBeUndefined();
});

test('access is recorded per repository', () => {
  const before = aRecord({'r.example/other': ALL_PODS});
  expect(
    mergePullAccess(before, {...OBSERVED, access: withSecrets(aSecret('a', '1'))})?.credentialMapping,
  ).toEqual({
    'r.example/other': ALL_PODS,
    'r.example/app': withSecrets(aSecret('a', '1')),
  });
});

describe('observed access is merged', () => {
  test.each<readonly [string, PullAccess, PullAccess, PullAccess | undefined]>([
    ['access for all pods stays', ALL_PODS, withSecrets(aSecret('a', '1')), undefined],
    ['access for all pods replaces Secrets', withSecrets(aSecret('a', '1')), ALL_PODS, ALL_PODS],
    [
      'a known Secret changes nothing',
      withSecrets(aSecret('a', '1')),
      withSecrets(aSecret('a', '1')),
      undefined,
    ],
    [
      'new content of a Secret replaces the old',
      withSecrets(aSecret('a', '1')),
      withSecrets(aSecret('a', '2')),
      withSecrets(aSecret('a', '2')),
    ],
    [
      'Secrets are sorted',
      withSecrets(aSecret('b', '1')),
      withSecrets(aSecret('a', '2')),
      withSecrets(aSecret('a', '2'), aSecret('b', '1')),
    ],
    [
      'service accounts stay',
      {kubernetesServiceAccounts: [aSecret('sa', '')]},
      withSecrets(aSecret('a', '1')),
      {kubernetesServiceAccounts: [aSecret('sa', '')], ...withSecrets(aSecret('a', '1'))},
    ],
  ])('%s', (_, before, observed, after) => {
    expect(mapped(aRecord({'r.example/app': before}), observed)).toEqual(after);
  });
});

describe('a Secret of the pod is recognized', () => {
  const known = withSecrets(aSecret('a', '1', 'u1'), aSecret('b', '2'));
  test.each<readonly [string, PulledWithSecret, boolean]>([
    ['by its content, regardless of its name', aSecret('x', '1'), true],
    ['by its UID and name if its content has changed', aSecret('a', '9', 'u1'), true],
    ['not by another UID', aSecret('a', '9', 'u2'), false],
    ['not by its name alone', aSecret('b', '9'), false],
  ])('%s', (_, secret, isKnown) => {
    expect(findKnownSecret(known, [aSecret('z', '0'), secret])).toEqual(isKnown ? secret : undefined);
  });
});
