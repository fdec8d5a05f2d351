import type {CallObserver} from '../../cri/index.js';
import type {ResolveOptions} from '../../operations/resolve/resolve-names.js';
import type {CliContext} from '../context.js';
import type {Diagnostic} from '../diagnostics/diagnostic.js';
import {hasDiagnosticFlags, startDiagnostics} from '../diagnostics/start-diagnostics.js';
import type {Dialect} from '../dialect.js';
import {createFlushDeadline} from '../output/output.js';
import {exitCodeOf} from '../output/render-error.js';
import type {ParsedValues} from '../parsing/parse-values.js';
import {ValueRedactor} from '../redaction/value-redactor.js';
import {CommandOutput} from './command-output.js';
import {CommandReporter} from './command-reporter.js';
import {CommandSettings} from './command-settings.js';
import {RuntimeConnections} from './runtime-connections.js';

/** Environment of one run of a command. */
export interface CommandRun {
  readonly context: CliContext;
  readonly dialect: Dialect;
  /** Values of the flags before the command. */
  readonly globals: ParsedValues;
}

/** Properties of a command class that its services depend on. */
export interface CommandIdentity {
  /** Words of the command, such as `['runtime', 'up']`. */
  readonly words: readonly string[];
  /** Returns the lines that follow a usage error. */
  readonly usage: () => string;
  /** True if a config file named by the user may be missing. */
  readonly configFileMayBeMissing: boolean;
}

/** Services of one run of a command; functions that several commands share take them as their first parameter. */
export class CommandServices {
  readonly context: CliContext;
  readonly dialect: Dialect;
  readonly words: readonly string[];
  readonly out: CommandOutput;
  readonly report: CommandReporter;
  readonly settings: CommandSettings;
  readonly connections: RuntimeConnections;
  /** Signal that Ctrl-C and SIGTERM abort, and the loss of the connection to a remote node. */
  readonly signal: AbortSignal;
  /** Values to remove from messages, also from debug output. */
  readonly secrets = new ValueRedactor();
  #diagnostics: readonly Diagnostic[] = [];

  constructor({context, dialect, globals}: CommandRun, command: CommandIdentity) {
    this.context = context;
    this.dialect = dialect;
    this.words = command.words;
    this.out = new CommandOutput(context, dialect);
    this.report = new CommandReporter(() =>
      dialect.createReporter(
        {
          write: (text) => {
            this.out.writeMessage(this.secrets.mask(text));
          },
          isDebug: () => this.settings.isDebug,
          usage: command.usage,
        },
        context,
      ),
    );
    this.settings = new CommandSettings(context, globals, {
      mayBeMissing: command.configFileMayBeMissing,
      source: dialect.settingsSource,
      // crictl warns about its config file before it runs a command.
      onWarning: (text) => {
        if (dialect.warnsOfConfigFile) this.report.warn(text);
      },
    });
    this.connections = new RuntimeConnections(this);
    this.signal = AbortSignal.any([context.signal, this.connections.lost]);
  }

  /** Words of the command separated by spaces, such as `runtime up`. */
  get name(): string {
    return this.words.join(' ');
  }

  /** Returns options for the resolution of names: the dialect's, the command, and the run's signal. */
  resolving<T extends Partial<ResolveOptions>>(options: T) {
    const {dialect, name: command, signal} = this;
    return {...options, signal, command, literal: dialect.takesOnlyIds};
  }

  /** Starts profiles and traces that the global flags ask for. Rejects with UsageError and SystemError. */
  async startDiagnostics(): Promise<void> {
    const {globals} = this.settings;
    if (!hasDiagnosticFlags(globals)) return;
    this.#diagnostics = await startDiagnostics(globals, {
      name: this.name,
      mask: (text) => this.secrets.mask(text),
      ...this.dialect.diagnostics(this.report),
      warn: this.report.warn,
    });
  }

  /** Returns the observers of calls to the runtime: those of diagnostics, and the debug log. */
  async callObservers(): Promise<readonly CallObserver[]> {
    const observers = this.#diagnostics.flatMap(({observer}) => observer ?? []);
    if (!(await this.settings.read()).debug) return observers;
    const {createDebugLog} = await import('../diagnostics/debug-log.js');
    const log = createDebugLog((line) => {
      this.out.writeMessage(`${line}\n`);
    }, this.secrets);
    return [...observers, log];
  }

  /** Finishes diagnostics and writes all output; `failure` is the error that ended the command. */
  async finish(failure: unknown): Promise<void> {
    for (const diagnostic of this.#diagnostics) await diagnostic.finish(failure);
    this.report.reporter.flush();
    await this.#flush(failure);
  }

  /** Reports lost output, unless it is the `failure`. Lost messages only change the exit code. */
  async #flush(failure: unknown): Promise<void> {
    using limit = createFlushDeadline(this.context);
    try {
      await this.out.flushStdout(limit.signal);
    } catch (error) {
      if (error !== failure) this.report.fail(error);
    }
    await this.out.flushStderr(limit.signal).catch((error: unknown) => {
      this.report.setExitCode(exitCodeOf(error));
    });
  }
}
