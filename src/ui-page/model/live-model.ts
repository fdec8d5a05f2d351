import type {LiveMessage, UiNode, UiPod, UiRow, UiUsage} from '../../features/ui/protocol.js';

/** Nodes and pods as the server last described them, by key. */
export interface LiveModel {
  /** Time of the node that runs the server, in ms since the epoch. */
  readonly nowMs: number;
  readonly nodes: ReadonlyMap<string, UiNode>;
  readonly pods: ReadonlyMap<string, UiPod>;
}

/** Returns the model after a message. What an update does not name stays the same object. */
export function applyMessage(model: LiveModel | undefined, message: LiveMessage): LiveModel {
  const before = message.kind === 'state' ? undefined : model;
  return {
    nowMs: message.nowMs,
    nodes: changed(before?.nodes, message.nodes, []),
    pods: withUsage(
      changed(before?.pods, message.pods, message.kind === 'update' ? message.removed : []),
      message.usage,
    ),
  };
}

function changed<Item extends {readonly key: string}>(
  before: ReadonlyMap<string, Item> = new Map(),
  items: readonly Item[] = [],
  removed: readonly string[] = [],
): ReadonlyMap<string, Item> {
  if (items.length === 0 && removed.length === 0) return before;
  const after = new Map(before);
  for (const key of removed) after.delete(key);
  for (const item of items) after.set(item.key, item);
  return after;
}

/** Returns the pods with other usage. */
function withUsage(pods: LiveModel['pods'], usage: LiveMessage['usage'] = {}): LiveModel['pods'] {
  const used = Object.entries(usage);
  if (used.length === 0) return pods;
  const after = new Map(pods);
  for (const [key, numbers] of used) {
    const pod = pods.get(key);
    if (pod === undefined) continue;
    const containers = pod.containers.map((container, index) => using(container, numbers, index + 1));
    after.set(key, {...using(pod, numbers, 0), containers});
  }
  return after;
}

/** Returns a row with its usage: the numbers at an index of pairs. */
function using<Row extends UiRow>(row: Row, numbers: UiUsage, index: number): Row {
  const used: {cpuPercent?: number; memoryBytes?: number} = {...row};
  const [cpu = null, memory = null] = numbers.slice(2 * index, 2 * index + 2);
  if (cpu === null) delete used.cpuPercent;
  else used.cpuPercent = cpu;
  if (memory === null) delete used.memoryBytes;
  else used.memoryBytes = memory;
  return used as Row;
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
