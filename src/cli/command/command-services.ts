import {CallbackAbortController, onAbort} from '../../base/async/abort-callbacks.js';
import {UsageError} from '../../base/errors.js';
import {archiveEndpoint} from '../../cri/endpoint.js';
import type {CallObserver} from '../../cri/index.js';
import type {ResolveOptions} from '../../operations/resolve/resolve-options.js';
import type {CliContext} from '../process/context.js';
import type {Diagnostic} from '../diagnostics/diagnostic.js';
import {hasDiagnosticFlags, startDiagnostics} from '../diagnostics/start-diagnostics.js';
import type {Dialect} from '../dialect/dialect.js';
import {createFlushDeadline} from '../output/output.js';
import type {Reporter} from '../output/reporter.js';
import {exitCodeOf} from '../output/render-error.js';
import type {ParsedValues} from '../parsing/parse-values.js';
import {ValueRedactor} from '../redaction/value-redactor.js';
import {CommandOutput} from '../output/command-output.js';
import {CommandReporter} from '../output/command-reporter.js';
import {CommandSettings} from '../settings/command-settings.js';
import type {SavedNode} from '../archive/saved-node.js';
import type {CommandContext} from './contexts.js';
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

/** Run of which services are a part, and what is different for the part. */
interface WholeRun {
  readonly services: CommandServices;
  readonly settings: CommandSettings;
  readonly isPart: boolean;
  readonly mayAsk: boolean;
}

/** Services of one run of a command. Functions take the parts that they need, see contexts.ts. */
export class CommandServices implements CommandContext {
  /** Environment of the run; that of a saved node has the clock of the time at which it was saved. */
  context: CliContext;
  readonly dialect: Dialect;
  readonly words: readonly string[];
  readonly out: CommandOutput;
  readonly report: CommandReporter;
  readonly settings: CommandSettings;
  readonly connections: RuntimeConnections;
  /** Signal that Ctrl-C and SIGTERM abort, and the loss of the connection to a remote node. */
  readonly signal: AbortSignal;
  /** Values to remove from messages, also from debug output. */
  readonly secrets: ValueRedactor;
  readonly #run: CommandRun;
  readonly #command: CommandIdentity;
  readonly #whole: WholeRun | undefined;
  readonly #ending = new CallbackAbortController();
  readonly #archives: Map<string, Promise<SavedNode>>;
  #diagnostics: readonly Diagnostic[] = [];

  /** `whole` is given for the part of a run that has connections of its own. */
  constructor(run: CommandRun, command: CommandIdentity, whole?: WholeRun) {
    const {context, dialect, globals} = run;
    this.#run = run;
    this.#command = command;
    this.#whole = whole;
    this.secrets = whole?.services.secrets ?? new ValueRedactor();
    this.#archives = whole === undefined ? new Map<string, Promise<SavedNode>>() : whole.services.#archives;
    this.context = whole?.services.context ?? context;
    this.dialect = dialect;
    this.words = command.words;
    this.out = whole?.services.out ?? new CommandOutput(context, dialect);
    this.report = whole?.services.report ?? new CommandReporter(() => this.#createReporter());
    this.settings =
      whole?.settings ??
      new CommandSettings(context, globals, {
        mayBeMissing: command.configFileMayBeMissing,
        source: dialect.settingsSource,
        // crictl warns about its config file before it runs a command.
        onWarning: (text) => {
          if (dialect.warnsOfConfigFile) this.report.warn(text);
        },
      });
    this.connections = new RuntimeConnections(this);
    this.signal = this.#endWith(context.signal);
  }

  /** Ends the command: its connection to a remote node is lost. */
  readonly end = (reason: unknown): void => {
    this.#ending.abort(reason);
  };

  /** Returns the signal of these services, which also follows the command's. */
  #endWith(interrupt: AbortSignal): AbortSignal {
    const follow = (): void => {
      this.end(interrupt.reason);
    };
    if (interrupt.aborted) follow();
    else onAbort(interrupt, follow);
    return this.#ending.signal;
  }

  /** True if these are the services of one of several nodes. */
  get isPart(): boolean {
    return this.#whole?.isPart ?? false;
  }

  /** True if ssh may ask questions on the terminal: of several nodes, they would mix. */
  get mayAsk(): boolean {
    return this.#whole?.mayAsk ?? true;
  }

  /** Returns the services of the part of this run that queries one of several nodes: only its connections are its own. */
  async forNode(endpoint: string): Promise<CommandServices> {
    const settings = await this.settings.forNode(endpoint);
    return this.#part({settings, isPart: true, mayAsk: false});
  }

  /**
   * Returns services for the same node with connections of their own, so that losing them does not end the run. ssh asks
   * questions only if it may.
   */
  reconnecting({mayAsk}: {readonly mayAsk: boolean}): CommandServices {
    return this.#part({settings: this.settings, isPart: this.isPart, mayAsk: mayAsk && this.mayAsk});
  }

  /**
   * Makes saved nodes the nodes of this run, instead of running ones. Its clock shows the time of the newest one. Rejects with
   * UsageError; files that cannot be read are reported when the node is connected to.
   */
  async readArchives(files: readonly string[]): Promise<void> {
    const {clockOf} = await import('../archive/saved-node.js');
    if (this.settings.runtimeEndpoints.length > 0)
      throw new UsageError('--from cannot be combined with --runtime-endpoint');
    this.settings.addGlobals({'runtime-endpoint': files.map(archiveEndpoint)});
    const opened = await Promise.allSettled(files.map(async (file) => await this.openArchive(file)));
    const [newest] = opened
      .flatMap((result) => (result.status === 'fulfilled' ? [result.value.manifest] : []))
      .toSorted((a, b) => (a.takenAt < b.takenAt ? 1 : -1));
    if (newest === undefined) return;
    // As properties with getters, since its streams open when they are used.
    this.context = Object.defineProperties({} as CliContext, {
      ...Object.getOwnPropertyDescriptors(this.context),
      clock: {value: clockOf(this.context.clock, newest), enumerable: true},
    });
  }

  /** Opens a saved node, once. Rejects with ConfigError. */
  async openArchive(file: string): Promise<SavedNode> {
    const existing = this.#archives.get(file);
    if (existing !== undefined) return await existing;
    const opening = import('../archive/saved-node.js').then(
      async ({SavedNode: Node}) => await Node.open(file),
    );
    this.#archives.set(file, opening);
    return await opening;
  }

  #part(options: Omit<WholeRun, 'services'>): CommandServices {
    const part = new CommandServices(this.#run, this.#command, {services: this, ...options});
    this.connections.closeWith(part.connections);
    return part;
  }

  #createReporter(): Reporter {
    return this.dialect.createReporter(
      {
        write: (text) => {
          this.out.writeMessage(this.secrets.mask(text));
        },
        isDebug: () => this.settings.isDebug,
        usage: this.#command.usage,
      },
      this.context,
    );
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
    if (this.#whole !== undefined) return await this.#whole.services.callObservers();
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
