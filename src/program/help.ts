import {fileURLToPath} from 'node:url';
import {Config} from '@oclif/core/config';
import type {Command} from '@oclif/core/command';
import type {Topic} from '@oclif/core/interfaces';

import {CommandHelp, Help} from '@oclif/core/help';
import {isCrictlCommand} from '../cli/crictl/crictl-commands.js';
import {asCrictlCommand} from '../cli/crictl/crictl-help.js';

/**
 * Resolves with the help of a command or a topic, or of the program if `words` is empty. `program` is the name by which
 * kcri was called. oclif adds colors if they are enabled. Only this module loads the whole configuration of oclif, so
 * it is imported on demand; the bundle contains its texts instead (scripts/bundle/help.mjs).
 */
export async function helpText(words: readonly string[], program: string): Promise<string> {
  const config = await Config.load({root: fileURLToPath(new URL('../../', import.meta.url))});
  config.bin = program;
  const help = new ProgramHelp(config);
  const [word = '', ...more] = words;
  const topic = more.length === 0 ? config.topics.find(({name}) => name === word) : undefined;
  // oclif would show the command whose alias is a topic, such as "image".
  if (topic !== undefined && !isCommand(config, word)) await help.showTopicHelp(topic);
  else await help.showHelp([...words]);
  return `${help.text.trimEnd()}\n`;
}

/** Reports whether a word is a command, rather than an alias of one. */
function isCommand(config: Config, word: string): boolean {
  const command = config.findCommand(word);
  return command !== undefined && !command.aliases.includes(word);
}

/** Command that prints the global flags, as `kubectl options` does. */
const OPTIONS_COMMAND = 'options';

class ProgramHelp extends Help {
  text = '';
  readonly #config: Config;

  protected override get sortedCommands(): Command.Loadable[] {
    return super.sortedCommands.filter(({id}) => this.#isOffered(id));
  }

  protected override get sortedTopics(): Topic[] {
    return super.sortedTopics.filter(({name}) => this.#isOffered(name));
  }

  constructor(config: Config) {
    super(config, {maxWidth: 100, hideAliasesFromRoot: true});
    this.#config = config;
  }

  protected override async showRootHelp(): Promise<void> {
    await super.showRootHelp();
    const {bin} = this.config;
    this.log(`Use "${bin} COMMAND --help" for more information about a command.`);
    this.#logOptionsHint();
  }

  override formatRoot(): string {
    const {bin, pjson} = this.config;
    const {description = ''} = pjson as {description?: string};
    return [description, this.section('USAGE', `$ ${bin} COMMAND [FLAGS]`)].join('\n\n');
  }

  override async showTopicHelp(topic: Parameters<Help['showTopicHelp']>[0]): Promise<void> {
    await super.showTopicHelp(topic);
    this.#logOptionsHint();
  }

  override async showCommandHelp(given: Command.Loadable): Promise<void> {
    const asCrictl = this.config.bin === 'crictl' && isCrictlCommand(given.id.replaceAll(':', ' '));
    const command = asCrictl ? await asCrictlCommand(given) : given;
    const {summary = '', description = ''} = command;
    // The manual page contains the whole description.
    const [paragraph = ''] = description.split('\n\n');
    const about = paragraph === '' ? [summary] : [summary, this.wrap(paragraph)];
    this.log(`${about.join('\n\n')}\n`);
    this.log(`${this.formatCommand(command)}\n`);
    if (command.id !== OPTIONS_COMMAND) this.#logOptionsHint();
  }

  protected override getCommandHelpClass(command: Command.Loadable): CommandHelp {
    return new ShortCommandHelp(command, this.#config, this.opts);
  }

  protected override log(...lines: string[]): void {
    this.text += `${lines.join(' ')}\n`;
  }

  #isOffered(command: string): boolean {
    return this.config.bin !== 'crictl' || command.includes(':') || isCrictlCommand(command);
  }

  #logOptionsHint(): void {
    this.log(`Use "${this.config.bin} ${OPTIONS_COMMAND}" for a list of global flags.`);
  }
}

/** Formats usage, arguments, examples and the flags of the command. */
class ShortCommandHelp extends CommandHelp {
  constructor(
    command: Command.Loadable,
    config: Config,
    options: ConstructorParameters<typeof CommandHelp>[2],
  ) {
    super({...command, flags: ownFlags(command)}, config, options);
  }

  /** Marks an argument with `...` only if it can be repeated. */
  protected override args(args: Command.Arg.Any[]): [string, string | undefined][] | undefined {
    if (!args.some(({description}) => description)) return undefined;
    return args.map(({name, multiple, description}) => [
      `${name.toUpperCase()}${multiple === true ? '...' : ''}`,
      description,
    ]);
  }

  protected override examples(examples: Command.Example[] | undefined): string | undefined {
    return examples
      ?.map((example) => (typeof example === 'string' ? example : example.command))
      .map((line) => `$ ${this.render(line)}`)
      .join('\n');
  }

  protected override sections() {
    const sections = super.sections();
    return ['USAGE', 'ARGUMENTS', 'ALIASES', 'EXAMPLES', 'FLAGS'].flatMap((wanted) =>
      sections.filter(({header}) => header === wanted),
    );
  }
}

/**
 * Returns the flags that the help of a command lists: the global flags only in `kcri options`. Descriptions contain
 * defaults and say which flags can be repeated, so oclif must not add either.
 */
function ownFlags({id, flags}: Command.Loadable): Command.Loadable['flags'] {
  const shown = Object.entries(flags).filter(
    ([, {helpGroup}]) => id === OPTIONS_COMMAND || helpGroup !== 'GLOBAL',
  );
  return Object.fromEntries(
    shown.map(([name, flag]) => [
      name,
      flag.type === 'option' ? {...flag, default: undefined, multiple: false} : flag,
    ]),
  );
}
