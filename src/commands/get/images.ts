import {EXIT_CODE_FLAG, setListExitCode} from '../../features/lists/list-flags.js';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../../cli/command/base-command.js';
import {FROM_FLAG} from '../../cli/flags/flag-types.js';
import {readImageDetails} from '../../features/lists/print-images.js';
import {outputFlags, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {imageColumns, imageDetailColumns, imageObject, imageRows} from '../../features/lists/image-table.js';
import {GrowingTable} from '../../format/growing-table.js';
import {formatObjects} from '../../features/pods/pod-text.js';
import {listImages} from '../../operations/images/list-images.js';
import {withContext} from '../../operations/with-context.js';

const FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;

export default class GetImages extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'List the images of the node';
  static override description =
    'Lists all images of the runtime, sorted by name, in the form of kubectl. The wide table adds digests, build ' +
    'times, platforms and the number of containers that use each image. JSON and YAML contain a List of the images ' +
    'as in the status of a Node, with their IDs. To filter and sort images, use "kcri images".';
  static override usage = 'get images [REPOSITORY[:TAG]] [FLAGS]';
  static override examples = [
    '<%= config.bin %> get images',
    "<%= config.bin %> get images 'registry.k8s.io/*' -o wide",
    "<%= config.bin %> get images -o jsonpath='{.items[*].names[0]}'",
  ];
  static override args = {
    repository: Args.string({
      ignoreStdin: true,
      description:
        'Select only images with this name, with any tag unless one is given; * matches any characters.',
    }),
  };
  static override flags = {
    'no-headers': Flags.boolean({description: 'Omit the column headers.'}),
    ...FROM_FLAG,
    ...EXIT_CODE_FLAG,
    ...outputFlags(FORMATS),
  };

  async run(): Promise<void> {
    const {args, flags} = await this.parse(GetImages);
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const {images: service} = await this.cri();
    const {signal, report, out} = this;
    const query = {name: args.repository, filters: undefined, fields: undefined};
    const listed = listImages(service, query, {signal, onNote: report.warn});
    const images = await withContext('listing images', listed);
    setListExitCode(report, flags, images.length);
    if (form.kind !== 'table' && form.kind !== 'wide' && form.kind !== 'name') {
      out.printData(await formatObjects(form, images.map(imageObject), false));
      return;
    }
    if (images.length === 0 && !flags['exit-code']) report.info('No resources found');
    const rows = imageRows(images).toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    if (form.kind === 'name') {
      out.printText(rows.map((row) => `image/${nameOf(row)}\n`).join(''));
      return;
    }
    const isWide = form.kind === 'wide';
    const columns = imageColumns({digests: isWide, full: false, pinned: isWide});
    const more = isWide
      ? imageDetailColumns(await readImageDetails(this.services, images), this.context.clock.now())
      : [];
    out.printText(new GrowingTable([...columns, ...more], {header: !flags['no-headers']}).text(rows));
  }
}

function nameOf({repo, tag}: {readonly repo: string; readonly tag: string}): string {
  return `${repo}:${tag}`;
}
