import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/base-command.js';
import {SANDBOX_FILTERS, sandboxQuery} from '../cli/filter-flags.js';
import {formOf, messageText, outputFlag} from '../cli/formats.js';
import {sandboxBlock, sandboxColumns} from '../cli/views/sandboxes.js';
import {renderTable} from '../format/table.js';
import {listSandboxes} from '../operations/sandboxes.js';
import {withContext} from '../operations/with-context.js';

const FORMATS = ['table', 'json', 'yaml'] as const;

export default class Pods extends BaseCommand {
  static override summary = 'List pods';
  static override flags = {
    ...SANDBOX_FILTERS,
    id: Flags.string({description: 'Only the pod with an id that begins so.'}),
    quiet: Flags.boolean({char: 'q', description: 'Print ids only.'}),
    verbose: Flags.boolean({char: 'v', description: 'Print everything about each pod.'}),
    'no-trunc': Flags.boolean({description: 'Print whole ids.'}),
    output: outputFlag(FORMATS),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(Pods);
    const form = await formOf(flags, FORMATS);
    const query = sandboxQuery(flags);
    const {runtime} = await this.cri();
    const items = await withContext('listing pod sandboxes', listSandboxes(runtime, query, this.signal));
    if (form.kind !== 'table') this.print(await messageText(form, 'ListPodSandboxResponse', {items}));
    else if (flags.quiet) this.printAll(items, ({id}) => `${id}\n`);
    else if (flags.verbose) this.printAll(items, sandboxBlock);
    else this.stdout.write(renderTable(sandboxColumns(this.context.clock.now(), flags['no-trunc']), items));
  }
}
