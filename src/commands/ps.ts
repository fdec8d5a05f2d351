import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../cli/base-command.js';
import {CONTAINER_FILTERS, containerQuery} from '../cli/filter-flags.js';
import {formOf, messageText, outputFlag} from '../cli/formats.js';
import {containerBlock, containerColumns} from '../cli/views/containers.js';
import {renderTable} from '../format/table.js';
import {imageTags, listContainers} from '../operations/containers.js';
import {withContext} from '../operations/with-context.js';

const FORMATS = ['table', 'json', 'yaml'] as const;
const NO_TAGS: ReadonlyMap<string, string> = new Map();

export default class Ps extends BaseCommand {
  static override summary = 'List containers';
  static override description = 'Shows running containers; --all shows all of them.';
  static override flags = {
    ...CONTAINER_FILTERS,
    id: Flags.string({description: 'Only the container with an id that begins so.'}),
    namespace: Flags.string({
      description: "Only containers whose pod's namespace matches a regular expression.",
    }),
    state: Flags.string({
      char: 's',
      helpValue: 'created|running|exited|unknown',
      description: 'Only containers in a state. [default: running]',
    }),
    all: Flags.boolean({char: 'a', description: 'Containers in all states.'}),
    quiet: Flags.boolean({char: 'q', description: 'Print ids only.'}),
    verbose: Flags.boolean({char: 'v', description: 'Print everything about each container.'}),
    'no-trunc': Flags.boolean({description: 'Print whole ids.'}),
    'resolve-image-path': Flags.boolean({
      char: 'r',
      description: 'Show images by their tag, not by their id.',
    }),
    output: outputFlag(FORMATS),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(Ps);
    const form = await formOf(flags, FORMATS);
    const query = containerQuery(flags);
    const services = await this.cri();
    const containers = await withContext('listing containers', listContainers(services, query, this.signal));
    if (form.kind !== 'table') {
      this.print(await messageText(form, 'ListContainersResponse', {containers}));
      return;
    }
    const nowMs = this.context.clock.now();
    if (flags.quiet) this.printAll(containers, ({id}) => `${id}\n`);
    else if (flags.verbose) this.printAll(containers, (container) => containerBlock(container, nowMs));
    else {
      const tags = flags['resolve-image-path']
        ? await imageTags(services.images, containers, this.signal)
        : NO_TAGS;
      const columns = containerColumns({nowMs, full: flags['no-trunc'], tags});
      this.stdout.write(renderTable(columns, containers));
    }
  }
}
