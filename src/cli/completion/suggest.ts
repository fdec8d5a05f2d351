import {CONFIG_KEYS} from '../config-file.js';
import {commandNames, findCommand, isTopic, subcommandNames} from '../find-command.js';
import {GLOBAL_FLAGS} from '../global-flags.js';
import {analyse, type Analysis, type FlagInfos} from './command-line.js';
import {FILES, SHELLS} from './scripts.js';

/** A word that may stand at the cursor, and what it means. */
export interface Suggestion {
  readonly word: string;
  /** A function where it takes time to find out. */
  readonly meaning?: string | (() => Promise<string>);
}

/** What the runtime can be asked for. */
export type LiveKind = 'containers' | 'running' | 'created' | 'pods' | 'pod names' | 'images';

/** Asks the runtime for words, in the way that the global flags on the line say; gives none when it can't. */
export type Ask = (kind: LiveKind, globals: Analysis['values']) => Promise<readonly Suggestion[]>;

/** What an argument of a command is. */
type ArgumentKind = LiveKind | 'files' | 'commands' | 'none' | readonly string[];

/** The arguments of each command: one kind for all, or a kind for each and the last for the rest. */
const ARGUMENTS: Readonly<Record<string, readonly ArgumentKind[]>> = {
  attach: ['running', 'none'],
  checkpoint: ['running'],
  completion: [SHELLS, 'none'],
  config: [CONFIG_KEYS, 'none'],
  create: ['pods', 'files'],
  delete: ['pod names'],
  describe: ['pod names'],
  exec: ['running', 'none'],
  'get events': ['pod names'],
  'get pods': ['pod names'],
  help: ['commands'],
  images: ['images', 'none'],
  inspect: ['containers'],
  inspecti: ['images'],
  inspectp: ['pods'],
  logs: ['containers'],
  plan: ['files'],
  'port-forward': ['pods', 'none'],
  pull: ['images', 'none'],
  rm: ['containers'],
  rmi: ['images'],
  rmp: ['pods'],
  run: ['files'],
  runp: ['files'],
  'runtime load': ['files'],
  start: ['created'],
  stats: ['running'],
  statsp: ['pods'],
  stop: ['running'],
  stopp: ['pods'],
  sync: ['files'],
  update: ['running'],
};

/** The values of flags by their names, where their definitions don't tell. */
const VALUES: Readonly<Record<string, ArgumentKind>> = {
  pod: 'pods',
  image: 'images',
  'runtime-endpoint': 'files',
  'image-endpoint': 'files',
  get: CONFIG_KEYS,
};

/** What may stand at the cursor: the words behind `kcri`, of which the last is being typed. */
export async function suggest(words: readonly string[], ask: Ask): Promise<readonly Suggestion[]> {
  const cur = words.at(-1) ?? '';
  const leading = analyse(words, GLOBAL_FLAGS, true);
  const {cursor, positionals} = leading;
  const all =
    cursor.kind === 'argument' && cursor.index > 0
      ? await inCommand([...positionals, cur], leading, ask)
      : await atCursor(leading, {flags: GLOBAL_FLAGS, kinds: ['commands'], ask});
  const fitting = all.filter(({word}) => word === FILES || word.startsWith(cur));
  return fitting.toSorted((a, b) => (a.word < b.word ? -1 : Number(a.word > b.word)));
}

async function inCommand(
  words: readonly string[],
  leading: Analysis,
  ask: Ask,
): Promise<readonly Suggestion[]> {
  const [first = ''] = words;
  if (first === 'help' || first === 'h') return commandSuggestions();
  const found = findCommand(words.slice(0, -1));
  if (found === undefined) return isTopic(first) && words.length === 2 ? commandSuggestions(first) : [];
  const command = (await found.load()) as unknown as {flags?: FlagInfos; flagsEndAtArgument?: boolean};
  const flags = {...GLOBAL_FLAGS, ...command.flags};
  const analysis = analyse(words.slice(found.words.length), flags, command.flagsEndAtArgument === true);
  return await atCursor(
    {...analysis, values: {...leading.values, ...analysis.values}},
    {flags, kinds: ARGUMENTS[found.words.join(' ')] ?? ['none'], ask},
  );
}

interface Grammar {
  readonly flags: FlagInfos;
  readonly kinds: readonly ArgumentKind[];
  readonly ask: Ask;
}

async function atCursor(
  {cursor, values}: Analysis,
  {flags, kinds, ask}: Grammar,
): Promise<readonly Suggestion[]> {
  switch (cursor.kind) {
    case 'flag':
      return flagSuggestions(flags);
    case 'value': {
      const found = await suggestionsOf(valueKind(cursor.flag, flags), ask, values);
      return found.map((each) => (each.word === FILES ? each : {...each, word: cursor.before + each.word}));
    }
    case 'argument':
      return await suggestionsOf(kinds[Math.min(cursor.index, kinds.length - 1)] ?? 'none', ask, values);
  }
}

const HELP: FlagInfos = {help: {type: 'boolean', description: 'Show help.'}};

function flagSuggestions(flags: FlagInfos): readonly Suggestion[] {
  return Object.entries({...flags, ...HELP})
    .filter(([, {hidden}]) => hidden !== true)
    .map(([name, {description = ''}]) => ({word: `--${name}`, meaning: firstSentence(description)}));
}

function firstSentence(text: string): string {
  return (/^.*?[.;](?=\s|$)/s.exec(text)?.[0] ?? text).replace(/[.;]$/, '').replaceAll(/\s+/g, ' ');
}

/** What a flag's value is, by its name, or by what its help shows: `a|b|c=…`, FILE. */
function valueKind(name: string, flags: FlagInfos): ArgumentKind {
  const {options, helpValue} = flags[name] ?? {};
  const shown = typeof helpValue === 'string' ? helpValue : '';
  if (options !== undefined) return options;
  if (/^[a-z-]+(\|[a-z-]+(=\u2026)?)+$/.test(shown)) return shown.replaceAll('…', '').split('|');
  return VALUES[name] ?? (/FILE|DIR|PATH/.test(shown) ? 'files' : 'none');
}

async function suggestionsOf(
  kind: ArgumentKind,
  ask: Ask,
  globals: Analysis['values'],
): Promise<readonly Suggestion[]> {
  if (typeof kind !== 'string') return kind.map((word) => ({word}));
  if (kind === 'none') return [];
  if (kind === 'files') return [{word: FILES}];
  return kind === 'commands' ? commandSuggestions() : await ask(kind, globals);
}

/** The commands, or those of a topic. What one does is known only when its file is loaded. */
function commandSuggestions(topic?: string): readonly Suggestion[] {
  const names = topic === undefined ? [...commandNames(), 'help'] : subcommandNames(topic);
  const summaryOf = async (words: readonly string[]): Promise<string> => {
    const command = (await findCommand(words)?.load()) as {readonly summary?: string} | undefined;
    return command?.summary ?? '';
  };
  return names.map((word) => ({
    word,
    meaning: () => summaryOf(topic === undefined ? [word] : [topic, word]),
  }));
}
