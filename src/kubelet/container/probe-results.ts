import type {ContainerId} from '../../cri/index.js';

/** What a probe said last of a container instance. */
export type ProbeResult = 'Success' | 'Failure' | 'Unknown';

/** The newest probe results by container instance; one without an entry hasn't been probed yet, or has no such probe. */
export interface ProbeResults {
  readonly liveness: ReadonlyMap<ContainerId, ProbeResult>;
  readonly startup: ReadonlyMap<ContainerId, ProbeResult>;
}

export const NO_PROBES: ProbeResults = {liveness: new Map(), startup: new Map()};
