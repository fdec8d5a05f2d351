import {systemRandom} from '../../base/clock.js';
import {nodeObjectFacts} from '../contract/cluster/cluster-link.js';
import {logNodeEvent, type NodeEvent} from '../contract/cluster/node-event.js';
import {NO_METRICS} from '../contract/kubelet-metrics.js';
import type {ImageGcManager} from '../managers/images/gc/image-gc-manager.js';
import type {PlegNotice} from '../managers/pleg/pleg-notice.js';
import {OrphanedPods} from '../pods/gc/orphaned-pods.js';
import type {PodManager} from '../pods/registry/pod-manager.js';
import {createImageCollector} from './create-image-collector.js';
import type {NodePressureSource} from './create-node-pressure.js';
import {createKubeletCore, type KubeletCore} from './kubelet-core.js';
import type {KubeletOptions} from './kubelet-options.js';
import {createPlegNoticeLogger} from './log-pleg-notices.js';
import type {KubeletParts} from './open-kubelet-parts.js';

/** Parts that work on those of openKubeletParts. */
export interface BuiltKubelet {
  readonly core: KubeletCore;
  readonly images: ImageGcManager | undefined;
}

/** Builds the core of the kubelet and what it uses. Starts nothing. The signal stops the parts. */
export function buildKubelet(
  options: KubeletOptions,
  parts: KubeletParts,
  signal: AbortSignal,
): BuiltKubelet {
  const {
    clock,
    logger,
    random = systemRandom,
    metrics = NO_METRICS,
    runtime,
    eventedPleg,
    admission,
    containerGc,
  } = options;
  const {queue, manager, registry, own, rejections, sources, services, events, podChanged} = parts;
  const images = createImageGc(options, manager);
  const core = createKubeletCore({
    ...{queue, manager, registry, own, rejections, clock, random, logger, events, metrics},
    tracer: options.tracer,
    createOrphanedPods: (core) =>
      new OrphanedPods({...core, own, local: registry, clock, logger, metrics, signal}),
    ...{runtime, node: options.node.node, observer: services.observer},
    syncFrequencyMs: options.syncFrequencyMs,
    ...{eventedPleg, admission, containerGc, signal},
    onPlegNotice: createPlegNoticeListener(options),
    nodePressure: createNodePressureSource(options, images),
    seenAllSources: (handled) => sources.seenAllSources(handled),
    onPodChanged: podChanged,
    allocated: parts.resources.allocated,
    nodeObject: () => nodeObjectFacts(parts.clusterNode()),
  });
  return {core, images};
}

function createPlegNoticeListener({logger, metrics}: KubeletOptions): (notice: PlegNotice) => void {
  const log = createPlegNoticeLogger(logger);
  return (notice) => {
    log(notice);
    metrics?.pleg(notice);
  };
}

/** Logs an event about the node, and sends it. */
export function recordNodeEvent(
  {node, logger, cluster}: Pick<KubeletOptions, 'node' | 'logger' | 'cluster'>,
  event: NodeEvent,
): void {
  logNodeEvent(logger.forFile('build-kubelet.ts'), node.node.nodeName, event);
  cluster?.nodeEvent(event);
}

/** Returns the source of node-pressure eviction. */
function createNodePressureSource(
  options: KubeletOptions,
  images: ImageGcManager | undefined,
): NodePressureSource | undefined {
  return (
    options.eviction && {
      ...options.eviction,
      deleteUnusedImages: async (signal) => await images?.deleteUnused(signal),
      nodeEvent: (event) => {
        recordNodeEvent(options, event);
      },
    }
  );
}

function createImageGc(options: KubeletOptions, manager: PodManager): ImageGcManager | undefined {
  const {node, runtime, images, logger, metrics, tracer} = options;
  if (images === undefined) return undefined;
  const {service, policy} = images;
  const pods = () => manager.list().map(({pod}) => pod);
  const nodeWarning = (reason: string, message: string): void => {
    recordNodeEvent(options, {type: 'Warning', reason, message});
  };
  const collected = (reason: 'age' | 'space'): void => metrics?.imageCollected(reason);
  return createImageCollector({
    ...{node, runtime, images: service, logger, policy, pods, nodeWarning},
    ...{collected, tracer},
  });
}
