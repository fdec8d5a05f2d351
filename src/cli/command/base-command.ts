import {Command} from '@oclif/core/command';
import type {Input, ParserOutput} from '@oclif/core/interfaces';
import {UsageError} from '../../base/errors.js';
import type {Connection} from '../../cri/index.js';
import type {CliContext} from '../process/context.js';
import type {Dialect} from '../dialect/dialect.js';
import {GLOBAL_FLAGS} from '../flags/global-flags.js';
import {EXIT} from '../process/exit-codes.js';
import {HelpRequest} from '../parsing/help-request.js';
import {
  parseArgValues,
  parseFlagValues,
  pickGivenValues,
  type FlagDefinition,
  type ParsedValues,
} from '../parsing/parse-values.js';
import type {CommandOutput} from '../output/command-output.js';
import type {CommandReporter} from '../output/command-reporter.js';
import {CommandServices, type CommandRun} from './command-services.js';
import type {CommandSettings} from '../settings/command-settings.js';
import {checkNodes, type NodeSupport} from './node-support.js';
import type {RuntimeConnections} from './runtime-connections.js';

type FlagDefinitions = Readonly<Record<string, FlagDefinition>>;

/**
 * Base class of all commands: parses oclif's definitions with crictl's flag syntax and reports errors. Its services do
 * everything else. A command parses, calls an operation and prints.
 */
export abstract class BaseCommand extends Command {
  static override baseFlags = GLOBAL_FLAGS;
  /** Reports whether everything after these arguments is taken literally, as in `exec ID CMD --flag`. */
  static flagsEndAfter: (positionals: readonly string[]) => boolean = () => false;
  /** True if a config file named by the user may be missing. */
  static configFileMayBeMissing = false;
  /** Nodes that the command works on. It refuses all others. */
  static nodes: NodeSupport = 'local';
  /** True if the command reads several saved nodes, also if it works on one running node only. */
  static readsSeveralSaved = false;

  /** Services of this run. */
  readonly services: CommandServices;

  constructor(argv: string[], config: Command['config'], run: CommandRun) {
    super(argv, config);
    const {configFileMayBeMissing} = this.constructor as typeof BaseCommand;
    const words = (this.id ?? '').split(':');
    this.services = new CommandServices(run, {words, configFileMayBeMissing, usage: () => this.#usage()});
  }

  protected get context(): CliContext {
    return this.services.context;
  }

  protected get signal(): AbortSignal {
    return this.services.signal;
  }

  protected get dialect(): Dialect {
    return this.services.dialect;
  }

  protected get out(): CommandOutput {
    return this.services.out;
  }

  protected get report(): CommandReporter {
    return this.services.report;
  }

  protected get settings(): CommandSettings {
    return this.services.settings;
  }

  protected get connections(): RuntimeConnections {
    return this.services.connections;
  }

  /** Connects to the configured runtime (RuntimeConnections.default). */
  protected async cri(timeoutMs = 0): Promise<Connection> {
    return await this.connections.default(timeoutMs);
  }

  /** Runs the command and returns its exit code. Errors are reported; only HelpRequest is thrown. */
  async execute(): Promise<number> {
    const {connections, dialect, report, words} = this.services;
    let failure: unknown;
    try {
      await this.run();
    } catch (error) {
      const help = error instanceof HelpRequest ? error : dialect.helpFor(error, words, report.reporter);
      if (help !== undefined) throw help;
      failure = connections.loss === undefined ? error : undefined;
      if (connections.loss === undefined) report.fail(connections.reasonOf(error));
    } finally {
      await connections.close();
    }
    // Whatever the command made of it, it did not end as it should have.
    if (connections.loss !== undefined && report.exitCode === EXIT.ok)
      report.fail((failure = connections.loss));
    await this.services.finish(failure);
    return report.exitCode;
  }

  /** Returns the values of the command line, read in the dialect's syntax. Rejects with UsageError and HelpRequest. */
  protected override async parse<
    F extends Record<string, unknown>,
    B extends Record<string, unknown>,
    A extends Record<string, unknown>,
  >(
    definitions: Input<F, B, A> = this.ctor as unknown as Input<F, B, A>,
    argv = this.argv,
  ): Promise<ParserOutput<F, B, A>> {
    this.parsed = true;
    const {context, dialect, name: command, settings, words} = this.services;
    const own = (definitions.flags ?? {}) as FlagDefinitions;
    const shared = withoutKeys(definitions.baseFlags ?? GLOBAL_FLAGS, own);
    const {flagsEndAfter} = this.constructor as typeof BaseCommand;
    const scope = {command, own, shared, flagsEndAfter, env: context.env};
    const tokens = await dialect.tokenize(argv, scope);
    if (tokens.help) throw new HelpRequest(words);
    const globals = await parseFlagValues(shared, tokens.flags, dialect);
    settings.addGlobals(pickGivenValues(globals, tokens));
    await this.services.startDiagnostics();
    const flags = await parseFlagValues(own, tokens.flags, dialect);
    if ('from' in own) await this.#readSaved(flags);
    const strict = definitions.strict !== false && !dialect.ignoresArguments(command);
    const args = await parseArgValues(definitions.args ?? {}, tokens, strict);
    await checkNodes(this.services, this.#supportedNodes('from' in own && flags['from'] !== undefined));
    await dialect.afterParsing(this.services, {flags, words: tokens.positionals});
    return {
      flags: {...globals, ...flags},
      args,
      argv: [...tokens.positionals],
      metadata: {flags: {}},
      nonExistentFlags: [],
      raw: tokens.flags.map(({name: flag, value: input}) => ({type: 'flag', flag, input})),
    } as unknown as ParserOutput<F, B, A>;
  }

  /** Reads saved nodes instead of running ones if --from names them. Rejects with UsageError. */
  async #readSaved({from, ...flags}: ParsedValues): Promise<void> {
    if (from === undefined) return;
    const ofRunning = ['watch', 'follow', 'follow-restarts', 'reopen', 'explain'].find(
      (name) => flags[name] === true,
    );
    if (ofRunning !== undefined) throw new UsageError(`--${ofRunning} cannot be combined with --from`);
    await this.services.readArchives(from as readonly string[]);
  }

  /** Returns the nodes that the command works on, which may be saved ones. */
  #supportedNodes(areSaved: boolean): NodeSupport {
    const {nodes, readsSeveralSaved} = this.constructor as typeof BaseCommand;
    if (!areSaved) return nodes;
    if (readsSeveralSaved) return 'several';
    return nodes === 'local' ? 'one' : nodes;
  }

  /** Returns the lines that follow a usage error. */
  #usage(): string {
    const {name} = this.services;
    const {usage} = this.ctor;
    const line = typeof usage === 'string' ? usage : `${name} [FLAGS]`;
    return `usage: kcri ${line}\nhint: "kcri ${name} --help" explains the options`;
  }
}

function withoutKeys(values: FlagDefinitions, other: FlagDefinitions): FlagDefinitions {
  if (!Object.keys(other).some((name) => Object.hasOwn(values, name))) return values;
  return Object.fromEntries(Object.entries(values).filter(([name]) => !Object.hasOwn(other, name)));
}
