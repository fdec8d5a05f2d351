import {expect, test} from 'vitest';
import type {Container} from '../../../../../../src/api/types/v1-pod.js';
import type {ApiObject} from '../../../../../../src/api/types/v1-objects.js';
import {textToBytes} from '../../../../../../src/base/byte-text.js';
import {createApiObjects} from '../../../../../../src/kubelet/contract/api-objects.js';
import {makeEnvironmentVariables} from '../../../../../../src/kubelet/managers/kuberuntime/config/env/environment-variables.js';
import {GOLDEN_NODE} from '../../../../../golden/golden-cases.js';
import {aContainer, aPod} from '../../../../../fakes/a-pod.js';
import {NO_REFERENCES} from '../no-references.js';

const OBJECTS: readonly ApiObject[] = [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {name: 'settings', namespace: 'default'},
    data: {A: 'cm', B: '$(A)', 'a.key-1': 'x'},
    binaryData: {BIN: Buffer.from('b')},
  },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {name: 'login', namespace: 'default'},
    data: {A: Buffer.from('secret'), BYTES: Buffer.of(0x61, 0xff)},
  },
  {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'settings', namespace: 'other'}, data: {A: 'other'}},
];

function variables(fields: Partial<Container>, namespace = 'default'): Record<string, string> {
  const container = aContainer(fields);
  const context = {
    ...NO_REFERENCES,
    objects: createApiObjects(OBJECTS, ['web.yaml', 'objects/cm.yaml']),
    pod: aPod({containers: [container]}, {namespace}),
    container,
    podIps: ['10.244.0.2'],
    node: GOLDEN_NODE,
  };
  return Object.fromEntries(makeEnvironmentVariables(context));
}

// Proves: ConfigMapKeySelector.key, ConfigMapKeySelector.name
test('values of ConfigMap and Secret keys are not expanded, but can be referenced by other variables', () => {
  expect(
    variables({
      env: [
        {name: 'P', valueFrom: {secretKeyRef: {name: 'login', key: 'A'}}},
        {name: 'Q', valueFrom: {configMapKeyRef: {name: 'settings', key: 'B'}}},
        {name: 'R', value: '$(P)/$(Q)/$(S)'},
        {name: 'S', value: 's'},
      ],
    }),
  ).toEqual({P: 'secret', Q: '$(A)', R: 'secret/$(A)/$(S)', S: 's'});
});

// Proves: EnvFromSource.prefix
test('envFrom adds all keys with a prefix; later sources override earlier ones, and env overrides both', () => {
  expect(
    variables({
      env: [
        {name: 'A', value: 'own-$(A)'},
        {name: 'a.key-1', value: 'y'},
      ],
      envFrom: [
        {configMapRef: {name: 'settings'}},
        {secretRef: {name: 'login', optional: true}},
        {prefix: 'X_', configMapRef: {name: 'settings'}},
      ],
    }),
  ).toEqual({
    A: 'own-secret',
    B: '$(A)',
    'a.key-1': 'y',
    BYTES: 'a\udcff',
    X_A: 'cm',
    X_B: '$(A)',
    'X_a.key-1': 'x',
  });
});

// Proves: EnvVar.name, SecretKeySelector.key, SecretKeySelector.name
test('a value that is not UTF-8 is passed to the runtime unchanged', () => {
  const {BYTES} = variables({
    env: [{name: 'BYTES', valueFrom: {secretKeyRef: {name: 'login', key: 'BYTES'}}}],
  });

  expect(textToBytes(BYTES ?? '')).toEqual(Buffer.of(0x61, 0xff));
});

// Proves: ConfigMapEnvSource.name, EnvFromSource.configMapRef
test('references are resolved in the namespace of the pod', () => {
  expect(variables({envFrom: [{configMapRef: {name: 'settings'}}]}, 'other')).toEqual({A: 'other'});
});

// Proves: ConfigMapEnvSource.optional, ConfigMapKeySelector.optional, SecretEnvSource.optional,
//   SecretKeySelector.optional
test.each<[string, Partial<Container>]>([
  ['a ConfigMap', {envFrom: [{configMapRef: {name: 'none', optional: true}}]}],
  ['a Secret', {envFrom: [{secretRef: {name: 'none', optional: true}}]}],
  [
    'the ConfigMap of a key',
    {env: [{name: 'A', valueFrom: {configMapKeyRef: {name: 'none', key: 'A', optional: true}}}]},
  ],
  ['a key', {env: [{name: 'A', valueFrom: {secretKeyRef: {name: 'login', key: 'none', optional: true}}}]}],
])('%s that is optional may be missing', (_title, fields) => {
  expect(variables(fields)).toEqual({});
});

test.each<[string, Partial<Container>]>([
  ['configmap "none" not found', {envFrom: [{configMapRef: {name: 'none'}}]}],
  ['secret "none" not found', {envFrom: [{prefix: 'A_', secretRef: {name: 'none'}}]}],
  ['secret "none" not found', {env: [{name: 'A', valueFrom: {secretKeyRef: {name: 'none', key: 'A'}}}]}],
  [
    "couldn't find key none in ConfigMap default/settings",
    {env: [{name: 'A', valueFrom: {configMapKeyRef: {name: 'settings', key: 'none'}}}]},
  ],
  [
    "couldn't find key BIN in ConfigMap default/settings",
    {env: [{name: 'A', valueFrom: {configMapKeyRef: {name: 'settings', key: 'BIN'}}}]},
  ],
  [
    "couldn't find key none in Secret default/login",
    {env: [{name: 'A', valueFrom: {secretKeyRef: {name: 'login', key: 'none'}}}]},
  ],
])('%s', (message, fields) => {
  expect(() => variables(fields)).toThrow(message);
});

// Proves: ObjectMeta.name, SecretEnvSource.name
test('the hint for a missing object lists the places searched', () => {
  const hint = 'add the Secret "default/none" to the Pod\'s manifests (searched: web.yaml, objects/cm.yaml)';

  expect(() => variables({envFrom: [{secretRef: {name: 'none'}}]})).toThrow(
    expect.objectContaining({hint}) as Error,
  );
});
