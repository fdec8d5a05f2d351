/** A device of the node. */
export interface DeviceUse {
  /** Extended resource, such as `example.com/gpu`. */
  readonly resource: string;
  readonly id: string;
  /** NUMA nodes of the device; none if it has no topology. */
  readonly numaNodes: readonly number[];
}
