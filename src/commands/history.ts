import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {UsageError} from '../base/errors.js';
import {BaseCommand} from '../cli/command/base-command.js';
import {formatListTable} from '../features/lists/list-flags.js';
import {
  formatSorted,
  NO_HEADERS_FLAG,
  outputFlags,
  parseOutputFormat,
} from '../cli/output/parse-output-format.js';
import {historyColumns} from '../features/images/history-table.js';
import {readImageHistory} from '../operations/images/image-history.js';

const FORMATS = ['table', 'json', 'yaml'] as const;

export default class History extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Show how an image was built';
  static override description =
    'Shows the build steps of an image, the newest first, and on containerd the disk usage of the layer ' +
    'of each step. Only the newest step has the ID of the image.';
  static override aliases = ['image history'];
  static override usage = 'history IMAGE [FLAGS]';
  static override examples = [
    '<%= config.bin %> history busybox:1.36',
    '<%= config.bin %> history --no-trunc app -o json',
  ];
  static override args = {image: Args.string({ignoreStdin: true, description: 'Name or ID of an image.'})};
  static override flags = {
    quiet: Flags.boolean({char: 'q', description: 'Print only IDs.'}),
    'no-trunc': Flags.boolean({description: 'Show output without truncation.'}),
    ...outputFlags(FORMATS),
    ...NO_HEADERS_FLAG,
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(History);
    const {image = ''} = args;
    if (image === '') throw new UsageError('the name or ID of an image is required');
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const {images} = await this.cri();
    const containerd = async () => await this.connections.containerd();
    const {imageId, steps} = await readImageHistory({images, containerd, signal: this.signal}, image);
    const rows = steps.map((step, index) => ({id: index === 0 ? imageId : '', ...step}));
    const options = {full: flags['no-trunc'], nowMs: this.context.clock.now()};
    const columns = historyColumns(options);
    if (flags.quiet) this.out.printAll(rows, (row) => `${columns[0]?.value(row) ?? ''}\n`);
    else if (form.kind === 'table')
      this.out.printText(
        formatListTable(columns, rows, {...flags, forTerminal: this.out.shouldEscapeControls}),
      );
    else
      this.out.printData(
        await formatSorted(
          form,
          rows.map((row) => ({...row, size: row.size ?? null})),
        ),
      );
  }
}
