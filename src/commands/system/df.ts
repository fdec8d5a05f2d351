import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../../cli/command/base-command.js';
import {diskUsageJson} from '../../features/disk-usage/disk-usage-report.js';
import {formatDiskUsage} from '../../features/disk-usage/disk-usage-text.js';
import {readDiskUsage} from '../../features/disk-usage/read-disk-usage.js';
import {
  formatSorted,
  NO_HEADERS_FLAG,
  outputFlags,
  parseOutputFormat,
} from '../../cli/output/parse-output-format.js';
import type {Json} from '../../format/json.js';

const FORMATS = ['table', 'json', 'yaml'] as const;

export default class SystemDf extends BaseCommand {
  static override summary = 'Show disk usage of images, containers, logs and volumes';
  static override description =
    'Shows images, writable layers of containers, logs, and the pod directories and volumes of kcri, and how ' +
    'much of it "kcri system prune --all" can free at most.\n\nSizes of images are those that the runtime reports ' +
    '(containerd: of the compressed image), with layers that several images share counted for each. Sizes of ' +
    'stopped containers are known on containerd only. The filesystems show what the runtime really uses.';
  static override usage = 'system df [FLAGS]';
  static override examples = [
    '<%= config.bin %> system df',
    '<%= config.bin %> system df -v',
    "<%= config.bin %> system df --format '{{.type}} {{.reclaimableBytes}}'",
  ];
  static override flags = {
    verbose: Flags.boolean({char: 'v', description: 'List all objects with their sizes.'}),
    ...outputFlags(FORMATS),
    ...NO_HEADERS_FLAG,
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(SystemDf);
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const report = await readDiskUsage(this.services);
    if (form.kind === 'table') {
      if (report.hasSharedLayers)
        this.report.info('kcri: note: layers that images share are counted for each of them');
      const {verbose, 'no-headers': bare} = flags;
      this.out.printText(formatDiskUsage(report, {verbose, header: !bare}));
      return;
    }
    const json = diskUsageJson(report);
    // Rows of custom columns and --format are the totals of each kind.
    if (form.kind === 'rows') this.out.printData(form.render(json['usage'] as readonly Json[]));
    else this.out.printData(await formatSorted(form, json));
  }
}
