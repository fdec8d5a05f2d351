import {readFileSync} from 'node:fs';
import type {Config} from '@oclif/core/interfaces';
import {UsageError} from '../base/errors.js';
import {closest} from '../base/closest.js';
import {processContext, type CliContext} from './context.js';
import {EXIT} from './exit-codes.js';
import {commandNames, findCommand, isTopic, type FoundCommand} from './find-command.js';
import {GLOBAL_FLAGS} from './global-flags.js';
import {HelpRequest} from './help-request.js';
import {interruptSignal} from './interrupt.js';
import {Output} from './output.js';
import {flagValues, givenValues, type Values} from './parse.js';
import {exitCodeOf, renderError} from './render-error.js';
import {tokenize} from './tokenize.js';

/**
 * Runs one command line and gives the exit code; nothing is thrown. Only the named command's file is loaded.
 */
export async function main(argv: readonly string[], context = interruptibleContext()): Promise<number> {
  try {
    return await dispatch(argv, context).catch(async (error: unknown) => {
      if (error instanceof HelpRequest) return await help(error.words, context);
      throw error;
    });
  } catch (error) {
    context.stderr.write(`${renderError(error, false)}\n`);
    if (error instanceof UsageError) context.stderr.write('hint: "kcri --help" lists commands and options\n');
    return exitCodeOf(error);
  }
}

function interruptibleContext(): CliContext {
  return processContext(interruptSignal());
}

interface Leading {
  readonly globals: Values;
  readonly version: boolean;
  readonly words: readonly string[];
}

async function dispatch(argv: readonly string[], context: CliContext): Promise<number> {
  const {globals, version, words} = await leadingFlags(argv);
  if (version) return await print(`kcri version ${packageVersion()}\n`, context);
  const [first] = words;
  if (first === undefined) throw new HelpRequest([]);
  if (first === 'help' || first === 'h') return await help(words.slice(1), context);
  const found = findCommand(words);
  if (found !== undefined) return await run(found, {...context, globals});
  return isTopic(first) ? await topic(words, context) : unknownCommand(first, context);
}

const VERSION = {version: {type: 'boolean', char: 'v'}} as const;

/** The global flags in front of the command, and the rest of the line. Throws HelpRequest and UsageError. */
async function leadingFlags(argv: readonly string[]): Promise<Leading> {
  const {flags, positionals, help: wanted} = tokenize(argv, GLOBAL_FLAGS, VERSION, {stopAtPositional: true});
  if (wanted) throw new HelpRequest([]);
  const globals = givenValues(await flagValues(GLOBAL_FLAGS, flags), {flags});
  return {globals, version: flags.some(({name}) => name === 'version'), words: positionals};
}

async function run(found: FoundCommand, context: CliContext): Promise<number> {
  const command = await found.load();
  return await new command(found.argv, NO_PLUGINS).execute(context);
}

/** All that oclif's Command asks its Config for on our path; the real one scans the package and its plugins. */
const NO_PLUGINS = {bin: 'kcri'} as Config;

/** `kcri runtime`: its help. `kcri runtime foo`: an error. */
async function topic(words: readonly string[], context: CliContext): Promise<number> {
  const [first = '', second] = words;
  return second === undefined || /^(help|--help|-h)$/.test(second)
    ? await help([first], context)
    : unknownCommand(`${first} ${second}`, context);
}

async function help(words: readonly string[], context: CliContext): Promise<number> {
  const {helpText} = await import('./help.js');
  const [first] = words;
  if (first !== undefined && findCommand(words) === undefined && !isTopic(first))
    return unknownCommand(words.join(' '), context);
  return await print(await helpText(words), context);
}

/** crictl's words and exit code for a command that does not exist, and what might have been meant. */
function unknownCommand(name: string, {stderr}: CliContext): number {
  const guess = closest(name, commandNames());
  stderr.write(`No help topic for '${name}'\n`);
  stderr.write(
    guess === undefined
      ? 'hint: "kcri --help" lists the commands\n'
      : `hint: did you mean "kcri ${guess}"?\n`,
  );
  return EXIT.unknownCommand;
}

function packageVersion(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return String((JSON.parse(file) as {version: unknown}).version);
}

async function print(text: string, {stdout}: CliContext): Promise<number> {
  const output = new Output(stdout, 'standard output');
  output.write(text);
  await output.flush();
  return EXIT.ok;
}
