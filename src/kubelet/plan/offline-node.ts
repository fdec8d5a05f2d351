import type {Clock} from '../../base/clock.js';
import {createUnavailableRuntime} from '../pods/registry/unavailable-runtime.js';
import {readNodeFacts, type NodeOptions} from '../node/read-node-facts.js';
import type {NodeAndRuntime} from '../pods/registry/read-node.js';

/**
 * Describes this node with an empty runtime that supports everything in the CRI, without contacting a runtime. The
 * cgroup driver defaults to cgroupfs, as in the kubelet.
 */
export async function describeOfflineNode(options: NodeOptions, clock: Clock): Promise<NodeAndRuntime> {
  const endpoint = 'offline';
  const unavailable = createUnavailableRuntime(endpoint);
  const runtime = {
    ...unavailable.runtime,
    status: async () => ({info: {}, runtimeHandlers: HANDLERS, features: FEATURES}),
  };
  const images = {...unavailable.images, imageStatus: async () => ({info: {}})};
  const node = await readNodeFacts(runtime, {...options, cgroupDriver: options.cgroupDriver ?? 'cgroupfs'});
  return {services: {runtime, images}, endpoint, node, runtimeName: 'runtime', clock};
}

const HANDLERS = [{name: '', features: {recursiveReadOnlyMounts: true, userNamespaces: true}}];
const FEATURES = {supplementalGroupsPolicy: true, userNamespacesHostNetwork: true, mountOptions: true};
