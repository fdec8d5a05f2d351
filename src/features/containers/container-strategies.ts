import type {Settings} from '../../cli/settings/settings.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly checkpoint: CheckpointStrategy;
    readonly stop: StopStrategy;
  }
}

/** Differences of `checkpoint`. */
export interface CheckpointStrategy {
  /** Returns the path of each container's archive. Throws UsageError if several would have the same. */
  readonly archives: (path: string, count: number) => (containerId: string) => string;
  /** Returns the time limit in seconds that the runtime receives, 0 for none. */
  readonly timeoutSeconds: (settings: Pick<Settings, 'timeoutMs'>) => bigint;
}

/** Differences of `stop`. */
export interface StopStrategy {
  /** Context of errors from the list of containers. */
  readonly listContext: string;
}
