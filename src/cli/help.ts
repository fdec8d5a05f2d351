import {fileURLToPath} from 'node:url';
import {Config} from '@oclif/core/config';
import type {Command} from '@oclif/core/command';
import {Help} from '@oclif/core/help';

/**
 * The help of a command, of a topic, or of the program itself for no words; `program` is what it is called as. This
 * is the one place that loads oclif's whole configuration, so it is imported only when needed.
 */
export async function helpText(words: readonly string[], program: string): Promise<string> {
  const config = await Config.load({root: fileURLToPath(new URL('../../', import.meta.url))});
  config.bin = program;
  const help = new HelpText(config);
  await help.showHelp([...words]);
  return help.text;
}

class HelpText extends Help {
  text = '';

  constructor(config: Config) {
    super(config, {maxWidth: 100, hideAliasesFromRoot: true});
  }

  /** Without its own usage a command would show every global flag there. */
  protected override getCommandHelpClass(command: Command.Loadable) {
    const usage = command.usage ?? `${command.id.replaceAll(':', ' ')} [OPTIONS]`;
    return super.getCommandHelpClass({...command, usage});
  }

  protected override log(...lines: string[]): void {
    this.text += `${lines.join(' ')}\n`;
  }
}
