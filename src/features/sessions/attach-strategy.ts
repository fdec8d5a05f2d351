import type {EnvironmentContext, SignalContext} from '../../cli/command/contexts.js';
import type {ContainerId, RuntimeService} from '../../cri/index.js';

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly attach: AttachStrategy;
  }
}

/** Differences of `attach`. */
export interface AttachStrategy {
  /** Returns the context of errors. */
  context(ref: string): string;
  /** Returns the exit code after the session, which itself always reports success. */
  exitCode(
    services: EnvironmentContext & SignalContext,
    runtime: RuntimeService,
    id: ContainerId,
  ): Promise<number>;
}
