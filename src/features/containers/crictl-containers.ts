import type {CheckpointStrategy, StopStrategy} from './container-strategies.js';

/** Returns a function that passes the path to the runtime unchanged for each container, as crictl does. */
export const crictlCheckpoint: CheckpointStrategy = (path) => () => path;

/** Stop as in crictl. */
export const CRICTL_STOP: StopStrategy = {listContext: 'listing containers: call list containers RPC'};
