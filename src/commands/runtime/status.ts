import * as Flags from '@oclif/core/flags';
import Table from 'cli-table3';
import {BaseCommand} from '../../cli/base-command.js';
import {statusRows} from '../../private-runtime/status-rows.js';
import {runtimeStatus} from '../../private-runtime/status.js';

const NO_LINES_BETWEEN_ROWS = {mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': ''};

export default class RuntimeStatus extends BaseCommand {
  static override summary = 'Show whether the private containerd runs, and how it is set up';
  static override flags = {
    output: Flags.string({
      char: 'o',
      options: ['table', 'json'],
      default: 'table',
      description: 'Output format.',
    }),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(RuntimeStatus);
    const status = await runtimeStatus(this.rootDir, this.signal);
    if (flags.output === 'json') {
      this.print(JSON.stringify(status, undefined, 2));
      return;
    }
    const table = new Table({style: {head: [], border: []}, chars: NO_LINES_BETWEEN_ROWS});
    table.push(...statusRows(status));
    this.print(table.toString());
  }
}
