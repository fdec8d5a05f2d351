import {BaseCommand} from '../cli/command/base-command.js';
import {HelpRequest} from '../cli/parsing/help-request.js';

/** Prints the global flags, which its help lists as well (src/program/help.ts). */
export default class Options extends BaseCommand {
  static override nodes = 'none' as const;
  static override summary = 'List the global flags';
  static override description =
    'All commands accept these flags, before the command or, unless the command has a flag with the same name, after it.';
  static override usage = 'options';
  static override examples = [
    '<%= config.bin %> --runtime-endpoint=unix:///run/crio/crio.sock ps',
    '<%= config.bin %> ps --timeout=10s',
    '<%= config.bin %> --debug version',
  ];

  async run(): Promise<void> {
    await this.parse(Options);
    throw new HelpRequest(this.services.words);
  }
}
