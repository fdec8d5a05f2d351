import {commandPaths, loadCommand, type CommandClass} from './command-files.js';

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

/** Other names for commands below commands: crictl's, and kubectl's for what "get" shows. */
const SUBCOMMAND_ALIASES: Readonly<Record<string, string>> = {
  js: 'jsonschema',
  po: 'pods',
  pod: 'pods',
  ev: 'events',
  event: 'events',
};

/**
 * The command that the words name: its file's path below commands/ is its words, `runtime/up` for
 * `kcri runtime up`. A command may have others below it: `create/jsonschema` beside `create`. Undefined when there
 * is none.
 */
export function findCommand(argv: readonly string[]): FoundCommand | undefined {
  const paths = commandPaths();
  const words: string[] = [];
  let found: FoundCommand | undefined;
  for (const word of argv) {
    if (!/^[a-z][a-z-]*$/.test(word)) break;
    const aliases = words.length === 0 ? COMMAND_ALIASES : SUBCOMMAND_ALIASES;
    words.push(Object.hasOwn(aliases, word) ? (aliases[word] ?? word) : word);
    if (paths.includes(words.join('/'))) found = foundAs([...words], argv);
    else if (found !== undefined) break;
  }
  return found;
}

function foundAs(words: readonly string[], argv: readonly string[]): FoundCommand {
  return {words, argv: argv.slice(words.length), load: () => load(words)};
}

async function load(words: readonly string[]): Promise<CommandClass> {
  const {default: command} = await loadCommand(words.join('/'));
  command.id = words.join(':');
  return command;
}

/** True for the first word of commands with several words, such as `runtime`. */
export function isTopic(word: string): boolean {
  return subcommandNames(word).length > 0;
}

/** The first words of all commands. */
export function commandNames(): readonly string[] {
  return [...new Set(commandPaths().map((path) => path.split('/')[0] ?? ''))];
}

/** The second words of a topic's commands. */
export function subcommandNames(topic: string): readonly string[] {
  return commandPaths().flatMap((path) => {
    const [first, second] = path.split('/');
    return first === topic && second !== undefined ? [second] : [];
  });
}
