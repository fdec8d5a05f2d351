import type {Node} from '../../../api/types/v1-node.js';
import type {Clock} from '../../../base/clock.js';
import type {ImageService, RuntimeService} from '../../../cri/index.js';
import type {NodePressure} from '../../contract/cluster/node-pressure.js';
import type {NodeSettings} from '../../contract/cluster/node-settings.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {RuntimeState} from '../../node/runtime-state.js';
import {computeNodeAddresses} from './cloud-provider.js';
import {computeInitialNode} from './node-status.js';
import {readSystemInfo} from './read-system-info.js';

/** Options of {@link readLocalNode}. */
export interface ReadLocalNodeOptions {
  readonly services: {
    readonly runtime: Pick<RuntimeService, 'status' | 'version'>;
    readonly images: Pick<ImageService, 'listImages'>;
  };
  readonly node: NodeFacts;
  readonly settings: NodeSettings;
  /** Pressure conditions of the node that are true. */
  readonly pressures: readonly NodePressure[];
  /** Version of kcri, for nodeInfo. */
  readonly kcriVersion: string;
  readonly clock: Clock;
}

/**
 * Reads the Node object that a kubelet with these settings would register now. The node is ready if the runtime and its
 * network are. Rejects with CriError.
 */
export async function readLocalNode(
  {services: {runtime, images}, node, settings, pressures, kcriVersion, clock}: ReadLocalNodeOptions,
  signal: AbortSignal,
): Promise<Node> {
  const state = new RuntimeState(runtime, clock);
  const [info, list] = await Promise.all([
    readSystemInfo(runtime, node, kcriVersion, signal),
    images.listImages({}, {signal}),
    state.check(signal),
  ]);
  const {networkError} = state;
  const errors = [...state.errors(), ...(networkError === undefined ? [] : [networkError])];
  return computeInitialNode({
    ...{node, info, settings, errors, pressures},
    addresses: computeNodeAddresses(node, settings, []),
    images: list.images,
    features: state.features,
    previous: {},
    now: clock.now(),
  });
}
