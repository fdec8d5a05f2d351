import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/base-command.js';
import {formOf, outputFlag, sortedText, templateFlag} from '../cli/formats.js';
import {runtimeStatusJson} from '../cli/views/status-json.js';
import {withContext} from '../operations/with-context.js';

const FORMATS = ['json', 'yaml'] as const;

export default class Info extends BaseCommand {
  static override summary = "Show the runtime's status and configuration";
  static override description =
    'Whether the runtime and its network are ready, its handlers and features, and what only it knows of itself.';
  static override usage = 'info [OPTIONS]';
  static override examples = [
    '<%= config.bin %> info -o yaml',
    `<%= config.bin %> info -q -o jsonpath='{.status.conditions[?(@.type=="NetworkReady")].message}'`,
    "<%= config.bin %> info --template '{{range .runtimeHandlers}}{{.name}} {{end}}'",
  ];
  static override flags = {
    quiet: Flags.boolean({char: 'q', description: 'Leave out what only this runtime knows.'}),
    output: outputFlag(FORMATS),
    template: templateFlag,
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(Info);
    const form = await formOf(flags, FORMATS, this);
    const {runtime} = await this.cri();
    const response = runtime.status({verbose: !flags.quiet}, {signal: this.signal});
    const status = runtimeStatusJson(await withContext('getting status of runtime', response));
    this.print(await sortedText(form, status));
  }
}
