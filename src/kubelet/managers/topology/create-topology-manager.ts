import type {ManagedNode} from '../../contract/node-facts.js';
import type {NodeManager} from '../../contract/node-manager.js';
import {TopologyManager} from './topology-manager.js';
import {createTopologyPolicy, type TopologyPolicy} from './topology-policy.js';

/**
 * Creates the manager that admits pods and has the other managers allocate what they need. Its start rejects with SystemError
 * with the kubelet's text if its settings are wrong or do not fit the machine.
 */
export function createTopologyManager({
  topologyManager: settings,
  cpuManager,
  machine,
}: ManagedNode): NodeManager | undefined {
  if (settings === undefined || machine === undefined) return undefined;
  let manager: TopologyManager | undefined;
  const createPolicy = (): TopologyPolicy | undefined =>
    settings.policy === 'none' ? undefined : createTopologyPolicy(settings, machine().numaNodes);
  return {
    name: 'topology',
    answersPlans: true,
    validate: () => {
      createPolicy();
    },
    start: async ({topology: providers, clock, metrics}) => {
      manager = new TopologyManager({
        policy: createPolicy(),
        providers,
        managesPodLevel: cpuManager?.managesPodLevel ?? false,
        ...{clock, metrics},
      });
      return Promise.resolve();
    },
    admit: async (pod) => {
      await manager?.admit(pod);
      return undefined;
    },
  };
}
