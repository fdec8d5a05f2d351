import type {NodeFacts} from '../contract/node-facts.js';
import {parseQosReserved} from '../resources/qos-requests.js';
import {isGateEnabled} from './feature-gates.js';
import type {ConfigValues} from './fields-and-defaults/kubelet-config-defaults.js';
import {periodToMs} from './kubelet-config.js';

/** Returns the settings of the managers of the node's resources. */
export function createManagerSettings(
  values: ConfigValues,
): Pick<
  NodeFacts,
  'cpuManager' | 'memoryManager' | 'topologyManager' | 'processCgroups' | 'qosReservedMemoryPercent'
> {
  const managesPodLevel = isGateEnabled(values, 'PodLevelResourceManagers');
  return {
    cpuManager: {
      policy: values.cpuManagerPolicy,
      options: values.cpuManagerPolicyOptions,
      reconcilePeriodMs: periodToMs(values.cpuManagerReconcilePeriod),
      reservedSystemCpus: values.reservedSystemCPUs,
      allowsAlphaOptions: isGateEnabled(values, 'CPUManagerPolicyAlphaOptions'),
      allowsBetaOptions: isGateEnabled(values, 'CPUManagerPolicyBetaOptions'),
      managesPodLevel,
      dropsQuota: isGateEnabled(values, 'DisableCPUQuotaWithExclusiveCPUs'),
    },
    memoryManager: {
      policy: values.memoryManagerPolicy,
      reservedMemory: values.reservedMemory,
      managesPodLevel,
    },
    qosReservedMemoryPercent: isGateEnabled(values, 'QOSReserved')
      ? parseQosReserved(values.qosReserved)
      : undefined,
    processCgroups: {kubelet: values.kubeletCgroups, system: values.systemCgroups},
    topologyManager: {
      policy: values.topologyManagerPolicy,
      scope: values.topologyManagerScope,
      options: values.topologyManagerPolicyOptions,
    },
  };
}
