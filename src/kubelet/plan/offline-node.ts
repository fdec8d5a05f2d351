import type {Clock} from '../../base/clock.js';
import {goneServices} from '../gone-services.js';
import {readNodeFacts, type NodeOptions} from '../node-status/read-node-facts.js';
import type {DescribedNode} from '../open-local-pods.js';

/**
 * This node with a runtime that is empty and can do all that the CRI knows, without asking any. The cgroup driver is
 * the kubelet's default, cgroupfs, unless the options name one.
 */
export async function describeOfflineNode(options: NodeOptions, clock: Clock): Promise<DescribedNode> {
  const endpoint = 'offline';
  const gone = goneServices(endpoint);
  const runtime = {
    ...gone.runtime,
    status: async () => ({info: {}, runtimeHandlers: HANDLERS, features: FEATURES}),
  };
  const images = {...gone.images, imageStatus: async () => ({info: {}})};
  const node = await readNodeFacts(runtime, {...options, cgroupDriver: options.cgroupDriver ?? 'cgroupfs'});
  return {services: {runtime, images}, endpoint, node, runtimeName: 'runtime', clock};
}

const HANDLERS = [{name: '', features: {recursiveReadOnlyMounts: true, userNamespaces: true}}];
const FEATURES = {supplementalGroupsPolicy: true, userNamespacesHostNetwork: true, mountOptions: true};
