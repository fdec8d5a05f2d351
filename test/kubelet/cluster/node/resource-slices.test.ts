import {expect, test} from 'vitest';
import {SILENT_LOGGER} from '../../../../src/base/logger.js';
import type {ApiClient} from '../../../../src/kube-api/index.js';
import {createResourceApi} from '../../../../src/kubelet/cluster/node/resource-claims.js';
import {FakeClock} from '../../../fakes/fake-clock.js';

test.each([
  ['dra.example.com', 'spec.driver=dra.example.com,spec.nodeName=node'],
  ['x,spec.nodeName!=node', 'spec.driver=x\\,spec.nodeName!\\=node,spec.nodeName=node'],
  ['a\\', 'spec.driver=a\\\\,spec.nodeName=node'],
])('the ResourceSlices of the driver %s are selected with %s', async (driver, fieldSelector) => {
  const requests: unknown[] = [];
  const request = async (options: unknown): Promise<unknown> => requests.push(options);
  const client = {request} as Partial<ApiClient> as ApiClient;
  const api = createResourceApi({client, nodeName: 'node', clock: new FakeClock(), logger: SILENT_LOGGER});
  await api.deleteSlices(driver, new AbortController().signal);
  expect(requests).toEqual([expect.objectContaining({method: 'DELETE', query: {fieldSelector}}) as unknown]);
});
