import {BaseCommand} from '../cli/command/base-command.js';
import type {CommandStrategies} from '../cli/dialect/command-strategies.js';
import {
  formatSorted,
  NO_HEADERS_FLAG,
  outputFlags,
  parseOutputFormat,
} from '../cli/output/parse-output-format.js';
import {filesystemColumns, filesystemRows} from '../features/images/filesystem-table.js';
import {toJson} from '../cri/index.js';
import {renderTable} from '../format/table.js';
import {withContext} from '../operations/with-context.js';

const FORMATS = ['json', 'yaml', 'table'] as const;

export default class Imagefsinfo extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'Show image filesystem usage';
  static override description =
    'Shows the usage of the image filesystems and, if the runtime reports them separately, of the ' +
    'container filesystems.';
  static override usage = 'imagefsinfo [FLAGS]';
  static override examples = [
    '<%= config.bin %> imagefsinfo -o table',
    "<%= config.bin %> imagefsinfo | jq -r '.status.imageFilesystems[0].usedBytes.value'",
  ];
  static override flags = {...outputFlags(FORMATS), ...NO_HEADERS_FLAG};

  async run(): Promise<void> {
    const {flags} = await this.parse(Imagefsinfo);
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const {images} = await this.cri();
    const info = await withContext(
      'image filesystem info request',
      images.imageFsInfo({}, {signal: this.signal}),
    );
    if (form.kind === 'table') {
      const format = await this.dialect.strategy('imagefsinfo', formatTable);
      this.out.printText(format(info, this.context.clock.now()));
    } else {
      const status = toJson('ImageFsInfoResponse', info, {emitDefaults: true});
      this.out.printData(await formatSorted(form, {status}));
    }
  }
}

const formatTable: CommandStrategies['imagefsinfo'] = (info, nowMs) =>
  renderTable(filesystemColumns(nowMs), filesystemRows(info)).toString();
