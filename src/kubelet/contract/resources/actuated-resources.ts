import type {ResourceRequirements} from '../../../api/types/v1-meta.js';

/** Resources of a pod and, by name, of its init and regular containers (state.PodResourceInfo). */
export interface PodAllocation {
  readonly pod: ResourceRequirements | undefined;
  readonly containers: ReadonlyMap<string, ResourceRequirements>;
}

/**
 * Resources last actuated for a pod's cgroup and containers (the kubelet's actuated_pods_state). A difference from the
 * Pod is a pending resize. `kcri plan` has an implementation that persists nothing.
 */
export interface ActuatedResources {
  /** Loads the resources persisted by another process, once. Rejects with SystemError. */
  load(): Promise<void>;
  /** Actuated resources; undefined when unknown: those of the Pod then apply. */
  readonly current: PodAllocation | undefined;
  /** Records a container's actuated resources. A failed write is reported and does not reject; setPod does the same. */
  setContainer(name: string, resources: ResourceRequirements): Promise<void>;
  setPod(resources: ResourceRequirements | undefined): Promise<void>;
}
