import {commandPaths, loadCommand, type CommandClass} from './command-files.js';

/** Match of a command line with the file of a command. */
export interface FoundCommand {
  readonly words: readonly string[];
  readonly argv: string[];
  load(): Promise<CommandClass>;
}

/** Aliases of commands, from crictl. The classes list them too, for the help. */
export const COMMAND_ALIASES: Readonly<Record<string, string>> = {
  event: 'events',
  image: 'images',
  img: 'images',
};

/** Aliases of subcommands: those of crictl, of docker, and of kubectl for the resources of "get". */
const SUBCOMMAND_ALIASES: Readonly<Record<string, string>> = {
  js: 'jsonschema',
  po: 'pods',
  pod: 'pods',
  ev: 'events',
  event: 'events',
  image: 'images',
  img: 'images',
  import: 'load',
  no: 'node',
  nodes: 'node',
  volume: 'volumes',
  vol: 'volumes',
};

/** Reports whether a word of `get` names a kind of workloads, all of which `get workloads` lists. */
function isWorkloadKind(word: string): boolean {
  return /^(cronjobs?|cj|daemonsets?|ds|deploy(ments?)?|jobs?|replicasets?|rs|replicationcontrollers?|rc|statefulsets?|sts)$/i.test(
    word,
  );
}

/** Selects the commands that exist, by their words separated by spaces. */
interface Offer {
  offersCommand(words: string): boolean;
}

const ALL: Offer = {offersCommand: () => true};

function offeredPaths(offer: Offer): readonly string[] {
  return commandPaths().filter((path) => offer.offersCommand(path.replace('/', ' ')));
}

/** Docker's subcommands of `image` that are commands of their own here. The classes list them too, for the help. */
const IMAGE_COMMANDS: Readonly<Record<string, string>> = {
  history: 'history',
  inspect: 'inspecti',
  pull: 'pull',
  remove: 'rmi',
  rm: 'rmi',
};

/**
 * Returns the command that the words name, or undefined. The path below commands/ consists of the words: `runtime/up`
 * for `kcri runtime up`. A command may have subcommands: `create/jsonschema` next to `create`. `image` is an alias of
 * `images` unless a subcommand follows.
 */
export function findCommand(argv: readonly string[], offer = ALL): FoundCommand | undefined {
  return findImageCommand(argv, offer) ?? findByPath(argv, offer) ?? findGetCommand(argv, offer);
}

/** Returns the command of `get` for a kind of workloads, such as `deployments`, or for kubectl's KIND/NAME. */
function findGetCommand(argv: readonly string[], offer: Offer): FoundCommand | undefined {
  const [topic = '', word = ''] = argv;
  if (topic !== 'get' || !isTopic(topic, offer)) return undefined;
  const [, kind = '', slash] = /^([a-z]+)(?:\.[a-z.]+)?(\/)?/i.exec(word) ?? [];
  const isPod = slash !== undefined && resolveAlias(SUBCOMMAND_ALIASES, kind) === 'pods';
  if (!isPod && !isWorkloadKind(kind)) return undefined;
  return foundAs([topic, isPod ? 'pods' : 'workloads'], argv, 1);
}

function findByPath(argv: readonly string[], offer: Offer): FoundCommand | undefined {
  const paths = offeredPaths(offer);
  const words: string[] = [];
  let found: FoundCommand | undefined;
  for (const word of argv) {
    if (!/^[a-z][a-z-]*$/.test(word)) break;
    const isFirst = words.length === 0;
    const isTopicName = isFirst && paths.includes(`${word}/${resolveAlias(SUBCOMMAND_ALIASES, argv[1])}`);
    words.push(isTopicName ? word : resolveAlias(isFirst ? COMMAND_ALIASES : SUBCOMMAND_ALIASES, word));
    if (paths.includes(words.join('/'))) found = foundAs([...words], argv);
    else if (found !== undefined) break;
  }
  return found;
}

/** Returns docker's subcommand of `image`, which crictl does not have. */
function findImageCommand(argv: readonly string[], offer: Offer): FoundCommand | undefined {
  const [topic = '', word = ''] = argv;
  if (topic !== 'image' || !isTopic(topic, offer) || !Object.hasOwn(IMAGE_COMMANDS, word)) return undefined;
  return foundAs([resolveAlias(IMAGE_COMMANDS, word)], argv, 2);
}

function resolveAlias(aliases: Readonly<Record<string, string>>, word = ''): string {
  return Object.hasOwn(aliases, word) ? (aliases[word] ?? word) : word;
}

function foundAs(words: readonly string[], argv: readonly string[], count = words.length): FoundCommand {
  return {words, argv: argv.slice(count), load: () => load(words)};
}

async function load(words: readonly string[]): Promise<CommandClass> {
  const {default: command} = await loadCommand(words.join('/'));
  command.id = words.join(':');
  return command;
}

/** Reports whether a word is the first word of a command with several words, such as `runtime`. */
export function isTopic(word: string, offer = ALL): boolean {
  return subcommandNames(word, offer).length > 0;
}

/** Reports whether a word is both an alias of a command and a topic: `image` lists images, and has subcommands. */
export function isAliasAndTopic(word: string, offer = ALL): boolean {
  return Object.hasOwn(COMMAND_ALIASES, word) && isTopic(word, offer);
}

/** Returns the first words of all commands. */
export function commandNames(): readonly string[] {
  return [...new Set(commandPaths().map((path) => path.split('/')[0] ?? ''))];
}

/** Returns the second words of the commands of a topic. */
export function subcommandNames(topic: string, offer = ALL): readonly string[] {
  return offeredPaths(offer).flatMap((path) => {
    const [first, second] = path.split('/');
    return first === topic && second !== undefined ? [second] : [];
  });
}
