import {archiveFile} from '../../cri/endpoint.js';
import type {CliContext} from '../process/context.js';
import type {ParsedValues} from '../parsing/parse-values.js';
import {resolveRootDir, resolveSettings, type Settings, type SettingsOptions} from './settings.js';

/** Default timeout of a call to one of several nodes, in ms. */
const NODE_TIMEOUT_MS = 10_000;

/** Global flags and settings of one command. */
export class CommandSettings {
  readonly #context: CliContext;
  readonly #options: SettingsOptions;
  #globals: ParsedValues;
  #reading: Promise<Settings> | undefined;
  #settings: Settings | undefined;

  constructor(context: CliContext, globals: ParsedValues, options: SettingsOptions) {
    this.#context = context;
    this.#globals = globals;
    this.#options = options;
  }

  /** Values of the global flags on the command line. */
  get globals(): ParsedValues {
    return this.#globals;
  }

  /** Adds global flags that follow the command. */
  addGlobals(globals: ParsedValues): void {
    this.#globals = {...this.#globals, ...globals};
  }

  /** Values of --runtime-endpoint. */
  get runtimeEndpoints(): readonly string[] {
    return (this.#globals['runtime-endpoint'] as readonly string[] | undefined) ?? [];
  }

  /**
   * Returns the settings for one of several nodes: its endpoint, and a short timeout unless the user set one, since the
   * others wait for it. Rejects with ConfigError.
   */
  async forNode(endpoint: string): Promise<CommandSettings> {
    const {options} = await this.read();
    const hasTimeout = options.some(({key, source}) => key === 'timeout' && source !== 'default');
    const globals = {
      ...this.#globals,
      'runtime-endpoint': [endpoint],
      ...(!hasTimeout && {timeout: NODE_TIMEOUT_MS}),
    };
    // Warnings about the config file have been reported.
    return new CommandSettings(this.#context, globals, {...this.#options, onWarning: () => undefined});
  }

  /** Returns the endpoint of the runtime or of its images that is on a remote or a saved node; undefined on this machine. */
  async remoteEndpoint(): Promise<string | undefined> {
    const {runtimeEndpoint, imageEndpoint} = await this.read();
    return [runtimeEndpoint, imageEndpoint].find((endpoint) => /^(ssh|archive):/.test(endpoint ?? ''));
  }

  /** Reports whether a saved node is read instead of a running one. */
  async isSaved(): Promise<boolean> {
    return archiveFile((await this.read()).runtimeEndpoint ?? '') !== undefined;
  }

  /** Directory of kcri's state. */
  get rootDir(): string {
    return resolveRootDir(this.#globals, this.#context.env);
  }

  /** Returns the settings from flags, environment and config file. Rejects with ConfigError. */
  async read(): Promise<Settings> {
    this.#reading ??= resolveSettings(this.#globals, this.#context, this.#options);
    this.#settings = await this.#reading;
    return this.#settings;
  }

  /** True if debug output is on. Does not read the config file, since a broken one must not hide an error. */
  get isDebug(): boolean {
    return this.#globals['debug'] === true || this.#settings?.debug === true;
  }
}
