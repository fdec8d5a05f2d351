import {periodToMs} from '../../format/duration.js';
import {readMachine} from '../node/read-machine.js';
import type {ConfigValues} from '../configuration/fields-and-defaults/kubelet-config-defaults.js';
import type {CpuManagerSettings} from '../contract/resources/cpu-manager-settings.js';
import type {Machine} from '../contract/resources/machine.js';
import type {NodeAndRuntime} from '../pods/registry/read-node.js';

/** Adds the settings of the managers of the node's resources to a node. */
export function withNodeManagers(found: NodeAndRuntime, values: ConfigValues): NodeAndRuntime {
  return {
    ...found,
    node: {
      ...found.node,
      machine: found.node.machine ?? readOnce(),
      cpuManager: cpuManagerSettings(values),
      topologyManager: {
        policy: values.topologyManagerPolicy,
        scope: values.topologyManagerScope,
        options: values.topologyManagerPolicyOptions,
      },
    },
  };
}

function cpuManagerSettings(values: ConfigValues): CpuManagerSettings {
  const {featureGates: gates} = values;
  return {
    policy: values.cpuManagerPolicy,
    options: values.cpuManagerPolicyOptions,
    reconcilePeriodMs: periodToMs(values.cpuManagerReconcilePeriod),
    reservedSystemCpus: values.reservedSystemCPUs,
    allowsAlphaOptions: gates['CPUManagerPolicyAlphaOptions'] === true,
    allowsBetaOptions: gates['CPUManagerPolicyBetaOptions'] !== false,
    managesPodLevel: gates['PodLevelResourceManagers'] === true,
    dropsQuota: gates['DisableCPUQuotaWithExclusiveCPUs'] !== false,
  };
}

/** Returns a function that reads the machine when it is first asked. */
function readOnce(): () => Machine {
  let machine: Machine | undefined;
  return () => (machine ??= readMachine());
}
