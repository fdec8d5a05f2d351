import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/command/base-command.js';
import {FROM_FLAG} from '../cli/flags/flag-types.js';
import {
  formatSorted,
  NO_HEADERS_FLAG,
  outputFlags,
  parseOutputFormat,
} from '../cli/output/parse-output-format.js';
import {runtimeStatusJson} from '../features/inspect/inspect-json.js';
import {withContext} from '../operations/with-context.js';

const FORMATS = ['json', 'yaml'] as const;

export default class Info extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = "Show the runtime's status and configuration";
  static override description =
    'Shows whether the runtime and its network are ready, its handlers and features, and ' +
    'runtime-specific info.';
  static override usage = 'info [FLAGS]';
  static override examples = [
    '<%= config.bin %> info -o yaml',
    `<%= config.bin %> info -q -o jsonpath='{.status.conditions[?(@.type=="NetworkReady")].message}'`,
    "<%= config.bin %> info --template='{{range .runtimeHandlers}}{{.name}} {{end}}'",
  ];
  static override flags = {
    ...FROM_FLAG,
    quiet: Flags.boolean({char: 'q', description: 'Omit runtime-specific info.'}),
    ...outputFlags(FORMATS),
    ...NO_HEADERS_FLAG,
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(Info);
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const {runtime} = await this.cri();
    const response = runtime.status({verbose: !flags.quiet}, {signal: this.signal});
    const status = runtimeStatusJson(await withContext('getting status of runtime', response));
    this.out.printData(await formatSorted(form, status));
  }
}
