import {expect, test} from 'vitest';
import type {RecordedRequest} from '../../fakes/api-server/fake-api-server.js';
import {ClusterTestbed} from './cluster-testbed.js';

/** Returns a watch with initial events as the recorded cases name it; undefined for another request. */
function collectionOf({path, query}: RecordedRequest): string | undefined {
  if (query['sendInitialEvents'] !== 'true') return undefined;
  const selector = query['fieldSelector'];
  return selector === undefined ? path : `${path}?fieldSelector=${selector}`;
}

// Section `reads` of the recorded case pull-secret.
test('exactly the collections that the kubelet watches are watched', async () => {
  await using testbed = await ClusterTestbed.start((api) => {
    api.create('/api/v1/namespaces/default/configmaps/kube-root-ca.crt', {kind: 'ConfigMap', data: {}});
    api.create('/api/v1/namespaces/default/secrets/reg', {kind: 'Secret', data: {}});
  });
  const {api} = testbed;
  const sources = [{configMap: {name: 'kube-root-ca.crt'}}];
  testbed.createPod('web', {
    imagePullSecrets: [{name: 'reg'}],
    volumes: [{name: 'access', projected: {defaultMode: 420, sources}}],
  });
  await testbed.untilPhase('web', 'Running');
  const watched = new Set(api.requests.map(collectionOf).filter((collection) => collection !== undefined));
  expect([...watched].toSorted()).toEqual([
    '/api/v1/namespaces/default/configmaps?fieldSelector=metadata.name=kube-root-ca.crt',
    '/api/v1/namespaces/default/secrets?fieldSelector=metadata.name=reg',
    '/api/v1/nodes?fieldSelector=metadata.name=goldennode',
    '/api/v1/pods?fieldSelector=spec.nodeName=goldennode',
    '/api/v1/services?fieldSelector=spec.clusterIP!=None',
    '/apis/node.k8s.io/v1/runtimeclasses',
    '/apis/storage.k8s.io/v1/csidrivers',
  ]);
  // Unmounts the volume.
  api.deletePod('web');
  await testbed.daemon.untilAllRemoved();
});
