import {fileURLToPath} from 'node:url';
import {Config} from '@oclif/core/config';
import type {Command} from '@oclif/core/command';
import {Help} from '@oclif/core/help';
import {userAgent} from './user-agent.js';

/**
 * The help of a command, of a topic, or of the program itself for no words; `program` is what it is called as. With
 * colours, when oclif finds that they are wanted. This is the one place that loads oclif's whole configuration, so it
 * is imported only when needed; the bundle has the texts that it gives (scripts/bundle/help.mjs).
 */
export async function helpText(
  words: readonly string[],
  program: string,
  agent = userAgent(),
): Promise<string> {
  const config = await Config.load({root: fileURLToPath(new URL('../../', import.meta.url))});
  config.bin = program;
  config.userAgent = agent;
  const help = new HelpText(config);
  await help.showHelp([...words]);
  return help.text;
}

class HelpText extends Help {
  text = '';

  constructor(config: Config) {
    super(config, {maxWidth: 100, hideAliasesFromRoot: true});
  }

  /** Global flags stand before any command, so they are told of without one as well. */
  protected override async showRootHelp(): Promise<void> {
    await super.showRootHelp();
    const version = this.config.findCommand('version', {must: true});
    const flags = Object.fromEntries(
      Object.entries(version.flags).filter(([, {helpGroup}]) => helpGroup === 'GLOBAL'),
    );
    const {bin} = this.config;
    const help = new this.CommandHelpClass({...version, flags}, this.config, {
      ...this.opts,
      sections: ['flags'],
    });
    this.log(`${help.generate()}\n`);
    this.log(`"${bin} COMMAND --help" explains a command, and "${bin} --version" says which ${bin} it is.`);
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
