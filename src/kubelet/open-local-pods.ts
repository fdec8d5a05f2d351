import {systemRandom, type Clock, type RandomSource} from '../base/clock.js';
import {canonicalEndpoint} from '../cri/endpoint.js';
import type {Connection} from '../cri/index.js';
import {NO_OBJECTS, type ApiObjects} from './container/api-objects.js';
import {PodHistories} from './events/pod-history.js';
import {goneServices} from './gone-services.js';
import {isRestartingAllContainers} from './kuberuntime/compute-restart-all.js';
import {restartsAfter} from './kuberuntime/restart-policy.js';
import {LocalPods} from './local-pods.js';
import type {LocalPodsOptions, PodObserver} from './local-pods-options.js';
import {readNodeFacts, type NodeOptions} from './node-status/read-node-facts.js';
import {NodePodFilesystem} from './node-pod-filesystem.js';
import {ProbeManager} from './prober/probe-manager.js';

/** The node and its runtime, before anything is changed on them. */
export type DescribedNode = Omit<LocalPodsOptions, 'observer' | 'files' | 'objects' | 'probes'>;

/** The node's facts and the runtime's name: what syncing and planning share. Rejects with CriError. */
export async function describeNode(
  {endpoint, runtime, images}: Connection,
  node: NodeOptions,
  {clock, signal}: {readonly clock: Clock; readonly signal: AbortSignal},
): Promise<DescribedNode> {
  const [{runtimeName}, facts] = await Promise.all([
    runtime.version({version: '0.1.0'}, {signal}),
    readNodeFacts(runtime, node, signal),
  ]);
  return {
    services: {runtime, images},
    endpoint: await canonicalEndpoint(endpoint),
    node: facts,
    runtimeName,
    clock,
  };
}

/**
 * The node whose runtime at `endpoint` is gone with all it ran: enough to remove what is left of a pod that was
 * made there.
 */
export async function describeAbandonedNode(
  endpoint: string,
  rootDir: string,
  clock: Clock,
  cgroupMount: string | undefined,
): Promise<DescribedNode> {
  const services = goneServices(endpoint);
  const node = await readNodeFacts(services.runtime, {
    rootDir,
    cgroupMount,
    cgroupDriver: 'cgroupfs',
    resolvConf: '',
  });
  return {services, endpoint, node, runtimeName: '', clock};
}

/**
 * The pods of the node's root directory, to be changed. To end pods, what they refer to isn't needed.
 * Their first probes come at once, unless `probeRandom` spreads them.
 */
export function openLocalPods(
  node: DescribedNode,
  observer: PodObserver,
  objects: ApiObjects = NO_OBJECTS,
  probeRandom: RandomSource = () => 0,
): LocalPods {
  return new LocalPods({
    ...node,
    objects,
    files: (facts) => new NodePodFilesystem(facts, systemRandom, node.clock),
    probes: new ProbeManager({
      clock: node.clock,
      random: probeRandom,
      comesAgain: (pod, container, exitCode, status) =>
        restartsAfter(pod, container, exitCode) || isRestartingAllContainers(status),
    }),
    observer,
    histories: new PodHistories(node.node.rootDir, node.clock),
  });
}
