/** Returns a function that passes the path to the runtime unchanged for each container, as crictl does. */
export const crictlCheckpoint: CheckpointStrategy = (path) => () => path;

/** Stop as in crictl. */
export const CRICTL_STOP: StopStrategy = {listContext: 'listing containers: call list containers RPC'};

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly checkpoint: CheckpointStrategy;
    readonly stop: StopStrategy;
  }
}

/** Returns the path of each container's archive. Throws UsageError if several would have the same. */
type CheckpointStrategy = (path: string, count: number) => (containerId: string) => string;

/** Differences of `stop`. */
interface StopStrategy {
  /** Context of errors from the list of containers. */
  readonly listContext: string;
}
