import * as Flags from '@oclif/core/flags';
import {BaseCommand} from '../../cli/command/base-command.js';
import {FROM_FLAG} from '../../cli/flags/flag-types.js';
import {EXIT_CODE_FLAG, setListExitCode} from '../../features/lists/list-flags.js';
import {POD_SELECTION_FLAGS} from '../../features/pods/pod-selection-flags.js';
import {outputFlags, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {formatObjects} from '../../features/pods/pod-text.js';
import {observePodsToShow} from '../../features/get/watch-pods.js';
import {workloadObject, workloadTitle} from '../../features/workloads/compute-workloads.js';
import {
  formatWorkloads,
  parseWorkloadWords,
  selectWorkloads,
} from '../../features/workloads/list-workloads.js';

const FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;

export default class GetWorkloads extends BaseCommand {
  static override nodes = 'one' as const;
  static override summary = 'List Deployments, Jobs and other workloads';
  static override description =
    'Lists the workloads of the pods on this node: how many of their pods are ready, have succeeded and have failed. ' +
    '"get deployments", "get jobs", "get statefulset/db" and the other kinds and short names of kubectl select some of ' +
    'them.\n\nkcri stores no objects but pods: a workload is listed as long as it has a pod, by the owners of its ' +
    'pods or, for pods that kcri did not create, by the labels that their controllers have given them. How many replicas ' +
    'its manifest asks for is unknown.';
  static override usage = 'get workloads [KIND [NAME...] | KIND/NAME...] [FLAGS]';
  static override strict = false;
  static override examples = [
    '<%= config.bin %> get deployments',
    '<%= config.bin %> get job/main -o jsonpath={.status.succeeded}',
    '<%= config.bin %> get workloads -l app=web',
  ];
  static override flags = {
    ...POD_SELECTION_FLAGS,
    'all-namespaces': Flags.boolean({
      char: 'A',
      description: 'List workloads of all namespaces, and show the namespaces.',
    }),
    'no-headers': Flags.boolean({description: 'Omit the column headers.'}),
    ...EXIT_CODE_FLAG,
    ...FROM_FLAG,
    ...outputFlags(FORMATS),
  };

  async run(): Promise<void> {
    const {flags, argv} = await this.parse(GetWorkloads);
    const words = parseWorkloadWords(argv as string[]);
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const {shown} = await observePodsToShow(this.services, flags);
    const workloads = selectWorkloads(this.services, shown, words);
    if (words.names.length > 0 && workloads.length === 0) return;
    setListExitCode(this.report, flags, workloads.length);
    if (form.kind === 'name') this.out.printAll(workloads, (each) => `${workloadTitle(each)}\n`);
    else if (form.kind === 'table' || form.kind === 'wide') {
      if (workloads.length === 0 && !flags['exit-code']) this.report.info('No resources found');
      this.out.printText(
        formatWorkloads(workloads, {
          wide: form.kind === 'wide',
          namespace: flags['all-namespaces'] || workloads.some(({namespace}) => namespace !== 'default'),
          header: !flags['no-headers'],
          isOneKind: words.kind !== undefined,
          nowMs: this.context.clock.now(),
        }),
      );
    } else {
      const isSingle = words.names.length === 1 && workloads.length === 1;
      this.out.printData(await formatObjects(form, workloads.map(workloadObject), isSingle));
    }
  }
}
