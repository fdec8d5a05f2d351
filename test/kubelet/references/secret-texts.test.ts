import {expect, test} from 'vitest';
import type {Secret} from '../../../src/api/v1-objects.js';
import {apiObjects} from '../../../src/kubelet/container/api-objects.js';
import {containerSecretTexts, SecretTexts} from '../../../src/kubelet/references/secret-texts.js';
import {withoutSecrets} from '../../../src/kubelet/references/without-secrets.js';
import {aContainer} from '../kuberuntime/builders.js';

function secret(name: string, data: Readonly<Record<string, string>>): Secret {
  const entries = Object.entries(data).map(([key, value]) => [key, Buffer.from(value)] as const);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name, namespace: 'default'},
    data: Object.fromEntries(entries),
  };
}

const OBJECTS = apiObjects(
  [secret('a', {k: 'hunter2', l: 'x'}), secret('b', {k: 'swordfish'}), secret('c', {k: 'unused'})],
  ['f.yaml'],
);

test('a container’s secret texts are the values of the Secrets that its variables name', () => {
  const container = aContainer({
    env: [{name: 'A', valueFrom: {secretKeyRef: {name: 'a', key: 'k'}}}],
    envFrom: [{secretRef: {name: 'b'}}, {secretRef: {name: 'none', optional: true}}],
  });

  expect(containerSecretTexts(container, 'default', OBJECTS)).toEqual(['swordfish', 'hunter2', 'x']);
  expect(containerSecretTexts(container, 'other', OBJECTS)).toEqual([]);
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
  const secrets = new SecretTexts();
  for (const text of texts) secrets.learn([text]);
  expect(secrets.mask(message)).toBe(masked);
});

test('what is shown has a Secret’s keys, and in place of their values where they come from', () => {
  const shown = withoutSecrets(OBJECTS);

  expect(Buffer.from(shown.secret('default', 'a')?.data?.['k'] ?? []).toString()).toBe('<k of the Secret a>');
  expect(Object.keys(shown.secret('default', 'a')?.data ?? {})).toEqual(['k', 'l']);
  expect(shown.secret('default', 'none')).toBeUndefined();
  expect(shown.sources).toEqual(['f.yaml']);
});
