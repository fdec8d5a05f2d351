import {CONFIG_KEYS} from '../../cli/settings/config-file.js';
import {commandNames, findCommand, isTopic, subcommandNames} from '../../cli/catalog/find-command.js';
import {GLOBAL_FLAGS} from '../../cli/flags/global-flags.js';
import {analyzeCommandLine, type CommandLineAnalysis, type FlagInfos} from './analyze-command-line.js';
import {listManifestSuggestions} from './manifest-suggestions.js';
import {SUGGEST_FILES, SHELLS} from './completion-scripts.js';

/** Candidate for the word at the cursor. */
export interface Suggestion {
  readonly word: string;
  /** Longer forms of the word, for a line that begins with one of them. */
  readonly longForms?: readonly string[];
  /** Description of the word, or a function that loads it. */
  readonly description?: string | (() => Promise<string>);
}

/** Kinds of runtime objects that complete arguments. */
export type RuntimeObjectKind =
  | 'containers'
  | 'container names'
  | 'running'
  | 'created'
  | 'pods'
  | 'pod names'
  | 'images';

/** Lists runtime objects or the workloads of kcri's pods, with the global flags of the command line; resolves to none on an error. */
export type QueryRuntime = (
  kind: RuntimeObjectKind | 'workloads',
  globals: CommandLineAnalysis['values'],
) => Promise<readonly Suggestion[]>;

/** Kind of an argument of a command. */
type ArgumentKind =
  | RuntimeObjectKind
  | 'files'
  | 'manifests'
  | 'pods, workloads or manifests'
  | 'pods or containers'
  | 'pods or running'
  | 'container paths'
  | 'commands'
  | 'none'
  | readonly string[];

/** Kinds of the arguments of each command; the last one applies to all further arguments. */
const ARGUMENTS: Readonly<Record<string, readonly ArgumentKind[]>> = {
  attach: ['pods or running', 'none'],
  checkpoint: ['running'],
  completion: [SHELLS, 'none'],
  config: [CONFIG_KEYS, 'none'],
  cp: ['container paths', 'container paths', 'none'],
  create: ['pods', 'files'],
  debug: ['pods or running', 'none'],
  delete: ['pods, workloads or manifests'],
  describe: ['pod names'],
  diff: ['pods or containers', 'none'],
  exec: ['pods or running', 'none'],
  generate: ['pods'],
  'get events': ['pod names'],
  'get images': ['images', 'none'],
  'get pods': ['pod names'],
  'get volumes': ['pod names'],
  help: ['commands'],
  history: ['images', 'none'],
  'image load': ['files'],
  'image save': ['images'],
  'image tag': ['images', 'images', 'none'],
  'image untag': ['images', 'none'],
  images: ['images', 'none'],
  inspect: ['pods or containers'],
  inspecti: ['images'],
  inspectp: ['pods'],
  logs: ['pods or containers'],
  plan: ['manifests'],
  'port-forward': ['pods', 'none'],
  pull: ['images', 'none'],
  restart: ['pods or containers'],
  rm: ['containers'],
  rmi: ['images'],
  rmp: ['pods'],
  run: ['images', 'files'],
  runp: ['manifests'],
  'runtime load': ['files'],
  start: ['created'],
  stats: ['running'],
  statsp: ['pods'],
  stop: ['running'],
  stopp: ['pods'],
  sync: ['manifests'],
  top: ['pod names'],
  tree: ['pods or containers'],
  update: ['running'],
  wait: ['pods or containers'],
  why: ['pods or containers'],
};

/** Commands whose first argument may also be a workload of kcri's pods, such as `deployment/web`. */
const WITH_WORKLOADS: ReadonlySet<string> = new Set([
  ...['attach', 'describe', 'exec', 'get pods', 'get volumes', 'get workloads', 'inspect'],
  ...['logs', 'port-forward', 'restart', 'wait', 'why'],
]);

