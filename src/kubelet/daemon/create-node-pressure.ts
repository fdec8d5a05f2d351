import type {Clock} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import type {KubeletMetrics} from '../contract/kubelet-metrics.js';
import type {EventSink} from '../contract/pod-event.js';
import type {EvictPod} from '../pods/eviction/eviction.js';
import {NodePressureManager, type NodePressureOptions} from '../pods/eviction/node-pressure-manager.js';
import type {PeriodicContainerGc} from '../pods/gc/periodic-container-gc.js';
import type {PodWorkers} from '../pods/workers/pod-workers.js';

/** Settings of node-pressure eviction, and the measurement of the node and its pods. */
export type NodeMeasurement = Pick<
  NodePressureOptions,
  'settings' | 'readSignals' | 'readMemory' | 'readUsages'
>;

/** Measurement of the node, and its images and events. */
export type NodePressureSource = NodeMeasurement &
  Pick<NodePressureOptions, 'deleteUnusedImages' | 'nodeEvent'>;

/** Parts of a kubelet that the eviction needs. */
export interface NodePressureParts {
  readonly workers: Pick<PodWorkers, 'isFinished' | 'isKnown'>;
  readonly containerGc: Pick<PeriodicContainerGc, 'deleteUnused'>;
  readonly evictPod: EvictPod;
}

/** Options of the kubelet that the eviction needs. */
export interface NodePressureContext {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventSink;
  readonly metrics?: KubeletMetrics;
}

/** Creates the manager of node-pressure eviction. */
export function createNodePressure(
  {clock, logger, events, metrics}: NodePressureContext,
  source: NodePressureSource,
  {workers, containerGc, evictPod}: NodePressureParts,
): NodePressureManager {
  return new NodePressureManager({
    ...source,
    deleteUnusedContainers: async () => {
      await containerGc.deleteUnused();
    },
    isFinished: (uid) => workers.isFinished(uid) || !workers.isKnown(uid),
    ...{evictPod, events, clock, logger, metrics},
  });
}
