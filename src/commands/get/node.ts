import {BaseCommand} from '../../cli/command/base-command.js';
import {readNodeObject} from '../../features/node/read-node-object.js';
import {fetchKubeletReport} from '../../features/node/kubelet-reports.js';
import {NO_HEADERS_FLAG, outputFlags, parseOutputFormat} from '../../cli/output/parse-output-format.js';
import {cpuColumns, nodeColumns} from '../../features/node/node-table.js';
import {GrowingTable} from '../../format/growing-table.js';
import {formatObjects} from '../../features/pods/pod-text.js';
import {SystemError} from '../../base/errors.js';
import type {NodeCpus} from '../../kubelet/index.js';
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
  ];
  static override flags = {...outputFlags(FORMATS), ...NO_HEADERS_FLAG};

  async run(): Promise<void> {
    const {flags} = await this.parse(GetNode);
    const form = await parseOutputFormat(flags, FORMATS, this.services);
    const node = await readNodeObject(this.services, await fetchKubeletReport(this.services, []));
    if (form.kind !== 'table' && form.kind !== 'wide') {
      this.out.printData(await formatObjects(form, [node as unknown as JsonObject], true));
      return;
    }
    const wide = form.kind === 'wide';
    const columns = [
      ...nodeColumns({wide, nowMs: this.context.clock.now()}),
      ...(wide ? cpuColumns(await this.#readCpus()) : []),
    ];
    this.out.printText(new GrowingTable(columns, {header: true}).text([node]));
  }

  /** Reads the CPUs of the machine; undefined, with a warning, if they cannot be read. */
  async #readCpus(): Promise<NodeCpus | undefined> {
    const {readNodeCpus} = await import('../../kubelet/index.js');
    try {
      return await readNodeCpus(this.settings.rootDir);
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      this.report.warn(`the CPUs of the node are unknown: ${error.message}`);
      return undefined;
    }
  }
}