/** Kinds of flag values that the definitions of the flags do not have. */
const VALUES: Readonly<Record<string, ArgumentKind>> = {
  container: 'container names',
  pod: 'pods',
  image: 'images',
  'runtime-endpoint': 'files',
  'image-endpoint': 'files',
  get: CONFIG_KEYS,
  filename: 'manifests',
  for: ['condition=Ready', 'delete', 'exit', 'jsonpath=', 'log='],
};

/** Returns the completions of the last of the words that follow `kcri`. */
export async function suggest(words: readonly string[], query: QueryRuntime): Promise<readonly Suggestion[]> {
  const cur = words.at(-1) ?? '';
  const leading = analyzeCommandLine(words, GLOBAL_FLAGS, () => true);
  const {cursor, positionals} = leading;
  const all =
    cursor.kind === 'argument' && cursor.index > 0
      ? await inCommand([...positionals, cur], leading, query)
      : await atCursor(leading, {flags: GLOBAL_FLAGS, kinds: ['commands'], ask: query, cur});
  const fitting = all.flatMap((each) => {
    if (each.word === SUGGEST_FILES || each.word.startsWith(cur)) return [each];
    const longForm = each.longForms?.find((form) => form.startsWith(cur));
    return longForm === undefined ? [] : [{...each, word: longForm}];
  });
  return fitting.toSorted((a, b) => (a.word < b.word ? -1 : Number(a.word > b.word)));
}

async function inCommand(
  words: readonly string[],
  leading: CommandLineAnalysis,
  ask: QueryRuntime,
): Promise<readonly Suggestion[]> {
  const [first = ''] = words;
  if (first === 'help' || first === 'h') return commandSuggestions();
  const found = findCommand(words.slice(0, -1));
  if (found === undefined) return isTopic(first) && words.length === 2 ? commandSuggestions(first) : [];
  const command = (await found.load()) as unknown as {
    flags?: FlagInfos;
    flagsEndAfter?: (positionals: readonly string[]) => boolean;
  };
  // The command's flags come first: their letters take precedence over those of the global flags.
  const flags = {...command.flags, ...GLOBAL_FLAGS, ...command.flags};
  const analysis = analyzeCommandLine(
    words.slice(found.words.length),
    flags,
    (before) => command.flagsEndAfter?.(before) === true,
  );
  const name = found.words.join(' ');
  const values = {...leading.values, ...analysis.values};
  const kinds = ARGUMENTS[name] ?? ['none'];
  const ofCommand = await atCursor({...analysis, values}, {flags, kinds, ask, cur: words.at(-1) ?? ''});
  const suggested = [...ofCommand, ...(await workloadsFor(name, {...analysis, values}, ask))];
  return words.length === 2 && (first === 'describe' || first === 'image')
    ? [...suggested, ...commandSuggestions(first)]
    : suggested;
}

/** Returns the workloads of kcri's pods for the first argument of a command that takes them. */
async function workloadsFor(
  command: string,
  {cursor, values}: CommandLineAnalysis,
  ask: QueryRuntime,
): Promise<readonly Suggestion[]> {
  const isFirst = cursor.kind === 'argument' && cursor.index === 0;
  return isFirst && WITH_WORKLOADS.has(command) ? await ask('workloads', values) : [];
}

interface Grammar {
  readonly flags: FlagInfos;
  readonly kinds: readonly ArgumentKind[];
  readonly ask: QueryRuntime;
  /** The word at the cursor. */
  readonly cur: string;
}

async function atCursor(
  {cursor, values}: CommandLineAnalysis,
  {flags, kinds, ask, cur}: Grammar,
): Promise<readonly Suggestion[]> {
  switch (cursor.kind) {
    case 'flag':
      return flagSuggestions(flags);
    case 'value': {
      const found = await suggestionsOf(valueKind(cursor.flag, flags), ask, {values, cur});
      return found.map((each) =>
        each.word === SUGGEST_FILES ? each : {...each, word: cursor.before + each.word},
      );
    }
    case 'argument':
      return await suggestionsOf(kinds[Math.min(cursor.index, kinds.length - 1)] ?? 'none', ask, {
        values,
        cur,
      });
  }
}

