import {BaseCommand} from '../../cli/command/base-command.js';
import {FROM_FLAG} from '../../cli/flags/flag-types.js';
import {withNodeFacts} from '../../features/node/node-facts.js';
import {NO_HEADERS_FLAG, outputFlags, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {cpuColumns, nodeColumns} from '../../features/node/node-table.js';
import {GrowingTable} from '../../format/growing-table.js';
import {formatObjects} from '../../features/pods/pod-text.js';
import type {JsonObject} from '../../format/json.js';

const FORMATS = ['table', 'wide', 'json', 'yaml'] as const;

export default class GetNode extends BaseCommand {
  static override summary = 'Show this machine as a node';
  static override description =
    'Shows what "kubectl get node" shows; with -o wide, also the sockets, NUMA nodes, cores and CPUs of the machine, and ' +
    'the CPUs that containers have for themselves. If the running "kcri kubelet" has joined a cluster, this is the ' +
    'Node object of the cluster, also while the API server cannot be reached; otherwise it is the Node that ' +
    'the running kubelet, or one with default settings, would register, with the state of the runtime.';
  static override usage = 'get node [FLAGS]';
  static override examples = [
    '<%= config.bin %> get node -o wide',
    "<%= config.bin %> get node -o jsonpath='{.status.allocatable}'",
    '<%= config.bin %> get node --from node.tgz',
  ];
  static override flags = {...FROM_FLAG, ...outputFlags(FORMATS), ...NO_HEADERS_FLAG};

  async run(): Promise<void> {
    const {flags} = await this.parse(GetNode);
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    await withNodeFacts(this.services, async ({node, cpus}) => {
      if (form.kind !== 'table' && form.kind !== 'wide') {
        this.out.printData(await formatObjects(form, [node as unknown as JsonObject], true));
        return;
      }
      const wide = form.kind === 'wide';
      if (wide && 'error' in cpus) this.report.warn(`the CPUs of the node are unknown: ${cpus.error}`);
      const columns = [
        ...nodeColumns({wide, nowMs: this.context.clock.now()}),
        ...(wide ? cpuColumns('error' in cpus ? undefined : cpus) : []),
      ];
      this.out.printText(new GrowingTable(columns, {header: true}).text([node]));
    });
  }
}
