import {expect, test} from 'vitest';
import {systemClock} from '../../../src/base/clock.js';
import {NO_OBJECTS} from '../../../src/kubelet/contract/api-objects.js';
import type {NodeManager} from '../../../src/kubelet/contract/node-manager.js';
import {planPods} from '../../../src/kubelet/plan/plan-pods.js';
import type {PlanOptions} from '../../../src/kubelet/plan/planned-registry.js';
import {NodeManagerSet} from '../../../src/kubelet/pods/node-managers/node-manager-set.js';
import {aLocalPod, startRegistryTestbed} from '../pods/registry-testbed.js';

async function planOptions(managers: readonly NodeManager[]): Promise<PlanOptions> {
  const {runtime, connection: services, node} = await startRegistryTestbed();
  const runtimeOptions = {services, endpoint: runtime.endpoint, runtimeName: 'fake', clock: systemClock};
  return {...runtimeOptions, node, objects: NO_OBJECTS, nodeManagers: new NodeManagerSet(managers)};
}

test('a plan shows what the managers of the node give a container, and starts none', async () => {
  const manager: NodeManager = {
    name: 'cpu',
    start: async () => {
      throw new Error('started');
    },
    containerOptions: async () => ({resources: {cpusetCpus: '2-3'}}),
    explain: () => 'exclusive CPUs 2-3',
  };
  const [plan] = await planPods(await planOptions([manager]), [aLocalPod()], new AbortController().signal);
  const created = plan?.calls.find(({method}) => method === 'CreateContainer');
  expect(created?.request).toMatchObject({config: {linux: {resources: {cpusetCpus: '2-3'}}}});
  expect(created?.why.text).toBe('it has not been created yet; exclusive CPUs 2-3');
  expect(plan?.calls.find(({method}) => method === 'StartContainer')?.why.text).toBe(
    'it has not been created yet',
  );
});
