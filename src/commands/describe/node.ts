import {BaseCommand} from '../../cli/command/base-command.js';
import {describeCommandNode} from '../../features/node/describe-command-node.js';
import {FROM_FLAG} from '../../cli/flags/flag-types.js';

export default class DescribeNode extends BaseCommand {
  static override summary = 'Show details of this machine as a node';
  static override description =
    'Shows what "kubectl describe node" shows: labels, conditions, capacity, and the pods with ' +
    'their share of the resources; then who has which CPUs, if the kubelet gives containers CPUs of their own, ' +
    'the eviction thresholds and the state of the running kubelet, if there is one. For the source of the ' +
    'Node object see "kcri get node". To describe a pod named "node", use its namespace or UID.';
  static override usage = 'describe node [FLAGS]';
  static override examples = [
    '<%= config.bin %> describe node',
    '<%= config.bin %> describe node --from node.tgz',
  ];

  static override flags = FROM_FLAG;

  async run(): Promise<void> {
    await this.parse(DescribeNode);
    this.out.printText(await describeCommandNode(this.services));
  }
}
