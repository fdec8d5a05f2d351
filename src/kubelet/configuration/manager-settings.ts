import type {NodeFacts} from '../contract/node-facts.js';
import {isGateEnabled} from './feature-gates.js';
import type {ConfigValues} from './fields-and-defaults/kubelet-config-defaults.js';
import {periodToMs} from './kubelet-config.js';

/** Returns the settings of the managers of the node's resources. */
export function createManagerSettings(
  values: ConfigValues,
): Pick<NodeFacts, 'cpuManager' | 'topologyManager'> {
  return {
    cpuManager: {
      policy: values.cpuManagerPolicy,
      options: values.cpuManagerPolicyOptions,
      reconcilePeriodMs: periodToMs(values.cpuManagerReconcilePeriod),
      reservedSystemCpus: values.reservedSystemCPUs,
      allowsAlphaOptions: isGateEnabled(values, 'CPUManagerPolicyAlphaOptions'),
      allowsBetaOptions: isGateEnabled(values, 'CPUManagerPolicyBetaOptions'),
      managesPodLevel: isGateEnabled(values, 'PodLevelResourceManagers'),
      dropsQuota: isGateEnabled(values, 'DisableCPUQuotaWithExclusiveCPUs'),
    },
    topologyManager: {
      policy: values.topologyManagerPolicy,
      scope: values.topologyManagerScope,
      options: values.topologyManagerPolicyOptions,
    },
  };
}
