declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly checkpoint: CheckpointStrategy;
    readonly stop: StopStrategy;
  }
}

/** Returns the path of each container's archive. Throws UsageError if several would have the same. */
export type CheckpointStrategy = (path: string, count: number) => (containerId: string) => string;

/** Differences of `stop`. */
export interface StopStrategy {
  /** Context of errors from the list of containers. */
  readonly listContext: string;
}
