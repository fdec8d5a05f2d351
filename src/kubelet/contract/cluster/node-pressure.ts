/** Conditions of a node that lacks a resource, in the order in which a kubelet reports them. */
export const NODE_PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

/** Condition of a node that lacks a resource. */
export type NodePressure = (typeof NODE_PRESSURES)[number];
