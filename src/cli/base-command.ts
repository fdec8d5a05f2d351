import {Command} from '@oclif/core/command';
import type {Input, ParserOutput} from '@oclif/core/interfaces';
import {concurrently} from '../base/concurrently.js';
import type {CallObserver, Connection, ConnectOptions} from '../cri/index.js';
import {visibleControls} from '../format/visible.js';
import type {Target} from '../operations/resolve.js';
import {processContext, type CliContext} from './context.js';
import {OWN, type Dialect} from './dialect.js';
import {retryText} from './endpoint.js';
import {EXIT} from './exit-codes.js';
import {GLOBAL_FLAGS} from './global-flags.js';
import {HelpRequest} from './help-request.js';
import type {View} from './in-place.js';
import {HiddenValues} from './instruments/hidden-values.js';
import type {Instrument} from './instruments/instrument.js';
import {startInstruments, wantsInstruments} from './instruments/instruments.js';
import {Output, patience, wantsColor} from './output.js';
import {argValues, flagValues, givenValues, type Values} from './parse.js';
import {exitCodeOf} from './render-error.js';
import {resolveSettings, rootDir, type Settings} from './settings.js';
import type {FlagShapes} from './tokenize.js';
import type {Voice} from './voice.js';

/**
 * What every command is built on: crictl's flag syntax over oclif's definitions, the settings, the connection
 * to the runtime, output, errors and the exit code. A command parses, calls one operation and prints.
 */
export abstract class BaseCommand extends Command {
  static override baseFlags = GLOBAL_FLAGS;
  /** True when everything from the first argument on is taken literally, as in `exec ID CMD --flag`. */
  static flagsEndAtArgument = false;
  /** True when a config file that the user named need not be there yet. */
  static configFileMayBeMissing = false;

  #context = processContext();
  #dialect: Dialect = OWN;
  #voice: Voice | undefined;
  #globals: Values = {};
  #reading: Promise<Settings> | undefined;
  #settings: Settings | undefined;
  #connection: Connection | undefined;
  readonly #connections: Connection[] = [];
  #stdout: Output | undefined;
  #stderr: Output | undefined;
  #exitCode: number = EXIT.ok;
  #instruments: readonly Instrument[] = [];
  readonly #hidden = new HiddenValues();
  #view: View | undefined;

  /**
   * Runs the command to its end in a context and gives the exit code; `globals` are the values of the flags that stood
   * before it. Errors are shown, never thrown.
   */
  async execute(context: CliContext, dialect: Dialect, globals: Values = {}): Promise<number> {
    this.#context = context;
    this.#dialect = dialect;
    this.#globals = globals;
    let failure: unknown;
    try {
      await this.run();
    } catch (error) {
      const help = error instanceof HelpRequest ? error : dialect.helpFor(error, this.words, this.#speaker);
      if (help !== undefined) throw help;
      failure = error;
      this.fail(error);
    } finally {
      for (const connection of this.#connections) connection.close();
    }
    for (const instrument of this.#instruments) await instrument.finish(failure);
    this.#speaker.end();
    await this.#flush(failure);
    return this.#exitCode;
  }

  /** Output that is lost is an error, told unless it is the `failure`; standard error's own shows in the exit code. */
  async #flush(failure: unknown): Promise<void> {
    using limit = patience(this.#context);
    try {
      await this.#stdout?.flush(limit.signal);
    } catch (error) {
      if (error !== failure) this.fail(error);
    }
    await this.#stderr?.flush(limit.signal).catch((error: unknown) => {
      this.exitWith(exitCodeOf(error));
    });
  }

  /**
   * The command line's values by oclif's definitions, read with crictl's syntax (tokenize.ts). Throws
   * UsageError.
   */
  protected override async parse<
    F extends Record<string, unknown>,
    B extends Record<string, unknown>,
    A extends Record<string, unknown>,
  >(
    definitions: Input<F, B, A> = this.ctor as unknown as Input<F, B, A>,
    argv = this.argv,
  ): Promise<ParserOutput<F, B, A>> {
    this.parsed = true;
    const own: FlagShapes = definitions.flags ?? {};
    const shared: FlagShapes = Object.fromEntries(
      Object.entries(definitions.baseFlags ?? GLOBAL_FLAGS).filter(([name]) => !Object.hasOwn(own, name)),
    );
    const command = this.words.join(' ');
    const {flagsEndAtArgument: stopAtPositional} = this.ctor as typeof BaseCommand;
    const tokens = this.#dialect.tokenize(argv, {command, own, shared, stopAtPositional});
    if (tokens.help) throw new HelpRequest(this.words);
    const globals = await flagValues(shared as typeof GLOBAL_FLAGS, tokens.flags, this);
    this.#globals = {...this.#globals, ...givenValues(globals, tokens)};
    await this.#startInstruments();
    const flags = await flagValues(own as typeof GLOBAL_FLAGS, tokens.flags, this);
    const strict = definitions.strict !== false && !this.#dialect.ignoresArguments(command);
    const args = await argValues(definitions.args ?? {}, tokens, strict);
    return {
      flags: {...globals, ...flags},
      args,
      argv: [...tokens.positionals],
      metadata: {flags: {}},
      nonExistentFlags: [],
      raw: [],
    } as unknown as ParserOutput<F, B, A>;
  }

  async #startInstruments(): Promise<void> {
    if (!wantsInstruments(this.#globals)) return;
    this.#instruments = await startInstruments(this.#globals, {
      name: this.words.join(' '),
      mask: (text) => this.#hidden.mask(text),
      program: this.compat ? 'cri-tools' : 'kcri',
      inform: (text) => {
        if (this.compat) this.note(text);
      },
      warn: (text) => void this.warn(text),
    });
  }

