import {describe, expect, test} from 'vitest';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import {SystemError} from '../../../src/base/errors.js';
import type {ApiClient} from '../../../src/kube-api/index.js';
import {FetchedObject} from '../../../src/kubelet/cluster/objects/fetched-object.js';
import {ClaimedVolumes} from '../../../src/kubelet/cluster/pods/claimed-volumes.js';
import {ServiceAccountTokens} from '../../../src/kubelet/cluster/pods/service-account-tokens.js';
import {FakeClock} from '../../fakes/fake-clock.js';

const signal = new AbortController().signal;
const clock = new FakeClock();
const VOLUME = {name: 'v', persistentVolumeClaim: {claimName: 'c'}};
const PROJECTION = {path: 'token', expirationSeconds: 3600};
const POD: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {name: 'web', namespace: 'default', uid: 'u'},
  spec: {
    containers: [{name: 'main', image: 'i', volumeMounts: [{name: 'v', mountPath: '/v'}]}],
    volumes: [VOLUME],
  },
};

/** Loads with a client whose requests end with the result, and returns what pods get afterwards. */
type Load = (client: ApiClient) => Promise<() => unknown>;

const LOADS: readonly (readonly [string, Load])[] = [
  [
    'a claimed volume',
    async (client) => {
      const volumes = new ClaimedVolumes({client, node: () => ({nodeName: 'n', labels: {}})});
      await volumes.load(POD, signal);
      return () => volumes.get(POD, VOLUME);
    },
  ],
  [
    'a token',
    async (client) => {
      const tokens = new ServiceAccountTokens(client, clock);
      await tokens.load(POD, PROJECTION, signal);
      return () => tokens.get(POD, PROJECTION);
    },
  ],
  [
    'a ConfigMap',
    async (client) => {
      const ref = {kind: 'ConfigMap', namespace: 'default', name: 's'} as const;
      const object = new FetchedObject(ref, {client, ttlMs: () => 0, clock});
      await object.load(signal);
      return () => {
        if (object.failure !== undefined) throw object.failure;
      };
    },
  ],
];

function aClient(request: () => Promise<unknown>): ApiClient {
  return {request} as Partial<ApiClient> as ApiClient;
}

describe.each(LOADS)('a request for %s', (_name, load) => {
  test('that fails by a programming error rejects the sync', async () => {
    const bug = new TypeError('a bug');
    await expect(load(aClient(async () => Promise.reject(bug)))).rejects.toBe(bug);
  });

  test('that the environment fails is a failure of the pod', async () => {
    const get = await load(aClient(async () => Promise.reject(new SystemError('no response within 30 s'))));
    expect(get).toThrow(SystemError);
    expect(get).toThrow('no response within 30 s');
  });
});

test.each([null, {}, {status: {token: 't'}}, {status: {expirationTimestamp: '2030-01-01T00:00:00Z'}}])(
  'the response %j to a request for a token is a failure of the pod',
  async (response) => {
    const tokens = new ServiceAccountTokens(
      aClient(async () => response),
      clock,
    );
    await tokens.load(POD, PROJECTION, signal);
    expect(() => tokens.get(POD, PROJECTION)).toThrow(
      'failed to fetch token: the API server sent a TokenRequest without token or expiry',
    );
  },
);
