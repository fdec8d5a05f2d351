import type {Node} from '../../../api/types/v1-node.js';

/** Conditions of a node that lacks a resource, in the order in which a kubelet reports them. */
export const NODE_PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

/** Condition of a node that lacks a resource. */
export type NodePressure = (typeof NODE_PRESSURES)[number];

/** Returns the pressure conditions that are true in a Node object. */
export function findNodePressures(node: Node | undefined): readonly NodePressure[] {
  const conditions = node?.status?.conditions ?? [];
  return NODE_PRESSURES.filter((pressure) =>
    conditions.some(({type, status}) => type === pressure && status === 'True'),
  );
}
