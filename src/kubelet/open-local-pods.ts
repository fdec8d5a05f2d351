import {systemRandom, type Clock} from '../base/clock.js';
import type {Connection} from '../cri/index.js';
import {LocalPods, type LocalPodsOptions, type PodObserver} from './local-pods.js';
import {readNodeFacts, type NodeOptions} from './node-status/read-node-facts.js';
import {NodePodFilesystem} from './node-pod-filesystem.js';

/** The node and its runtime, before anything is changed on them. */
export type DescribedNode = Omit<LocalPodsOptions, 'observer' | 'files'>;

/** The node's facts and the runtime's name: what syncing and planning share. Rejects with CriError. */
export async function describeNode(
  {runtime, images}: Connection,
  node: NodeOptions,
  {clock, signal}: {readonly clock: Clock; readonly signal: AbortSignal},
): Promise<DescribedNode> {
  const [{runtimeName}, facts] = await Promise.all([
    runtime.version({version: '0.1.0'}, {signal}),
    readNodeFacts(runtime, node, signal),
  ]);
  return {services: {runtime, images}, node: facts, runtimeName, clock};
}

/** The pods of the node's root directory, to be changed. */
export function openLocalPods(node: DescribedNode, observer: PodObserver): LocalPods {
  return new LocalPods({
    ...node,
    files: (facts) => new NodePodFilesystem(facts, systemRandom),
    observer,
  });
}