const HELP: FlagInfos = {help: {type: 'boolean', description: 'Print help.'}};

function flagSuggestions(flags: FlagInfos): readonly Suggestion[] {
  return Object.entries({...flags, ...HELP})
    .filter(([, {hidden}]) => hidden !== true)
    .map(([name, {description = ''}]) => ({word: `--${name}`, description: firstSentence(description)}));
}

function firstSentence(text: string): string {
  return (/^.*?[.;](?=\s|$)/s.exec(text)?.[0] ?? text).replace(/[.;]$/, '').replaceAll(/\s+/g, ' ');
}

/** Returns the kind of a flag's value: its choices, or a kind by its name or its placeholder, such as FILE. */
function valueKind(name: string, flags: FlagInfos): ArgumentKind {
  const {choices, options, helpValue} = flags[name] ?? {};
  const shown = typeof helpValue === 'string' ? helpValue : '';
  const known = choices ?? options;
  if (known !== undefined) return known.map((choice) => choice.replace(/=.*/, '='));
  return VALUES[name] ?? (/FILE|DIR|PATH/.test(shown) ? 'files' : 'none');
}

async function suggestionsOf(
  kind: ArgumentKind,
  ask: QueryRuntime,
  {values, cur}: {readonly values: CommandLineAnalysis['values']; readonly cur: string},
): Promise<readonly Suggestion[]> {
  if (typeof kind !== 'string') return kind.map((word) => ({word}));
  if (kind === 'none') return [];
  if (kind === 'files') return [{word: SUGGEST_FILES}];
  if (kind === 'commands') return commandSuggestions();
  if (kind === 'container paths') return await listContainerPaths(ask, {values, cur});
  if (kind === 'manifests') return await listManifestSuggestions(cur);
  if (kind === 'pods, workloads or manifests')
    return [
      ...(await ask('pod names', values)),
      ...(await ask('workloads', values)),
      ...(await listManifestSuggestions(cur)),
    ];
  if (kind === 'pods or containers' || kind === 'pods or running') {
    const containers = await ask(kind === 'pods or running' ? 'running' : 'containers', values);
    return withoutRepeats([...(await ask('pods', values)), ...containers]);
  }
  return await ask(kind, values);
}

/** Returns the first suggestion of each word. */
function withoutRepeats(suggestions: readonly Suggestion[]): readonly Suggestion[] {
  return [...new Map(suggestions.toReversed().map((each) => [each.word, each])).values()];
}

/** Returns pods and running containers as the start of `CONTAINER:PATH`, or files if the word is not one of them. */
async function listContainerPaths(
  ask: QueryRuntime,
  {values, cur}: {readonly values: CommandLineAnalysis['values']; readonly cur: string},
): Promise<readonly Suggestion[]> {
  if (cur.includes(':')) return [];
  const containers = (await suggestionsOf('pods or running', ask, {values, cur})).map(
    ({word, longForms, ...rest}) => ({
      ...rest,
      word: `${word}:`,
      ...(longForms === undefined ? {} : {longForms: longForms.map((form) => `${form}:`)}),
    }),
  );
  const isContainer = containers.some(({word, longForms = []}) =>
    [word, ...longForms].some((form) => form.startsWith(cur)),
  );
  return isContainer ? containers : [{word: SUGGEST_FILES}];
}

/** Returns all commands, or those of a topic. Their summaries require loading their files. */
function commandSuggestions(topic?: string): readonly Suggestion[] {
  const names = topic === undefined ? [...commandNames(), 'help'] : subcommandNames(topic);
  const summaryOf = async (words: readonly string[]): Promise<string> => {
    const command = (await findCommand(words)?.load()) as {readonly summary?: string} | undefined;
    return command?.summary ?? '';
  };
  return names.map((word) => ({
    word,
    description: () => summaryOf(topic === undefined ? [word] : [topic, word]),
  }));
}
