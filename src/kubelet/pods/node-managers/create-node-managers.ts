import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeManager} from '../../contract/node-manager.js';
import {createDeviceManager} from '../../managers/devices/device-node-manager.js';
import {createSwapManager} from '../../managers/swap/swap-manager.js';

/** Managers in the order in which they are asked. One that the node's configuration turns off is undefined. */
const FACTORIES: readonly ((node: NodeFacts) => NodeManager | undefined)[] = [
  createDeviceManager,
  createSwapManager,
];

/** Creates the managers of a node. Starts nothing. */
export function createNodeManagers(node: NodeFacts): readonly NodeManager[] {
  return FACTORIES.flatMap((create) => create(node) ?? []);
}
