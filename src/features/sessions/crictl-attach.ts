import {EXIT} from '../../cli/process/exit-codes.js';
import type {EnvironmentContext, SignalContext} from '../../cli/command/contexts.js';
import type {ContainerId, RuntimeService} from '../../cri/index.js';

/** Attach as in crictl, which succeeds regardless of the container's exit code. */
export const CRICTL_ATTACH: AttachStrategy = {
  context: () => 'attaching running container failed',
  exitCode: async () => await Promise.resolve(EXIT.ok),
};

declare module '../../cli/dialect/command-strategies.js' {
  interface CommandStrategies {
    readonly attach: AttachStrategy;
  }
}

/** Differences of `attach`. */
interface AttachStrategy {
  /** Returns the context of errors. */
  context(ref: string): string;
  /** Returns the exit code after the session, which itself always reports success. */
  exitCode(
    services: EnvironmentContext & SignalContext,
    runtime: RuntimeService,
    id: ContainerId,
  ): Promise<number>;
}
