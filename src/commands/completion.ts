import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import type {CommandStrategies} from '../cli/dialect/command-strategies.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {bashWordBreakLength, splitShellWords} from '../features/completion/analyze-command-line.js';
import {kcriOnlyFlags} from '../cli/flags/flag-types.js';
import {
  COMPLETION_SCRIPTS,
  SHELLS,
  SUGGEST_FILES,
  type Shell,
} from '../features/completion/completion-scripts.js';
import {suggest, type QueryRuntime, type Suggestion} from '../features/completion/suggest.js';
import {resolveRootDir, resolveSettings} from '../cli/settings/settings.js';
import {ArgumentsError} from '../cli/parsing/usage-errors.js';

/** Timeout of calls to the runtime during a completion, in ms. */
const TIMEOUT_MS = 1000;

export default class Completion extends BaseCommand {
  static override nodes = 'none' as const;
  static override summary = 'Print a shell completion script';
  static override description =
    'Completes commands, flags, flag values, and the names and IDs of existing containers, pods and ' +
    'images.\n\nTo enable completion in every shell, add the line from the examples to ~/.bashrc, ' +
    '~/.zshrc (after compinit) or ~/.config/fish/config.fish. For an alias of kcri, such as k, add the line ' +
    'with --name=k too.';
  static override usage = 'completion [bash|zsh|fish] [FLAGS]';
  static override examples = [
    'source <(<%= config.bin %> completion bash)',
    'source <(<%= config.bin %> completion bash --name=k)',
    '<%= config.bin %> completion fish | source',
  ];
  static override strict = false;
  static override args = {
    shell: Args.string({
      ignoreStdin: true,
      description: 'Shell to print the script for: bash, zsh or fish. [default: bash]',
    }),
  };
  static override flags = {
    ...kcriOnlyFlags({
      name: Flags.string({
        helpValue: 'NAME',
        description: 'Command that the script completes, such as an alias of kcri. [default: kcri]',
      }),
    }),
    suggest: Flags.boolean({hidden: true, description: 'Print the words that can complete the given words.'}),
    line: Flags.string({
      hidden: true,
      description: 'Command line up to the cursor, instead of separate words.',
    }),
    breaks: Flags.string({hidden: true, description: 'Characters at which the shell splits words.'}),
  };

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(Completion);
    const words = argv as string[];
    if (flags.suggest) await this.#suggest(words, flags);
    else this.out.stdout.write(await this.#script(words, flags.name));
  }

  async #script([shell = 'bash', ...rest]: readonly string[], alias?: string): Promise<string> {
    if (rest.length > 0) throw new ArgumentsError(`unexpected argument "${rest[0] ?? ''}"`);
    if (!isShell(shell)) throw new UsageError('only bash, zsh or fish are supported');
    if (alias !== undefined && !/^[\w.+-]+$/.test(alias))
      throw new UsageError(`invalid --name "${alias}": must be the name of a command`);
    const script = await this.dialect.strategy('completion', kcriScript);
    return await script(shell, alias);
  }

  async #suggest(
    given: readonly string[],
    {line, breaks = ''}: {line?: string | undefined; breaks?: string | undefined},
  ) {
    const words = line === undefined ? given : splitShellWords(line).slice(1);
    const cut = line === undefined ? 0 : bashWordBreakLength(words.at(-1) ?? '', breaks);
    const found = await suggest(words, this.#queryRuntime);
    // bash does not show descriptions.
    const descriptions = line === undefined ? await Promise.all(found.map(descriptionOf)) : [];
    this.out.printAll([...found.entries()], ([index, {word}]) => {
      const description = descriptions[index] ?? '';
      const suffix = description === '' ? '' : `\t${description}`;
      return `${word === SUGGEST_FILES ? word : word.slice(cut)}${suffix}\n`;
    });
  }

  /** Queries the runtime or the records of pods for completions. Ignores errors: a message would garble the line that the user is typing. */
  readonly #queryRuntime: QueryRuntime = async (kind, globals): Promise<readonly Suggestion[]> => {
    const flags = {...this.settings.globals, ...globals};
    try {
      if (kind === 'workloads') {
        const {listWorkloadSuggestions} = await import('../features/completion/workload-suggestions.js');
        return await listWorkloadSuggestions(resolveRootDir(flags, this.context.env));
      }
      const {runtimeEndpoint} = await resolveSettings(flags, this.context, {
        source: this.dialect.settingsSource,
        onWarning: () => undefined,
      });
      // A connection through ssh takes too long for a key stroke, and may ask for a password.
      if (runtimeEndpoint?.startsWith('ssh:') === true) return [];
      const {listRuntimeSuggestions} = await import('../features/completion/runtime-suggestions.js');
      const connection =
        runtimeEndpoint === undefined
          ? await this.cri(TIMEOUT_MS)
          : await this.connections.open(runtimeEndpoint, {timeoutMs: TIMEOUT_MS});
      return await listRuntimeSuggestions(kind, connection, this.signal);
    } catch {
      return [];
    }
  };
}

const kcriScript: CommandStrategies['completion'] = async (shell, name = 'kcri') =>
  Promise.resolve(COMPLETION_SCRIPTS[shell](name));

async function descriptionOf({description = ''}: Suggestion): Promise<string> {
  return typeof description === 'string' ? description : await description();
}

function isShell(text: string): text is Shell {
  return (SHELLS as readonly string[]).includes(text);
}
