import {BaseCommand} from '../../cli/command/base-command.js';
import {FROM_FLAG} from '../../cli/flags/flag-types.js';
import {NO_HEADERS_FLAG, outputFlags, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {kubeletColumns} from '../../features/node/kubelet-table.js';
import {GrowingTable} from '../../format/growing-table.js';
import {formatObjects} from '../../features/pods/pod-text.js';
import {withSavedReport} from '../../features/node/node-facts.js';
import {requireKubeletReport} from '../../features/node/kubelet-reports.js';
import type {KubeletReport} from '../../kubelet/index.js';
import type {JsonObject} from '../../format/json.js';

const FORMATS = ['table', 'wide', 'json', 'yaml'] as const;

export default class GetKubelet extends BaseCommand {
  static override summary = 'Show the status of the kubelet that uses this root directory';
  static override description =
    'Reports whether the running "kcri kubelet" can sync pods, and how many it manages. JSON and YAML ' +
    'contain the details of each pod: worker state, last and next sync, back-offs and probes. Invalid ' +
    'manifests are reported with file, line and column. Exits with 1 if no kubelet is running.';
  static override usage = 'get kubelet [FLAGS]';
  static override examples = [
    '<%= config.bin %> get kubelet',
    '<%= config.bin %> get kubelet -o yaml',
    "<%= config.bin %> get kubelet -o jsonpath='{.pods[*].worker.nextSyncAt}'",
  ];
  static override flags = {...FROM_FLAG, ...outputFlags(FORMATS), ...NO_HEADERS_FLAG};

  async run(): Promise<void> {
    const {flags} = await this.parse(GetKubelet);
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const show = async (report: KubeletReport): Promise<void> => {
      if (form.kind !== 'table' && form.kind !== 'wide') {
        this.out.printData(await formatObjects(form, [report as unknown as JsonObject], true));
        return;
      }
      for (const error of report.errors) this.report.info(`kcri: the kubelet cannot sync pods: ${error}`);
      for (const {level, place, message} of report.manifestProblems ?? [])
        this.report.info(
          `kcri: ${level === 'error' ? 'invalid manifest: ' : 'warning: '}${place}: ${message}`,
        );
      const columns = kubeletColumns({wide: form.kind === 'wide'});
      this.out.printText(new GrowingTable(columns, {header: true}).text([report]));
    };
    if (await this.settings.isSaved()) await withSavedReport(this.services, show);
    else await show(await requireKubeletReport(this.services));
  }
}
