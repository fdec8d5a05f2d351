import {expect, test} from 'vitest';
import type {ApiObject, Secret} from '../../../../../src/api/types/v1-objects.js';
import type {Pod, PodSpec} from '../../../../../src/api/types/v1-pod.js';
import {createApiObjects} from '../../../../../src/kubelet/contract/api-objects.js';
import type {PodEvent} from '../../../../../src/kubelet/contract/pod-event.js';
import {
  findPullSecrets,
  decodeDockerConfigs,
  reportMissingPullSecrets,
} from '../../../../../src/kubelet/managers/images/credentials/pull-secrets.js';
import {aPod} from '../../../../fakes/a-pod.js';

const aTeamPod = (spec: Partial<PodSpec> = {}): Pod => aPod(spec, {namespace: 'team'});

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

// Proves: PodSpec.imagePullSecrets
test.each([
  ['its own, in their order', {imagePullSecrets: [{name: 'b'}, {name: 'a'}]}, ['b', 'a'], []],
  ['those that exist', {imagePullSecrets: [{name: 'gone'}, {name: 'a'}, {name: ''}]}, ['a'], ['gone']],
  ['those of its ServiceAccount if it names none', {serviceAccountName: 'builder'}, ['b'], []],
  ['those of the default ServiceAccount', {}, ['a'], ['lost']],
  [
    'none of its ServiceAccount if it names some',
    {imagePullSecrets: [{name: 'b'}], serviceAccountName: 'x'},
    ['b'],
    [],
  ],
])('a pod has %s', (_, spec, names, missing) => {
  const objects = createApiObjects(
    [aSecret('a'), aSecret('b'), anAccount('builder', 'b'), anAccount('default', 'a', 'lost')],
    [],
  );
  const found = findPullSecrets(aTeamPod(spec), objects);
  expect(found.secrets.map(({metadata}) => metadata.name)).toEqual(names);
  expect(found.missing).toEqual(missing);
});

test("missing Secrets are reported with the kubelet's event", () => {
  const events: PodEvent[] = [];
  const report = (spec: Partial<PodSpec>): void => {
    reportMissingPullSecrets(aTeamPod(spec), createApiObjects([aSecret('a')], []), (event) =>
      events.push(event),
    );
  };
  report({imagePullSecrets: [{name: 'a'}]});
  report({imagePullSecrets: [{name: 'x'}, {name: 'y'}]});
  expect(events).toMatchObject([
    {
      type: 'Warning',
      reason: 'FailedToRetrieveImagePullSecret',
      message:
        'Unable to retrieve some image pull secrets (x, y); attempting to pull the image may not succeed.',
    },
  ]);
});

test('both types of docker configs are decoded with their Secret', () => {
  const legacy = aSecret('old', {
    metadata: {name: 'old', uid: 'u7'},
    type: 'kubernetes.io/dockercfg',
    data: {'.dockercfg': Buffer.from('{"s.example":{"username":"bob","password":"s"}}')},
  });
  const {configs, problems} = decodeDockerConfigs(
    {secrets: [aSecret('new'), legacy], missing: []},
    aTeamPod(),
  );
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

test('a Secret of another type and a missing Secret are reported as problems', () => {
  const secrets = [aSecret('plain', {type: 'Opaque'})];
  expect(decodeDockerConfigs({secrets, missing: ['gone']}, aTeamPod())).toEqual({
    configs: [],
    problems: [
      'the Secret "team/plain" of type "Opaque" contains no docker config',
      'the Secret "team/gone" is not in the pod\'s manifests',
    ],
  });
});

test('an invalid docker config is rejected without repeating its content', () => {
  const broken = aSecret('broken', {data: {'.dockerconfigjson': Buffer.from('{"auths":topsecret')}});
  const decode = (): unknown => decodeDockerConfigs({secrets: [broken], missing: []}, aTeamPod());
  expect(decode).toThrow('the Secret "team/broken": error occurred while trying to unmarshal json');
  expect(decode).not.toThrow(/topsecret/);
});
