import {expect, test} from 'vitest';
import type {Container} from '../../../../src/api/types/v1-pod.js';
import type {Secret} from '../../../../src/api/types/v1-objects.js';
import {podUid} from '../../../../src/cri/index.js';
import {createApiObjects} from '../../../../src/kubelet/contract/api-objects.js';
import {SecretRegistry} from '../../../../src/kubelet/managers/redaction/secret-registry.js';
import {
  containerSecretValuesOf,
  PodRedactor,
} from '../../../../src/kubelet/managers/redaction/pod-redactor.js';
import {redactSecretObjects} from '../../../../src/kubelet/managers/redaction/redact-secret-objects.js';
import {aContainer} from '../../../fakes/a-pod.js';

function secret(name: string, data: Readonly<Record<string, string>>): Secret {
  const entries = Object.entries(data).map(([key, value]) => [key, Buffer.from(value)] as const);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name, namespace: 'default'},
    data: Object.fromEntries(entries),
  };
}

const OBJECTS = createApiObjects(
  [secret('a', {k: 'hunter2', l: 'x'}), secret('b', {k: 'swordfish'}), secret('c', {k: 'unused'})],
  ['f.yaml'],
);

// Proves: Container.envFrom, EnvFromSource.secretRef
test('the secret values of a container are those of all Secrets in its environment', () => {
  const container = aContainer({
    env: [{name: 'A', valueFrom: {secretKeyRef: {name: 'a', key: 'k'}}}],
    envFrom: [{secretRef: {name: 'b'}}, {secretRef: {name: 'none', optional: true}}],
  });

  expect(containerSecretValuesOf(container, 'default', OBJECTS)).toEqual(['swordfish', 'hunter2', 'x']);
  expect(containerSecretValuesOf(container, 'other', OBJECTS)).toEqual([]);
});

test.each([
  ['exec: "hunter2 hunter23": not found', ['hunter2', 'x'], 'exec: "*** ***3": not found'],
  ['exec: "a\\"b\\nc"', ['a"b\nc'], 'exec: "***"'],
  ['longer wins: hunter23', ['hunter2', 'hunter23'], 'longer wins: ***'],
  ['exec: "hunter2": not found', ['hunter2\n'], 'exec: "***": not found'],
  ['its line: second line', ['first line\nsecond line\n'], 'its line: ***'],
  ['{"cmd":"me\\u003chunter2"}', ['me<hunter2'], '{"cmd":"***"}'],
  ['a x b', ['x', ''], 'a x b'],
])('%j without %j is masked as %j', (message, texts, masked) => {
  const secrets = new PodRedactor();
  secrets.setReferencedValues(texts);
  expect(secrets.mask(message)).toBe(masked);
});

test('the values of a running container are masked however often they were rotated since', () => {
  const secrets = new PodRedactor();
  secrets.addStartedValues('main', ['started-with']);
  for (let n = 0; n < 1000; n += 1) secrets.setReferencedValues([`rotated-${n}-`]);
  expect(secrets.mask('started-with rotated-999- rotated-998- rotated-0-')).toBe('*** *** *** rotated-0-');
});

test.each<[string, Partial<Container>]>([
  ['a key of a Secret', {env: [{name: 'A', valueFrom: {secretKeyRef: {name: 'a', key: 'k'}}}]}],
  ['a whole Secret', {envFrom: [{secretRef: {name: 'a'}}]}],
  [
    'a file of a volume',
    {env: [{name: 'A', valueFrom: {fileKeyRef: {volumeName: 'v', path: 'p', key: 'k'}}}]},
  ],
])('a message about a container with %s is masked as a whole if another process started it', (_, fields) => {
  const secrets = new PodRedactor();
  const container = aContainer(fields);
  expect(secrets.maskContainerMessage(container, 'exec: "hunter2"')).toBe('***');
  expect(secrets.maskContainerMessage(container, '')).toBe('');
  secrets.addStartedValues(container.name, ['hunter2']);
  expect(secrets.maskContainerMessage(container, 'exec: "hunter2"')).toBe('exec: "***"');
});

test('a message about a container without secret values is never masked as a whole', () => {
  const secrets = new PodRedactor();
  secrets.setReferencedValues(['hunter2']);
  const container = aContainer({env: [{name: 'A', value: 'b'}], envFrom: [{configMapRef: {name: 'c'}}]});
  expect(secrets.maskContainerMessage(container, 'exec: "hunter2 b"')).toBe('exec: "*** b"');
  expect(secrets.maskContainerMessage(undefined, 'exec: "hunter2 b"')).toBe('exec: "*** b"');
});

test('the number of reported values does not grow with starts and rotations', () => {
  let reported: readonly string[] = [];
  const secrets = new PodRedactor((texts) => (reported = texts));
  for (let n = 0; n < 1000; n += 1) {
    secrets.setReferencedValues([`rotated-${n}-`]);
    secrets.addStartedValues('main', [`rotated-${n}-`]);
  }
  expect(reported).toContain('rotated-999-');
  expect(reported.length).toBeLessThan(250);
});

test('a registry keeps the values of managed pods and recent rotations, and forgets the rest', () => {
  let registered: readonly string[] = [];
  const managed = new Set([podUid('a'), podUid('b')]);
  const secrets = new SecretRegistry(
    (uid) => managed.has(uid),
    (texts) => (registered = texts),
  );
  secrets.setPodValues(podUid('a'), ['of a']);
  for (let n = 0; n < 1000; n += 1) secrets.setObjectValues([`rotated-${n}-`]);
  expect(registered).toEqual(expect.arrayContaining(['of a', 'rotated-999-', 'rotated-998-']));
  expect(registered.length).toBeLessThan(250);
  managed.delete(podUid('a'));
  secrets.setPodValues(podUid('b'), ['of b']);
  expect(registered).toContain('of b');
  expect(registered).not.toContain('of a');
});

test('redacted API objects have the keys of Secrets, with a placeholder for each value', () => {
  const redacted = redactSecretObjects(OBJECTS);

  expect(Buffer.from(redacted.secret('default', 'a')?.data?.['k'] ?? []).toString()).toBe(
    '<k of the Secret a>',
  );
  expect(Object.keys(redacted.secret('default', 'a')?.data ?? {})).toEqual(['k', 'l']);
  expect(redacted.secret('default', 'none')).toBeUndefined();
  expect(redacted.sources).toEqual(['f.yaml']);
});

test('values of a container are redacted only if new ones are added or old ones dropped', () => {
  const changes: (readonly string[])[] = [];
  const redactor = new PodRedactor((texts) => void changes.push(texts));
  redactor.addStartedValues('a', ['hunter2']);
  for (const name of ['b', 'c']) redactor.addStartedValues(name, ['hunter2']);
  redactor.addStartedValues('d', []);
  expect(changes).toEqual([['hunter2']]);
  expect(redactor.mask('hunter2')).not.toContain('hunter2');
  redactor.addStartedValues('d', ['swordfish']);
  expect(changes).toEqual([['hunter2'], ['hunter2', 'swordfish']]);
});
