import {BaseCommand} from '../../cli/command/base-command.js';
import {cpuSection} from '../../features/node/describe-cpus.js';
import {describeNode, nodeKubeletSection, type NodePod} from '../../features/node/describe-node.js';
import {thresholdSection} from '../../features/node/describe-thresholds.js';
import {FROM_FLAG} from '../../cli/flags/flag-types.js';
import {withNodeFacts} from '../../features/node/node-facts.js';
import {hasEnded} from '../../api/types/v1-status.js';
import type {CpuShare} from '../../kubelet/index.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import {PodReader} from '../../features/pods/pod-reader.js';

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
    const {services, context} = this;
    const text = await withNodeFacts(services, async ({node, report, shares}) => {
      const pods = await readNodePods(services);
      const described = describeNode(node, pods, context.clock.now());
      if (shares !== undefined && 'error' in shares)
        this.report.warn(`the CPUs of the node are unknown: ${shares.error}`);
      const cpus = shares === undefined || 'error' in shares ? '' : cpusText(shares, pods);
      const kubelet = report === undefined ? '' : nodeKubeletSection(report);
      return `${described}${cpus}${thresholdSection(report?.thresholds)}${kubelet}`;
    });
    this.out.printText(text);
  }
}

/** Describes who has which CPUs. */
function cpusText(shares: readonly CpuShare[], pods: readonly NodePod[]): string {
  const names = new Map<string | undefined, string>(
    pods.map(({pod: {metadata}}) => [metadata.uid, `${metadata.namespace ?? ''}/${metadata.name ?? ''}`]),
  );
  return cpuSection(shares, (uid) => names.get(uid));
}

/** Returns the pods that have not ended, with their total resources. */
async function readNodePods(services: RuntimeContext): Promise<readonly NodePod[]> {
  const {podLimits, podRequests} = await import('../../kubelet/index.js');
  const reader = new PodReader(services);
  const observed = await reader.observe(await reader.select([], {}));
  return observed
    .filter(({pod}) => !hasEnded(pod.status?.phase))
    .map(({pod}) => ({pod, requests: podRequests(pod), limits: podLimits(pod)}));
}
