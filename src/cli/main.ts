import type {Config} from '@oclif/core/interfaces';
import {closest} from '../base/closest.js';
import {calledAsCrictl, processContext, type CliContext} from './context.js';
import {OWN, type Dialect, type LineStart} from './dialect.js';
import {EXIT} from './exit-codes.js';
import {commandNames, findCommand, isTopic} from './find-command.js';
import {GLOBAL_FLAGS} from './global-flags.js';
import {HelpRequest} from './help-request.js';
import {interruptSignal} from './interrupt.js';
import {Output, patience, wantsColor} from './output.js';
import {flagValues, givenValues} from './parse.js';
import {programVersion} from './program-version.js';
import {UnknownCommandError} from './usage-errors.js';
import type {Voice} from './voice.js';

/**
 * Runs one command line and gives the exit code; nothing is thrown. Only the named command's file is loaded.
 */
export async function main(argv: readonly string[], context = thisProcess()): Promise<number> {
  const dialect = await dialectOf(context);
  let stderr: Output | undefined;
  const voice = dialect.voice(
    {
      write: (text) => {
        stderr ??= new Output(context.stderr, 'standard error');
        stderr.write(text);
      },
      debug: () => false,
      usage: () => 'hint: "kcri --help" lists commands and options',
    },
    context,
  );
  try {
    return await dispatch(argv, {context, dialect, voice});
  } catch (error) {
    const exitCode = voice.fail(error);
    voice.end();
    using limit = patience(context);
    // That nobody can be told does not change how the run ends.
    await stderr?.flush(limit.signal).catch(() => undefined);
    return exitCode;
  }
}

/** The context of this process, which Ctrl-C and SIGTERM interrupt; without `program` it is a script's. */
export function thisProcess(program?: readonly string[]): CliContext {
  return processContext(interruptSignal({compat: calledAsCrictl(program)}), program);
}

/** The dialect of a run; crictl's is only loaded when it is spoken. */
async function dialectOf({compat}: CliContext): Promise<Dialect> {
  return compat ? (await import('./compat/dialect.js')).CRICTL : OWN;
}

/** What a command line is run with. */
interface Run {
  readonly context: CliContext;
  readonly dialect: Dialect;
  readonly voice: Voice;
}

interface Leading extends LineStart {
  readonly version: boolean;
}

/** Help that is asked for, or that is crictl's answer to an error, is shown here. */
async function dispatch(argv: readonly string[], run: Run): Promise<number> {
  try {
    return await runCommand(await leadingFlags(argv, run), run);
  } catch (error) {
    const request = error instanceof HelpRequest ? error : run.dialect.helpFor(error, [], run.voice);
    if (request === undefined) throw error;
    const incorrect = request.error === undefined ? '' : `Incorrect Usage: ${request.error.message}\n\n`;
    await help(request.words, run.context, incorrect);
    if (request.error !== undefined) throw request.error;
    return EXIT.ok;
  }
}

async function runCommand(line: Leading, {context, dialect, voice}: Run): Promise<number> {
  const {globals, version, words} = line;
  if (version) return await print(`${versionLine(context)}\n`, context);
  await dialect.before(line, context, voice);
  const [first] = words;
  if (first === undefined) throw new HelpRequest([]);
  if (first === 'help' || first === 'h') return await help(words.slice(1), context);
  const found = findCommand(words);
  if (found !== undefined) {
    // Any command would ask for it as well, once it is loaded.
    if (found.argv.length === 1 && found.argv[0] === '--help') throw new HelpRequest(found.words);
    const command = await found.load();
    return await new command(found.argv, NO_PLUGINS).execute(context, dialect, globals);
  }
  if (isTopic(first)) return await topic(words, context);
  throw unknownCommand(first);
}

const VERSION = {version: {type: 'boolean', char: 'v'}} as const;

/** The global flags in front of the command, and the rest of the line. Throws HelpRequest and UsageError. */
async function leadingFlags(argv: readonly string[], {dialect, context}: Run): Promise<Leading> {
  const scope = {command: undefined, own: VERSION, shared: GLOBAL_FLAGS, stopAtPositional: true};
  const tokens = dialect.tokenize(argv, scope);
  if (tokens.help) throw new HelpRequest([]);
  const globals = givenValues(await flagValues(GLOBAL_FLAGS, tokens.flags, context), tokens);
  return {
    globals,
    version: tokens.flags.some(({name}) => name === 'version'),
    words: tokens.positionals,
  };
}

/** All that oclif's Command asks its Config for on our path; the real one scans the package and its plugins. */
const NO_PLUGINS = {bin: 'kcri'} as Config;

/** `kcri runtime`: its help. `kcri runtime foo`: an error. */
async function topic(words: readonly string[], context: CliContext): Promise<number> {
  const [first = '', second] = words;
  if (second === undefined || /^(help|--help|-h)$/.test(second)) return await help([first], context);
  throw unknownCommand(`${first} ${second}`);
}

/** Prints help, after a line that says why. Throws UnknownCommandError. */
async function help(words: readonly string[], context: CliContext, before = ''): Promise<number> {
  const {helpText} = await import('./help.js');
  const found = findCommand(words);
  const [first] = words;
  if (first !== undefined && found === undefined && !isTopic(first)) throw unknownCommand(words.join(' '));
  const program = context.compat ? 'crictl' : 'kcri';
  return await print(before + (await helpText(found?.words ?? words, program)), context);
}

function unknownCommand(name: string): UnknownCommandError {
  const guess = closest(name, commandNames());
  const [first = ''] = name.split(' ');
  const list = isTopic(first) ? `kcri ${first} --help` : 'kcri --help';
  const hint = guess === undefined ? `"${list}" lists the commands` : `did you mean "kcri ${guess}"?`;
  return new UnknownCommandError(name, hint);
}

/** The crictl that `compat` follows. */
const CRICTL_VERSION = 'v1.36.0';

function versionLine({compat}: CliContext): string {
  return compat ? `crictl version ${CRICTL_VERSION}` : `kcri version v${programVersion()}`;
}

/** Prints a text that may have colours. */
async function print(text: string, context: CliContext): Promise<number> {
  const {stdout, env} = context;
  const output = new Output(stdout, 'standard output');
  output.write(wantsColor(env, output) ? text : (await import('node:util')).stripVTControlCharacters(text));
  using limit = patience(context);
  await output.flush(limit.signal);
  return EXIT.ok;
}
