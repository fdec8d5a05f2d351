import {existsSync, readdirSync} from 'node:fs';
import {extname} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {Config} from '@oclif/core/interfaces';
import type {BaseCommand} from './base-command.js';

/** A command class as oclif and we make them. */
export type CommandClass = Pick<typeof BaseCommand, 'id'> &
  (new (argv: string[], config: Config) => BaseCommand);

/** A command line matched with a command's file. */
export interface FoundCommand {
  readonly words: readonly string[];
  readonly argv: string[];
  load(): Promise<CommandClass>;
}

/** Commands with another name, crictl's. The classes name them too, for the help. */
export const COMMAND_ALIASES: Readonly<Record<string, string>> = {
  event: 'events',
  image: 'images',
  img: 'images',
};

const FOLDER = new URL('../commands/', import.meta.url);
const EXTENSION = extname(import.meta.url);

/** crictl's other names for commands below commands. */
const SUBCOMMAND_ALIASES: Readonly<Record<string, string>> = {js: 'jsonschema'};

/**
 * The command that the words name: its file's path below commands/ is its words, `runtime/up` for
 * `kcri runtime up`. A command may have others below it: `create/jsonschema` beside `create`. Undefined when there
 * is none.
 */
export function findCommand(argv: readonly string[]): FoundCommand | undefined {
  const words: string[] = [];
  let found: FoundCommand | undefined;
  for (const word of argv) {
    if (!/^[a-z][a-z-]*$/.test(word)) break;
    const aliases = words.length === 0 ? COMMAND_ALIASES : SUBCOMMAND_ALIASES;
    words.push(Object.hasOwn(aliases, word) ? (aliases[word] ?? word) : word);
    const file = new URL(`${words.join('/')}${EXTENSION}`, FOLDER);
    if (existsSync(file)) found = foundAt(file, [...words], argv);
    else if (found !== undefined) break;
  }
  return found;
}

function foundAt(file: URL, words: readonly string[], argv: readonly string[]): FoundCommand {
  return {words, argv: argv.slice(words.length), load: () => load(file, words)};
}

/** True for the first word of commands with several words, such as `runtime`. */
export function isTopic(word: string): boolean {
  return /^[a-z][a-z-]*$/.test(word) && existsSync(new URL(`${word}/`, FOLDER));
}

async function load(file: URL, words: readonly string[]): Promise<CommandClass> {
  const {default: command} = (await import(file.href)) as {default: CommandClass};
  command.id = words.join(':');
  return command;
}

/** The first words of all commands. */
export function commandNames(): readonly string[] {
  return namesIn(FOLDER);
}

/** The second words of a topic's commands. */
export function subcommandNames(topic: string): readonly string[] {
  return namesIn(new URL(`${topic}/`, FOLDER));
}

function namesIn(folder: URL): readonly string[] {
  const names = readdirSync(fileURLToPath(folder), {withFileTypes: true})
    .filter(
      (entry) => entry.isDirectory() || (entry.name.endsWith(EXTENSION) && !entry.name.endsWith('.d.ts')),
    )
    .map(({name}) => name.replace(/\.[jt]s$/, ''));
  return [...new Set(names)];
}
