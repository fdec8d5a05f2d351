import {expect, test} from 'vitest';
import type {Secret} from '../../../../src/api/types/v1-objects.js';
import {podUid} from '../../../../src/cri/index.js';
import {createApiObjects} from '../../../../src/kubelet/contract/api-objects.js';
import {SecretRegistry} from '../../../../src/kubelet/managers/redaction/secret-registry.js';
import {
  containerSecretValuesOf,
  PodRedactor,
} from '../../../../src/kubelet/managers/redaction/pod-redactor.js';
import {redactSecretObjects} from '../../../../src/kubelet/managers/redaction/redact-secret-objects.js';
import {aContainer} from '../../pod-builders.js';

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

test('a container’s secret texts are the values of the Secrets that its variables name', () => {
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
])('%j without %j is %j', (message, texts, masked) => {
  const secrets = new PodRedactor();
  secrets.setReferencedValues(texts);
  expect(secrets.mask(message)).toBe(masked);
});

test('what a container runs with is masked however often it was replaced since', () => {
  const secrets = new PodRedactor();
  secrets.addStartedValues('main', ['started-with']);
  for (let n = 0; n < 1000; n += 1) secrets.setReferencedValues([`rotated-${n}-`]);
  expect(secrets.mask('started-with rotated-999- rotated-998- rotated-0-')).toBe('*** *** *** rotated-0-');
});

test('what is told of a pod’s texts does not grow with the starts and rotations that it has seen', () => {
  let told: readonly string[] = [];
  const secrets = new PodRedactor((texts) => (told = texts));
  for (let n = 0; n < 1000; n += 1) {
    secrets.setReferencedValues([`rotated-${n}-`]);
    secrets.addStartedValues('main', [`rotated-${n}-`]);
  }
  expect(told).toContain('rotated-999-');
  expect(told.length).toBeLessThan(250);
});

test('a daemon hides what its pods run with and what was replaced lately, and forgets the rest', () => {
  let hidden: readonly string[] = [];
  const ours = new Set([podUid('a'), podUid('b')]);
  const secrets = new SecretRegistry(
    (uid) => ours.has(uid),
    (texts) => (hidden = texts),
  );
  secrets.setPodValues(podUid('a'), ['of a']);
  for (let n = 0; n < 1000; n += 1) secrets.setObjectValues([`rotated-${n}-`]);
  expect(hidden).toEqual(expect.arrayContaining(['of a', 'rotated-999-', 'rotated-998-']));
  expect(hidden.length).toBeLessThan(250);
  ours.delete(podUid('a'));
  secrets.setPodValues(podUid('b'), ['of b']);
  expect(hidden).toContain('of b');
  expect(hidden).not.toContain('of a');
});

test('what is shown has a Secret’s keys, and in place of their values where they come from', () => {
  const shown = redactSecretObjects(OBJECTS);

  expect(Buffer.from(shown.secret('default', 'a')?.data?.['k'] ?? []).toString()).toBe('<k of the Secret a>');
  expect(Object.keys(shown.secret('default', 'a')?.data ?? {})).toEqual(['k', 'l']);
  expect(shown.secret('default', 'none')).toBeUndefined();
  expect(shown.sources).toEqual(['f.yaml']);
});
