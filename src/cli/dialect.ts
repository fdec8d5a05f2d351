import type {Connection} from '../cri/index.js';
import type {CliContext} from './context.js';
import {discoverEndpoint, givenEndpoint} from './endpoint.js';
import type {HelpRequest} from './help-request.js';
import type {Values} from './parse.js';
import {tokenize, type FlagShapes, type Tokens} from './tokenize.js';
import {ownVoice, type Voice, type VoiceOptions} from './voice.js';

/** Whose flags are read: those of a command, or of the program in front of it. */
export interface Scope {
  /** The command's words with blanks between; undefined for the program. */
  readonly command: string | undefined;
  /** Flags are the command's own, or shared by all. */
  readonly own: FlagShapes;
  readonly shared: FlagShapes;
  /** The first argument and everything behind it is taken literally. */
  readonly stopAtPositional: boolean;
}

/** What a command line begins with: the values of the flags before the command, and its words. */
export interface LineStart {
  readonly globals: Values;
  readonly words: readonly string[];
}

/** A connection that was just made, and for whom. */
export interface NewConnection {
  readonly connection: Connection;
  readonly endpoint: string;
  readonly imageEndpoint: string | undefined;
  readonly command: string;
  readonly signal: AbortSignal;
}

/** Where to look for a runtime, and how. */
export interface EndpointSearch {
  readonly wellKnown: readonly string[];
  readonly rootDir: string;
  readonly command: string;
  /** A connection that is not checked yet. */
  readonly open: (endpoint: string) => Promise<Connection>;
  readonly voice: Voice;
  readonly signal: AbortSignal;
}

/** All in which kcri differs from itself when it is called as crictl, but for the commands' own output. */
export interface Dialect {
  tokenize(argv: readonly string[], scope: Scope): Tokens;
  voice(options: VoiceOptions, context: CliContext): Voice;
  /** The help that is shown for an error, in place of it or before it; undefined for none. */
  helpFor(error: unknown, words: readonly string[], voice: Voice): HelpRequest | undefined;
  /** Whether a command takes no notice of arguments that it has no use for. */
  ignoresArguments(command: string): boolean;
  /** What comes before every command line but a request for help or the version. */
  before(line: LineStart, context: CliContext, voice: Voice): Promise<void>;
  /** The endpoint to connect to for one that was given. Throws ConfigError. */
  address(endpoint: string, command: string): string;
  /** The endpoint when none was given. Rejects with KcriError when there is none. */
  find(search: EndpointSearch): Promise<string>;
  /** What is to be known of a new connection before it is used. */
  check(made: NewConnection): Promise<void>;
}

/** kcri's own. */
export const OWN: Dialect = {
  tokenize: (argv, {own, shared, stopAtPositional}) => tokenize(argv, own, shared, {stopAtPositional}),
  voice: ownVoice,
  helpFor: () => undefined,
  ignoresArguments: () => false,
  before: async () => {
    await Promise.resolve();
  },
  address: givenEndpoint,
  find: async ({wellKnown, rootDir}) => await discoverEndpoint(wellKnown, rootDir),
  check: async () => {
    await Promise.resolve();
  },
};
