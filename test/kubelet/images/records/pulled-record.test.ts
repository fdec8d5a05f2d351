import {describe, expect, test} from 'vitest';
import {
  knownSecret,
  withAccess,
  type PullAccess,
  type PulledRecord,
  type PulledWithSecret,
} from '../../../../src/kubelet/images/records/pulled-record.js';

const aSecret = (name: string, credentialHash: string, uid = ''): PulledWithSecret => ({
  uid,
  namespace: 'team',
  name,
  credentialHash,
});

const aRecord = (credentialMapping: PulledRecord['credentialMapping'] = {}): PulledRecord => ({
  lastUpdatedTime: '2026-01-01T00:00:00Z',
  imageRef: 'sha256:1',
  credentialMapping,
});

const SHOWN = {
  imageRef: 'sha256:1',
  repository: 'r.example/app',
  nowMs: Date.parse('2026-05-01T12:00:00.750Z'),
};
const EVERYBODY: PullAccess = {nodePodsAccessible: true};
const withSecrets = (...kubernetesSecrets: readonly PulledWithSecret[]): PullAccess => ({kubernetesSecrets});

/** Who may use r.example/app after `access` was shown; undefined when nothing is to be written. */
const mapped = (before: PulledRecord | undefined, access: PullAccess | undefined) =>
  withAccess(before, {...SHOWN, access})?.credentialMapping['r.example/app'];

test('the first record says when, what and with which credentials', () => {
  expect(withAccess(undefined, {...SHOWN, access: EVERYBODY})).toEqual({
    lastUpdatedTime: '2026-05-01T12:00:00Z',
    imageRef: 'sha256:1',
    credentialMapping: {'r.example/app': EVERYBODY},
  });
});

test('a record of nobody knows how lets nobody in, and takes nothing from another', () => {
  expect(withAccess(undefined, {...SHOWN, access: undefined})?.credentialMapping).toEqual({});
  expect(withAccess(aRecord({'r.example/app': EVERYBODY}), {...SHOWN, access: undefined})).toBeUndefined();
});

test('another name of the image is another access', () => {
  const before = aRecord({'r.example/other': EVERYBODY});
  expect(withAccess(before, {...SHOWN, access: withSecrets(aSecret('a', '1'))})?.credentialMapping).toEqual({
    'r.example/other': EVERYBODY,
    'r.example/app': withSecrets(aSecret('a', '1')),
  });
});

describe('what a pull has shown is added', () => {
  test.each<readonly [string, PullAccess, PullAccess, PullAccess | undefined]>([
    ['everybody stays everybody', EVERYBODY, withSecrets(aSecret('a', '1')), undefined],
    ['everybody takes the place of Secrets', withSecrets(aSecret('a', '1')), EVERYBODY, EVERYBODY],
    [
      'a Secret that is known changes nothing',
      withSecrets(aSecret('a', '1')),
      withSecrets(aSecret('a', '1')),
      undefined,
    ],
    [
      'a Secret’s new content takes the place of the old',
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
  ])('%s', (_, before, shown, after) => {
    expect(mapped(aRecord({'r.example/app': before}), shown)).toEqual(after);
  });
});

describe('a Secret of the pod is known', () => {
  const known = withSecrets(aSecret('a', '1', 'u1'), aSecret('b', '2'));
  test.each<readonly [string, PulledWithSecret, boolean]>([
    ['by its content, whatever its name', aSecret('x', '1'), true],
    ['by its UID and name, when its content was replaced', aSecret('a', '9', 'u1'), true],
    ['not by another UID', aSecret('a', '9', 'u2'), false],
    ['not by a name alone: nobody guards who writes under it', aSecret('b', '9'), false],
  ])('%s', (_, secret, isKnown) => {
    expect(knownSecret(known, [aSecret('z', '0'), secret])).toEqual(isKnown ? secret : undefined);
  });
});
