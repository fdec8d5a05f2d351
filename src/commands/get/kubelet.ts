import {formOf, outputFlag, templateFlag} from '../../cli/formats.js';
import {SeenPodsCommand} from '../../cli/seen-pods-command.js';
import {kubeletColumns} from '../../cli/views/kubelet.js';
import {objectsText} from '../../cli/views/pod-json.js';
import {GrowingTable} from '../../cli/views/pod-table.js';
import type {JsonObject} from '../../format/json.js';

const FORMATS = ['table', 'wide', 'json', 'yaml'] as const;

export default class GetKubelet extends SeenPodsCommand {
  static override summary = 'Show how the kubelet of the root directory is';
  static override description =
    'Asks the "kcri kubelet" that runs with the root directory: whether it can sync pods, and how many it keeps. ' +
    'As JSON and YAML it says all that it knows of each pod: what its worker does, the last sync and the next, ' +
    'back-offs and probes; "kcri describe" shows the same of one pod. It ends with 1 when none runs.';
  static override usage = 'get kubelet [OPTIONS]';
  static override examples = [
    '<%= config.bin %> get kubelet',
    '<%= config.bin %> get kubelet -o yaml',
    "<%= config.bin %> get kubelet -o jsonpath='{.pods[*].worker.nextSyncAt}'",
  ];
  static override flags = {output: outputFlag(FORMATS), template: templateFlag};

  async run(): Promise<void> {
    const {flags} = await this.parse(GetKubelet);
    const form = await formOf(flags, FORMATS, this);
    const report = await this.requireKubelet();
    if (form.kind !== 'table' && form.kind !== 'wide') {
      this.print(await objectsText(form, [report as unknown as JsonObject], true));
      return;
    }
    for (const error of report.errors) this.note(`kcri: it can't sync pods: ${error}`);
    const columns = kubeletColumns({wide: form.kind === 'wide'});
    this.show(new GrowingTable(columns, {header: true}).text([report]));
  }
}
