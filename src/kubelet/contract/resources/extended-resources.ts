/** Numbers of extended resources that a manager of the node offers, by name. */
export interface ExtendedResources {
  readonly capacity: ReadonlyMap<string, number>;
  /** The usable ones, whether they are used or not. */
  readonly allocatable: ReadonlyMap<string, number>;
  /** Resources that the node had, and does not have any more. Each is returned once. */
  readonly deleted: readonly string[];
  /** True if no earlier kubelet has left anything: the node may be a new one under the name of another. */
  readonly isNew: boolean;
}

/** A manager that offers extended resources, such as devices. */
export interface ExtendedResourceProvider {
  /** Returns the resources for the node status. */
  readonly takeResources: () => ExtendedResources;
  /** Returns the numbers that containers use. */
  readonly used: () => ReadonlyMap<string, number>;
}
