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

/**
 * The command that the words name: its file's path below commands/ is its words, `runtime/up` for
 * `kcri runtime up`. Undefined when there is none.
 */
export function findCommand(argv: readonly string[]): FoundCommand | undefined {
  const words: string[] = [];
  for (const word of argv) {
    if (!/^[a-z][a-z-]*$/.test(word)) return undefined;
    words.push(words.length === 0 ? (COMMAND_ALIASES[word] ?? word) : word);
    const file = new URL(`${words.join('/')}${EXTENSION}`, FOLDER);
    if (existsSync(file)) return {words, argv: argv.slice(words.length), load: () => load(file, words)};
  }
  return undefined;
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
  return readdirSync(fileURLToPath(FOLDER), {withFileTypes: true})
    .filter(
      (entry) => entry.isDirectory() || (entry.name.endsWith(EXTENSION) && !entry.name.endsWith('.d.ts')),
    )
    .map(({name}) => name.replace(/\.[jt]s$/, ''));
}
