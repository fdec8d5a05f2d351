import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeManager} from '../../contract/node-manager.js';
import {TopologyManager} from './topology-manager.js';
import {createTopologyPolicy} from './topology-policy.js';

/**
 * Creates the manager that admits pods and has the other managers allocate what they need. Its start rejects with SystemError
 * with the kubelet's text if its settings are wrong or do not fit the machine.
 */
export function createTopologyManager({
  topologyManager: settings,
  cpuManager,
  machine,
}: NodeFacts): NodeManager | undefined {
  if (settings === undefined || machine === undefined) return undefined;
  let manager: TopologyManager | undefined;
  return {
    name: 'topology',
    answersPlans: true,
    start: async ({topology: providers, clock, metrics}) => {
      const policy =
        settings.policy === 'none' ? undefined : createTopologyPolicy(settings, machine().numaNodes);
      manager = new TopologyManager({
        policy,
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
