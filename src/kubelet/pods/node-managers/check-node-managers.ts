import {ConfigError, KcriError} from '../../../base/errors.js';
import type {ManagedNode} from '../../contract/node-facts.js';
import type {NodeManager} from '../../contract/node-manager.js';
import {createCpuManager} from '../../managers/cpu/cpu-manager.js';
import {createMemoryManager} from '../../managers/memory/create-memory-manager.js';
import {createTopologyManager} from '../../managers/topology/create-topology-manager.js';

/** Managers with settings of which some do not fit every machine. */
const FACTORIES: readonly ((node: ManagedNode) => NodeManager | undefined)[] = [
  createTopologyManager,
  createCpuManager,
  createMemoryManager,
];

/** Returns why managers would not start on the machine with their settings, one error for each. */
export function checkNodeManagers(node: ManagedNode): readonly ConfigError[] {
  return FACTORIES.flatMap((create) => {
    const manager = create(node);
    return (manager && problemOf(manager)) ?? [];
  });
}

function problemOf({name, validate}: NodeManager): ConfigError | undefined {
  try {
    validate?.();
    return undefined;
  } catch (cause) {
    if (!(cause instanceof KcriError)) throw cause;
    const {message, hint} = cause;
    return new ConfigError(`the ${name} manager cannot start on this machine: ${message}`, {cause, hint});
  }
}
