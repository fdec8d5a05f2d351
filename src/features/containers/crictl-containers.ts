import type {CheckpointStrategy, StopStrategy} from './container-strategies.js';

/** Checkpoint as in crictl: the runtime receives the path unchanged for each container, and the global time limit. */
export const CRICTL_CHECKPOINT: CheckpointStrategy = {
  archives: (path) => () => path,
  timeoutSeconds: ({timeoutMs}) => BigInt(Math.trunc(timeoutMs / 1000)),
};

/** Stop as in crictl. */
export const CRICTL_STOP: StopStrategy = {listContext: 'listing containers: call list containers RPC'};
