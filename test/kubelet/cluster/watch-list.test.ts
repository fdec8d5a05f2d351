import {expect, test} from 'vitest';
import type {RecordedRequest} from '../../fakes/api-server/fake-api-server.js';
import {ClusterTestbed} from './cluster-testbed.js';

const podReads = ({method, path}: RecordedRequest): boolean => method === 'GET' && path === '/api/v1/pods';

// The requests are those of the recorded case fault-watchlist.
test('with a server that refuses initial events, collections are listed and then watched', async () => {
  await using testbed = await ClusterTestbed.start((api) => {
    api.inject(({query}) => query['sendInitialEvents'] === 'true', {code: 400, reason: 'Invalid'});
  });
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  const [refused, list, watch] = testbed.api.requests.filter(podReads).map(({query}) => Object.keys(query));
  expect(refused).toEqual(expect.arrayContaining(['resourceVersionMatch', 'sendInitialEvents', 'watch']));
  expect(list).toEqual(['fieldSelector', 'limit', 'resourceVersion']);
  expect(watch).toEqual([
    'fieldSelector',
    'resourceVersion',
    'allowWatchBookmarks',
    'timeoutSeconds',
    'watch',
  ]);
});
