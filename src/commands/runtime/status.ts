import * as Flags from '@oclif/core/flags';
import Table from 'cli-table3';
import {BaseCommand} from '../../cli/command/base-command.js';
import {runtimeStatusRows} from '../../private-runtime/lifecycle/private-runtime-status-rows.js';
import {runtimeStatus} from '../../private-runtime/lifecycle/private-runtime-status.js';

const NO_LINES_BETWEEN_ROWS = {mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': ''};

export default class RuntimeStatus extends BaseCommand {
  static override summary = 'Show the status of the private containerd';
  static override examples = ['<%= config.bin %> runtime status', '<%= config.bin %> runtime status -o json'];
  static override usage = 'runtime status [FLAGS]';
  static override flags = {
    output: Flags.string({
      char: 'o',
      options: ['table', 'json'],
      default: 'table',
      helpValue: 'FORMAT',
      description: 'Output format: table or json. [default: table]',
    }),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(RuntimeStatus);
    const status = await runtimeStatus(this.settings.rootDir, this.signal);
    if (flags.output === 'json') {
      this.out.print(JSON.stringify(status, undefined, 2));
      return;
    }
    const table = new Table({style: {head: [], border: []}, chars: NO_LINES_BETWEEN_ROWS});
    table.push(...runtimeStatusRows(status));
    this.out.print(table.toString());
  }
}