  /** The words that name the command, such as `['runtime', 'up']`. */
  protected get words(): readonly string[] {
    return (this.id ?? '').split(':');
  }

  /** Time, streams and environment of this run. */
  protected get context(): CliContext {
    return this.#context;
  }

  /** Whether to behave as crictl to the byte. */
  get compat(): boolean {
    return this.#context.compat;
  }

  /** Aborted by Ctrl-C or SIGTERM; every call and wait takes it. */
  protected get signal(): AbortSignal {
    return this.#context.signal;
  }

  /** The values of the global flags that were given. Valid after `parse`. */
  protected get globals(): Values {
    return this.#globals;
  }

  /** The directory of kcri's state. Valid after `parse`. */
  protected get rootDir(): string {
    return rootDir(this.#globals, this.#context.env);
  }

  /** What flags, environment and config file say. Valid after `parse`. Rejects with ConfigError. */
  protected async settings(): Promise<Settings> {
    this.#reading ??= this.#readSettings();
    this.#settings = await this.#reading;
    return this.#settings;
  }

  async #readSettings(): Promise<Settings> {
    const {configFileMayBeMissing: mayBeMissing} = this.ctor as typeof BaseCommand;
    return await resolveSettings(this.#globals, this.#context, {
      mayBeMissing,
      onWarning: (text) => {
        // crictl tells of its config file before it looks at the command.
        if (!this.compat) this.warn(text);
      },
    });
  }

  /**
   * The connection to the runtime, made at the first use and closed at the command's end. Valid after `parse`.
   * A call may take `timeoutMs`; 0 or less is what the settings say.
   * Throws ConfigError when no endpoint is given and none is found.
   */
  protected async cri(timeoutMs = 0): Promise<Connection> {
    if (this.#connection !== undefined) return this.#connection;
    this.#connection = await this.connectTo(await this.endpoint(), timeoutMs);
    return this.#connection;
  }

  /** The endpoint that the settings name, or the one that is found. Valid after `parse`. */
  protected async endpoint(): Promise<string> {
    return (await this.settings()).runtimeEndpoint ?? (await this.#findEndpoint());
  }

  async #findEndpoint(): Promise<string> {
    return await this.#dialect.find({
      wellKnown: this.#context.wellKnownEndpoints,
      rootDir: this.rootDir,
      command: this.words.join(' '),
      open: async (endpoint) => await this.#open(endpoint, {maxRetries: 0}),
      voice: this.#speaker,
      signal: this.signal,
    });
  }

  /** A connection to the runtime at `endpoint`, whatever the settings say; closed at the command's end. */
  protected async connectTo(
    endpoint: string,
    timeoutMs = 0,
    givenImageEndpoint?: string,
    observers: readonly CallObserver[] = [],
  ): Promise<Connection> {
    const command = this.words.join(' ');
    const imageEndpoint = givenImageEndpoint ?? (await this.settings()).imageEndpoint;
    const connection = await this.#open(this.#dialect.address(endpoint, command), {
      imageEndpoint,
      observers,
      ...(timeoutMs > 0 ? {timeoutMs} : {}),
    });
    await this.#dialect.check({connection, endpoint, imageEndpoint, command, signal: this.signal});
    return connection;
  }

  async #open(endpoint: string, options: ConnectOptions): Promise<Connection> {
    const {connect} = await import('../cri/index.js');
    const {timeoutMs, maxRetries} = await this.settings();
    const connection = connect(endpoint, {
      timeoutMs,
      maxRetries,
      onRetry: (error, attempt, delayMs) => {
        if (this.stderr.isTerminal) this.note(`kcri: ${retryText(error, attempt, delayMs)}`);
      },
      ...options,
      observers: [...(await this.#observers()), ...(options.observers ?? [])],
    });
    this.#connections.push(connection);
    return connection;
  }

  async #observers(): Promise<readonly CallObserver[]> {
    const measuring = this.#instruments.flatMap(({observer}) => (observer === undefined ? [] : [observer]));
    if (!(await this.settings()).debug) return measuring;
    const {debugLog} = await import('./instruments/debug-log.js');
    return [
      ...measuring,
      debugLog((line) => {
        this.#tell(`${line}\n`);
      }, this.#hidden),
    ];
  }

  /** Keeps secret texts out of what this command tells people, with --debug too. */
  protected hide(values: Iterable<string>): void {
    this.#hidden.add(values);
  }

  /** The same with these in place of those of the call before. */
  protected hideInstead(values: readonly string[]): void {
    this.#hidden.replace(values);
  }

  /** The text without what was hidden. */
  protected masked(text: string): string {
    return this.#hidden.mask(text);
  }

  /** Where data goes. */
  protected get stdout(): Output {
    this.#stdout ??= new Output(this.#context.stdout, 'standard output');
    return this.#stdout;
  }

  /** Where people are talked to. */
  protected get stderr(): Output {
    this.#stderr ??= new Output(this.#context.stderr, 'standard error');
    return this.#stderr;
  }

  /** Whether standard output should be coloured. */
  protected get colors(): boolean {
    return wantsColor(this.#context.env, this.stdout);
  }

  /** Writes a line of data. */
  protected print(text: string): void {
    this.stdout.write(`${text}\n`);
  }

  /** Writes what `text` makes of each item, line ends included. */
  protected printAll<T>(items: readonly T[], text: (item: T) => string): void {
    this.show(items.map(text).join(''));
  }

  /** Whether what others put into a text must not steer the terminal that it goes to; crictl lets it. */
  protected get forTerminal(): boolean {
    return !this.compat && this.stdout.isTerminal;
  }

  /** What people are told meanwhile stands beside what the view shows. */
  protected tellBeside(view: View): void {
    this.#view = view;
  }

  #tell(text: string): void {
    const write = (): void => {
      this.stderr.write(text);
    };
    if (this.#view === undefined) write();
    else this.#view.aside(write);
  }

  /** Writes a text for people; what is bytes is UTF-8. */
  protected show(text: string | Buffer): void {
    this.stdout.write(this.forTerminal ? visibleControls(text.toString()) : text);
  }

  get #speaker(): Voice {
    const write = (text: string): void => {
      this.#tell(this.#hidden.mask(text));
    };
    const options = {write, debug: () => this.#debug, usage: () => this.usageLine};
    this.#voice ??= this.#dialect.voice(options, this.#context);
    return this.#voice;
  }

  /** Tells the person something on stderr; crictl logs it as an information. */
  protected note(text: string): void {
    this.#speaker.note(text);
  }

  /** Tells the person about something that is likely not wanted. */
  override warn(input: Error | string): Error | string {
    this.#speaker.warn(input instanceof Error ? input.message : input);
    return input;
  }

  /** Tells of an error that does not matter to how the command ends. */
  protected complain(text: string): void {
    this.#speaker.complain(text);
  }

  /** Shows an error and lets the command go on; it will end with the error's exit code. */
  protected fail(error: unknown): void {
    this.exitWith(this.#speaker.fail(error));
  }

  /**
   * Does something to each target, one after the other or at most `limit` at once. A target that is missing or
   * fails is shown and does not keep the others from their turn; an interruption ends it all, and in crictl's
   * dialect the first failure of what is done one after the other.
   */
  protected async forEachTarget<Id>(
    targets: readonly Target<Id>[],
    act: (id: Id, ref: string) => Promise<void>,
    limit = 1,
  ): Promise<void> {
    await concurrently(targets, limit, async (target) => {
      this.signal.throwIfAborted();
      try {
        if (target.kind === 'missing') throw target.error;
        await act(target.id, target.ref);
      } catch (error) {
        if (this.compat && (limit === 1 || this.signal.aborted)) throw error;
        this.signal.throwIfAborted();
        this.fail(error);
      }
    });
  }

  /** Sets the exit code; the first one that is not 0 counts. */
  protected exitWith(code: number): void {
    if (this.#exitCode === EXIT.ok) this.#exitCode = code;
  }

  /** Ends the command with success whatever failed in it. */
  protected forgiveErrors(): void {
    this.#exitCode = EXIT.ok;
  }

  /** How the command is used, in the two lines that follow a usage error. */
  protected get usageLine(): string {
    const words = this.words.join(' ');
    const {usage} = this.ctor;
    const line = typeof usage === 'string' ? usage : `${words} [OPTIONS]`;
    return `usage: kcri ${line}\nhint: "kcri ${words} --help" explains the options`;
  }

  /** A broken config file must not hide the error that is being shown. */
  get #debug(): boolean {
    return this.#globals['debug'] === true || this.#settings?.debug === true;
  }
}
