import type {ResolveOptions} from '../../operations/resolve/resolve-options.js';
import type {Dialect} from '../dialect/dialect.js';
import type {CommandOutput} from '../output/command-output.js';
import type {CommandReporter} from '../output/command-reporter.js';
import type {CliContext} from '../process/context.js';
import type {ValueRedactor} from '../redaction/value-redactor.js';
import type {CommandSettings} from '../settings/command-settings.js';
import type {RuntimeConnections} from './runtime-connections.js';

/*
 * Parts of a command's run. A function takes those that it needs as its first parameter, so that its type says whether it
 * prints, calls the runtime or may be interrupted, and a test can replace them. CommandServices has all of them.
 */

/** Environment of the command other than its command line. */
export interface EnvironmentContext {
  readonly context: CliContext;
}

/** Differences between kcri and crictl. */
export interface DialectContext {
  readonly dialect: Dialect;
}

/** Name of the command. */
export interface NameContext {
  /** Words of the command, such as `['runtime', 'up']`. */
  readonly words: readonly string[];
  /** Words of the command separated by spaces, such as `runtime up`. */
  readonly name: string;
}

/** Outputs of the command. */
export interface OutputContext {
  readonly out: CommandOutput;
}

/** Messages to people, and the exit code. */
export interface ReportContext {
  readonly report: CommandReporter;
}

/** Flags before the command, and the config file. */
export interface SettingsContext {
  readonly settings: CommandSettings;
}

/** Connections to the runtime. */
export interface ConnectionContext {
  readonly connections: RuntimeConnections;
  /** True if they lead to one of several nodes. */
  readonly isPart: boolean;
}

/** Interruption of the command. */
export interface SignalContext {
  /** Signal that Ctrl-C and SIGTERM abort, and the loss of the connection to a remote node. */
  readonly signal: AbortSignal;
}

/** Values to hide. */
export interface SecretsContext {
  /** Values to remove from messages, also from debug output. */
  readonly secrets: ValueRedactor;
}

/** Resolution of names to IDs. */
export interface ResolvingContext {
  /** Returns options for the resolution of names: the dialect's, the command, and the run's signal. */
  resolving<T extends Partial<ResolveOptions>>(
    options: T,
  ): T & Pick<ResolveOptions, 'signal' | 'command' | 'literal'>;
}

/** Context of calls to the runtime that the flags, the environment and the config file select. */
export interface RuntimeContext
  extends EnvironmentContext, ReportContext, SettingsContext, ConnectionContext, SignalContext {}

/** All parts of a command's run, for functions that need most of them. */
export interface CommandContext
  extends
    EnvironmentContext,
    DialectContext,
    NameContext,
    OutputContext,
    ReportContext,
    SettingsContext,
    ConnectionContext,
    SignalContext,
    SecretsContext,
    ResolvingContext {
  /** Returns the part of this run that queries one of several nodes: only its connections are its own. */
  forNode(endpoint: string): Promise<CommandContext>;
  /**
   * Returns a part for the same node with connections of its own, so that losing them does not end the run. ssh asks
   * questions only if it may.
   */
  reconnecting(options: {readonly mayAsk: boolean}): CommandContext;
}
