import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../../cli/command/base-command.js';
import {FROM_FLAG} from '../../cli/flags/flag-types.js';
import {POD_SELECTION_FLAGS} from '../../features/pods/pod-selection-flags.js';
import {outputFlags, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {computePodRow} from '../../features/pods/pod-row.js';
import {podColumns} from '../../features/pods/pod-table.js';
import {formatObjects, podJson} from '../../features/pods/pod-text.js';
import {reportNotRestarted} from '../../features/pods/not-restarted.js';
import {observePodsToShow} from '../../features/get/watch-pods.js';
import {workloadObject, workloadTitle} from '../../features/workloads/compute-workloads.js';
import {formatWorkloads, selectWorkloads} from '../../features/workloads/list-workloads.js';
import {GrowingTable} from '../../format/growing-table.js';

const FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;

export default class GetAll extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'List pods and their workloads';
  static override description =
    'Lists the pods of the node, and then the Deployments, Jobs and other workloads that they belong to. The tables are ' +
    'those of "kcri get pods" and "kcri get workloads", with names that say the kind.';
  static override usage = 'get all [FLAGS]';
  static override examples = [
    '<%= config.bin %> get all',
    '<%= config.bin %> get all -l app=web -o wide',
    '<%= config.bin %> get all -n kube-system -o name',
  ];
  static override flags = {
    ...POD_SELECTION_FLAGS,
    'all-namespaces': Flags.boolean({
      char: 'A',
      description: 'List objects of all namespaces, and show the namespaces.',
    }),
    ...FROM_FLAG,
    'no-headers': Flags.boolean({description: 'Omit the column headers.'}),
    ...outputFlags(FORMATS),
  };

  async run(): Promise<void> {
    const {flags} = await this.parse(GetAll);
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const {out, report, services} = this;
    const {
      shown,
      showsNamespace: namespace,
      showsManager: manager,
    } = await observePodsToShow(services, flags);
    const pods = shown.map(({pod}) => pod);
    const workloads = selectWorkloads(services, shown, {kind: undefined, names: []});
    if (form.kind === 'name') {
      const names = [
        ...pods.map(({metadata}) => `pod/${metadata.name ?? ''}`),
        ...workloads.map(workloadTitle),
      ];
      out.printAll(names, (name) => `${name}\n`);
      return;
    }
    if (form.kind !== 'table' && form.kind !== 'wide') {
      const objects = [...pods.map(podJson), ...workloads.map(workloadObject)];
      out.printData(await formatObjects(form, objects, false));
      return;
    }
    if (pods.length === 0) report.info('No resources found');
    const nowMs = this.context.clock.now();
    const wide = form.kind === 'wide';
    const header = !flags['no-headers'];
    const columns = podColumns({wide, namespace, manager, labels: false});
    const rows = pods.map((pod) => ({...computePodRow(pod, nowMs), name: `pod/${pod.metadata.name ?? ''}`}));
    out.printText(new GrowingTable(columns, {header}).text(rows));
    if (workloads.length > 0)
      out.printText(`\n${formatWorkloads(workloads, {wide, namespace, header, isOneKind: false, nowMs})}`);
    reportNotRestarted(report, shown);
  }
}
