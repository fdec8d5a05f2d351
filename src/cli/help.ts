import {fileURLToPath} from 'node:url';
import {Config} from '@oclif/core/config';
import type {Command} from '@oclif/core/command';
import {Help} from '@oclif/core/help';
import type {OutputStream} from './context.js';

/**
 * Writes the help of a command, of a topic, or of kcri itself for no words. This is the one place that loads
 * oclif's whole configuration, so it is imported only when needed.
 */
export async function showHelp(words: readonly string[], stdout: OutputStream): Promise<void> {
  const config = await Config.load({root: fileURLToPath(new URL('../../', import.meta.url))});
  await new HelpTo(stdout, config).showHelp([...words]);
}

class HelpTo extends Help {
  readonly #stdout: OutputStream;

  constructor(stdout: OutputStream, config: Config) {
    super(config, {maxWidth: 100, hideAliasesFromRoot: true});
    this.#stdout = stdout;
  }

  /** Without its own usage a command would show every global flag there. */
  protected override getCommandHelpClass(command: Command.Loadable) {
    const usage = command.usage ?? `${command.id.replaceAll(':', ' ')} [OPTIONS]`;
    return super.getCommandHelpClass({...command, usage});
  }

  protected override log(...lines: string[]): void {
    this.#stdout.write(`${lines.join(' ')}\n`);
  }
}
