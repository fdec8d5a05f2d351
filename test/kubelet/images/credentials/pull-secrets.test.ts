import {expect, test} from 'vitest';
import type {ApiObject, Secret} from '../../../../src/api/v1-objects.js';
import type {Pod, PodSpec} from '../../../../src/api/v1.js';
import {apiObjects} from '../../../../src/kubelet/container/api-objects.js';
import type {PodEvent} from '../../../../src/kubelet/container/events.js';
import {
  findPullSecrets,
  secretDockerConfigs,
  tellMissingPullSecrets,
} from '../../../../src/kubelet/images/credentials/pull-secrets.js';

const aPod = (spec: Partial<PodSpec> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {name: 'p', namespace: 'team', uid: 'u1'},
  spec: {containers: [], ...spec},
});

const aSecret = (name: string, fields: Partial<Secret> = {}): Secret => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: {name, namespace: 'team'},
  type: 'kubernetes.io/dockerconfigjson',
  data: {'.dockerconfigjson': Buffer.from('{"auths":{"r.example":{"username":"alice","password":"s"}}}')},
  ...fields,
});

const anAccount = (name: string, ...secrets: readonly string[]): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: {name, namespace: 'team'},
  imagePullSecrets: secrets.map((secret) => ({name: secret})),
});

test.each([
  ['its own, in their order', {imagePullSecrets: [{name: 'b'}, {name: 'a'}]}, ['b', 'a'], []],
  ['those that are there', {imagePullSecrets: [{name: 'gone'}, {name: 'a'}, {name: ''}]}, ['a'], ['gone']],
  ['those of its ServiceAccount, when it names none', {serviceAccountName: 'builder'}, ['b'], []],
  ['those of the default ServiceAccount', {}, ['a'], ['lost']],
  [
    'no ServiceAccount’s, when it names some',
    {imagePullSecrets: [{name: 'b'}], serviceAccountName: 'x'},
    ['b'],
    [],
  ],
])('a pod has %s', (_, spec, names, missing) => {
  const objects = apiObjects(
    [aSecret('a'), aSecret('b'), anAccount('builder', 'b'), anAccount('default', 'a', 'lost')],
    [],
  );
  const found = findPullSecrets(aPod(spec), objects);
  expect(found.secrets.map(({metadata}) => metadata.name)).toEqual(names);
  expect(found.missing).toEqual(missing);
});

test("Secrets that aren't there are told of, in the kubelet's words", () => {
  const events: PodEvent[] = [];
  const tell = (spec: Partial<PodSpec>): void => {
    tellMissingPullSecrets(aPod(spec), apiObjects([aSecret('a')], []), (event) => events.push(event));
  };
  tell({imagePullSecrets: [{name: 'a'}]});
  tell({imagePullSecrets: [{name: 'x'}, {name: 'y'}]});
  expect(events).toMatchObject([
    {
      type: 'Warning',
      reason: 'FailedToRetrieveImagePullSecret',
      message:
        'Unable to retrieve some image pull secrets (x, y); attempting to pull the image may not succeed.',
    },
  ]);
});

test('both types of docker configs are decoded, and say which Secret they come from', () => {
  const legacy = aSecret('old', {
    metadata: {name: 'old', uid: 'u7'},
    type: 'kubernetes.io/dockercfg',
    data: {'.dockercfg': Buffer.from('{"s.example":{"username":"bob","password":"s"}}')},
  });
  const {configs, problems} = secretDockerConfigs({secrets: [aSecret('new'), legacy], missing: []}, aPod());
  expect(configs).toEqual([
    {
      config: new Map([['r.example', {username: 'alice', password: 's', email: ''}]]),
      secret: {uid: '', namespace: 'team', name: 'new'},
    },
    {
      config: new Map([['s.example', {username: 'bob', password: 's', email: ''}]]),
      secret: {uid: 'u7', namespace: 'team', name: 'old'},
    },
  ]);
  expect(problems).toEqual([]);
});

test('a Secret of another type is no docker config, whatever it holds, and one that isn’t there is none', () => {
  const secrets = [aSecret('plain', {type: 'Opaque'})];
  expect(secretDockerConfigs({secrets, missing: ['gone']}, aPod())).toEqual({
    configs: [],
    problems: [
      'the Secret "team/plain" of type "Opaque" holds no docker config',
      'the Secret "team/gone" did not come with the Pod\'s manifests',
    ],
  });
});

test('a broken docker config is an error that repeats nothing of it', () => {
  const broken = aSecret('broken', {data: {'.dockerconfigjson': Buffer.from('{"auths":topsecret')}});
  const decode = (): unknown => secretDockerConfigs({secrets: [broken], missing: []}, aPod());
  expect(decode).toThrow('the Secret "team/broken": error occurred while trying to unmarshal json');
  expect(decode).not.toThrow(/topsecret/);
});
