import {totalmem} from 'node:os';
import {ConfigError} from '../../base/errors.js';
import type {ConfigValues} from '../configuration/fields-and-defaults/kubelet-config-defaults.js';
import {createManagerSettings} from '../configuration/manager-settings.js';
import type {NodeFacts} from '../contract/node-facts.js';
import {machineReader} from '../node/read-machine.js';
import {checkNodeManagers} from '../pods/node-managers/check-node-managers.js';
import {checkReservedCpus, computeReservations} from './reserve-node-resources.js';

/**
 * Returns why a kubelet would not start with the configuration of its CPUs and memory, one error for each manager. Reads
 * the machine, but no state.
 */
export function checkNodeConfig(
  values: ConfigValues,
  rootDir: string,
  machine: NodeFacts['machine'] = machineReader(),
): readonly ConfigError[] {
  const reservations = computeReservations(values, {
    memoryBytes: BigInt(totalmem()),
    ephemeralStorageBytes: 0n, // no manager depends on it
  });
  try {
    checkReservedCpus({machine}, values);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [error];
  }
  return checkNodeManagers({rootDir, machine, reservations, ...createManagerSettings(values)});
}
