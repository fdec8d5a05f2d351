import {expect, test} from 'vitest';
import {simulateNodes} from '../../bench/cluster/simulate-nodes.js';

test('the requests of a node do not depend on the number of nodes', async () => {
  const common = {podsPerNode: 2, minutes: 2};
  const one = await simulateNodes({...common, nodes: 1});
  const many = await simulateNodes({...common, nodes: 12});
  // Six renewals of the lease; the status of the node is sent every five minutes.
  expect(one.idleRequests).toBeLessThan(8);
  expect(Math.abs(many.idleRequests - one.idleRequests)).toBeLessThan(1);
  expect(Math.abs(many.startRequests - one.startRequests)).toBeLessThan(4);
});
