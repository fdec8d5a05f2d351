import type {LiveMessage, UiNode, UiPod} from '../../features/ui/protocol.js';

/** Nodes and pods as the server last described them, by key. */
export interface LiveModel {
  /** Time of the node that runs the server, in ms since the epoch. */
  readonly nowMs: number;
  readonly nodes: ReadonlyMap<string, UiNode>;
  readonly pods: ReadonlyMap<string, UiPod>;
}

/** Returns the model after a message. An update names what differs; nodes that are not named stay. */
export function applyMessage(model: LiveModel | undefined, message: LiveMessage): LiveModel {
  const before = message.kind === 'state' ? undefined : model;
  const pods = new Map(before?.pods);
  if (message.kind === 'update') for (const key of message.removed) pods.delete(key);
  for (const pod of message.pods) pods.set(pod.key, pod);
  const nodes = new Map(before?.nodes);
  for (const node of message.nodes) nodes.set(node.key, node);
  return {nowMs: message.nowMs, nodes, pods};
}

/** Returns the nodes and pods that usage is recorded of: all rows, unless their node does not answer. */
export function measuredRows({nodes, pods}: LiveModel): readonly Measured[] {
  return [
    ...[...nodes.values()].filter(({failure}) => failure === undefined),
    ...[...pods.values()].flatMap((pod) => (pod.isStale === true ? [] : [pod, ...pod.containers])),
  ];
}

/** What a sample has of a node, a pod or a container. */
export interface Measured {
  readonly key: string;
  readonly cpuPercent?: number;
  readonly memoryBytes?: number;
}
