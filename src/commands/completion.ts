import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/base-command.js';
import {brokenOff, shellWords} from '../cli/completion/command-line.js';
import {FILES, SCRIPTS, SHELLS, type Shell} from '../cli/completion/scripts.js';
import {suggest, type Ask, type Suggestion} from '../cli/completion/suggest.js';
import {resolveSettings} from '../cli/settings.js';
import {ArgumentsError} from '../cli/usage-errors.js';

/** Whoever waits for a word to be completed does not wait long. */
const TIMEOUT_MS = 1000;

export default class Completion extends BaseCommand {
  static override summary = 'Print what makes a shell complete command lines';
  static override description =
    'Completes commands, flags, their values, and the names and ids of the containers, pods and images that there are.\n\n' +
    'To have it in every shell, put the line of the example into ~/.bashrc, ~/.zshrc (behind compinit) or ' +
    '~/.config/fish/config.fish.';
  static override usage = 'completion [bash|zsh|fish]';
  static override examples = [
    'source <(<%= config.bin %> completion bash)',
    'source <(<%= config.bin %> completion zsh)',
    '<%= config.bin %> completion fish | source',
  ];
  static override strict = false;
  static override args = {
    shell: Args.string({ignoreStdin: true, description: 'The shell. [default: bash]'}),
  };
  static override flags = {
    suggest: Flags.boolean({hidden: true, description: 'Print what may stand behind the words given.'}),
    line: Flags.string({hidden: true, description: 'The line up to the cursor, in place of words.'}),
    breaks: Flags.string({hidden: true, description: 'At which characters the shell ends a word.'}),
  };

  async run(): Promise<void> {
    const {argv, flags} = await this.parse(Completion);
    const words = argv as string[];
    if (flags.suggest) await this.#suggest(words, flags);
    else this.stdout.write(await this.#script(words));
  }

  async #script([shell = 'bash', ...more]: readonly string[]): Promise<string> {
    if (more.length > 0) throw new ArgumentsError(`unexpected argument "${more[0] ?? ''}"`);
    if (!isShell(shell)) throw new UsageError('only bash, zsh or fish are supported');
    if (!this.compat) return SCRIPTS[shell];
    const {crictlScript} = await import('../cli/compat/completion.js');
    return await crictlScript(shell);
  }

  async #suggest(
    given: readonly string[],
    {line, breaks = ''}: {line?: string | undefined; breaks?: string | undefined},
  ) {
    const words = line === undefined ? given : shellWords(line).slice(1);
    const cut = line === undefined ? 0 : brokenOff(words.at(-1) ?? '', breaks);
    const found = await suggest(words, this.#ask);
    // bash shows no meanings.
    const meanings = line === undefined ? await Promise.all(found.map(meaningOf)) : [];
    this.printAll([...found.entries()], ([index, {word}]) => {
      const meaning = meanings[index] ?? '';
      return `${word === FILES ? word : word.slice(cut)}${meaning === '' ? '' : `\t${meaning}`}\n`;
    });
  }

  /** Nothing is said of what goes wrong: it would be written over the line that is being typed. */
  readonly #ask: Ask = async (kind, globals): Promise<readonly Suggestion[]> => {
    const {liveSuggestions} = await import('../cli/completion/live.js');
    try {
      const {runtimeEndpoint} = await resolveSettings({...this.globals, ...globals}, this.context, {
        onWarning: () => undefined,
      });
      const connection =
        runtimeEndpoint === undefined
          ? await this.cri(TIMEOUT_MS)
          : await this.connectTo(runtimeEndpoint, TIMEOUT_MS);
      return await liveSuggestions(kind, connection, this.signal);
    } catch {
      return [];
    }
  };
}

async function meaningOf({meaning = ''}: Suggestion): Promise<string> {
  return typeof meaning === 'string' ? meaning : await meaning();
}

function isShell(text: string): text is Shell {
  return (SHELLS as readonly string[]).includes(text);
}
