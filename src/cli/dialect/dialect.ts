import type {Connection} from '../../cri/index.js';
import type {CommandStrategies} from './command-strategies.js';
import type {CliContext} from '../process/context.js';
import type {DiagnosedCommand} from '../diagnostics/diagnostic.js';
import type {OutputFormatParser} from '../output/output-format.js';
import {discoverEndpoint, requireEndpoint} from '../settings/discover-endpoint.js';
import type {HelpRequest} from '../parsing/help-request.js';
import {
  KCRI_FLAG_SYNTAX,
  type FlagDefinition,
  type FlagSyntax,
  type ParsedValues,
} from '../parsing/parse-values.js';
import {crictlVersionLine} from '../process/crictl-version.js';
import {programVersion} from '../process/program-version.js';
import type {Settings, SettingsSource} from '../settings/settings.js';
import {tokenize, type FlagShape, type Tokens} from '../parsing/tokenize.js';
import {createReporter, type Reporter, type ReporterOptions} from '../output/reporter.js';

/** Flags by their canonical name; those whose values a dialect checks while it splits a line have a parser. */
export type ScopedFlags = Readonly<Record<string, FlagShape & Partial<FlagDefinition>>>;

/** Scope of the flags being parsed: a command, or the program before it. */
export interface FlagScope {
  /** Words of the command separated by spaces; undefined for the program. */
  readonly command: string | undefined;
  /** Flags of the command. */
  readonly own: ScopedFlags;
  /** Flags of all commands. */
  readonly shared: ScopedFlags;
  /** Reports whether everything after these arguments is taken literally. */
  readonly flagsEndAfter: (positionals: readonly string[]) => boolean;
  readonly env: CliContext['env'];
}

/** Start of a command line: the values of the flags before the command, and the words that follow them. */
export interface CommandLineStart {
  readonly globals: ParsedValues;
  readonly words: readonly string[];
}

/** Service of a runtime, which a dialect checks before its first use. */
export type ServiceName = 'runtime' | 'images';

/** New connection and the services that are used over it. */
export interface NewConnection {
  readonly connection: Connection;
  readonly endpoint: string;
  readonly imageEndpoint: string | undefined;
  readonly needs: readonly ServiceName[];
  readonly signal: AbortSignal;
}

/** Options of the search for a runtime. */
export interface EndpointSearch {
  readonly wellKnownEndpoints: readonly string[];
  readonly rootDir: string;
  readonly needs: readonly ServiceName[];
  /** Connects without a check. */
  readonly open: (endpoint: string) => Promise<Connection>;
  readonly reporter: Reporter;
  readonly signal: AbortSignal;
}

/** Part of CommandServices with which a command connects before its own checks. */
export interface ConnectingServices {
  readonly name: string;
  readonly settings: {read(): Promise<Settings>};
  readonly connections: {
    require(needs: readonly ServiceName[]): void;
    default(timeoutMs?: number): Promise<unknown>;
  };
}

/** Values of a command line. */
export interface ParsedLine {
  readonly flags: ParsedValues;
  readonly words: readonly string[];
}

/**
 * All differences between kcri's behavior under its own name and as crictl. Small ones are members; larger ones are
 * strategies, one per command (command-strategies.ts). Commands do not test for the dialect.
 */
export interface Dialect {
  /** Name of the program in help. */
  readonly program: 'kcri' | 'crictl' | 'kubelet';
  /** Text before the help of the program. */
  readonly helpTitle: string;
  /** Returns the words of the command that `help` with these words explains, or its text. Throws UsageError. */
  helpTopic(words: readonly string[]): readonly string[] | string;
  /** Returns the help of a program without commands; by default each command has its own. */
  readonly helpText?: () => Promise<string>;
  /** Returns the output of `--version`. */
  version(): string;
  tokenize(argv: readonly string[], scope: FlagScope): Promise<Tokens>;
  readonly flagSyntax: FlagSyntax;
  createReporter(options: ReporterOptions, context: CliContext): Reporter;
  /** Returns the help to show for an error, in place of the error or before it; undefined for none. */
  helpFor(error: unknown, words: readonly string[], reporter: Reporter): HelpRequest | undefined;
  /** Returns the error for an unknown command; all words but the last are a command group. */
  unknownCommandText(words: readonly string[]): string;
  /** Reports whether a command exists, given its words separated by spaces; crictl has none of kcri's own. */
  offersCommand(words: string): boolean;
  /** Reports whether a command ignores surplus arguments. */
  ignoresArguments(command: string): boolean;
  /** Runs before every command line except requests for help or the version. */
  beforeCommand(line: CommandLineStart, context: CliContext, reporter: Reporter): Promise<void>;
  /** Runs after a command line is parsed, before the command's own checks: crictl connects before most of them. */
  afterParsing(services: ConnectingServices, line: ParsedLine): Promise<void>;
  /** Runs a check of the command line that crictl does not make. */
  checkUsage(check: () => void): void;
  /** Source of the settings in place of kcri's (settings.ts). */
  readonly settingsSource?: SettingsSource;
  /** True if commands repeat warnings about the config file; crictl warns before the command. */
  readonly warnsOfConfigFile: boolean;
  /** Returns the services that a command uses, in the order in which they are checked. */
  servicesOf(command: string): readonly ServiceName[];
  /** Returns the address to connect to for a configured endpoint. Throws ConfigError. */
  resolveAddress(endpoint: string): string;
  /** Returns the address of the images for their configured endpoint; undefined for the runtime's. Throws ConfigError. */
  resolveImageAddress(endpoint: string, needs: readonly ServiceName[]): string | undefined;
  /** Returns the endpoint when none is configured. Rejects with KcriError when none is found. */
  findEndpoint(search: EndpointSearch): Promise<string>;
  /** Checks a new connection before its first use. Rejects with KcriError. */
  checkConnection(made: NewConnection): Promise<void>;
  /** True if arguments are IDs that only the runtime resolves, rather than names. */
  readonly takesOnlyIds: boolean;
  /** Reports whether the failure of one of several targets ends the command. */
  stopsAtFailure(options: {readonly limit: number; readonly signal: AbortSignal}): boolean;
  /** True if control characters in text from the runtime are escaped on a terminal. */
  readonly escapesControls: boolean;
  /** True if lists query all given endpoints, rather than the last one. */
  readonly queriesSeveralNodes: boolean;
  /** Parses `-o` and `--template` in place of kcri's parser (parse-output-format.ts). */
  readonly parseOutputFormat?: OutputFormatParser;
  /** Returns how profiles and traces present the program. */
  diagnostics(reporter: Pick<Reporter, 'info'>): Pick<DiagnosedCommand, 'program' | 'inform'>;
  /** Returns this dialect's strategy for a command: `own`, unless the program runs as crictl. */
  strategy<Name extends keyof CommandStrategies>(
    name: Name,
    own: CommandStrategies[Name],
  ): Promise<CommandStrategies[Name]>;
}

/** kcri's own dialect. */
export const KCRI_DIALECT: Dialect = {
  program: 'kcri',
  helpTitle: '',
  // Programs that run crictl through an alias of kcri look for its version.
  version: () => `kcri version v${programVersion()}\n${crictlVersionLine()}`,
  tokenize: async (argv, {own, shared, flagsEndAfter}) =>
    await Promise.resolve(tokenize(argv, own, shared, {flagsEndAfter})),
  flagSyntax: KCRI_FLAG_SYNTAX,
  createReporter,
  helpFor: () => undefined,
  helpTopic: (words) => words,
  unknownCommandText: (words) =>
    `unknown command "${words.at(-1) ?? ''}" for "${['kcri', ...words.slice(0, -1)].join(' ')}"`,
  offersCommand: () => true,
  ignoresArguments: () => false,
  beforeCommand: async () => {
    await Promise.resolve();
  },
  afterParsing: async () => {
    await Promise.resolve();
  },
  checkUsage: (check) => {
    check();
  },
  warnsOfConfigFile: true,
  servicesOf: () => [],
  resolveAddress: requireEndpoint,
  resolveImageAddress: (endpoint) => endpoint,
  findEndpoint: async ({wellKnownEndpoints, rootDir}) => await discoverEndpoint(wellKnownEndpoints, rootDir),
  checkConnection: async () => {
    await Promise.resolve();
  },
  takesOnlyIds: false,
  stopsAtFailure: () => false,
  escapesControls: true,
  queriesSeveralNodes: true,
  diagnostics: () => ({program: 'kcri', inform: () => undefined}),
  strategy: async (_name, own) => await Promise.resolve(own),
};
