import {BaseCommand} from '../../cli/command/base-command.js';
import {readNodeObject} from '../../features/node/read-node-object.js';
import {cpuSection} from '../../features/node/describe-cpus.js';
import {describeNode, nodeKubeletSection, type NodePod} from '../../features/node/describe-node.js';
import {thresholdSection} from '../../features/node/describe-thresholds.js';
import {fetchKubeletReport} from '../../features/node/kubelet-reports.js';
import {hasEnded} from '../../api/types/v1-status.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import {PodReader} from '../../features/pods/pod-reader.js';

export default class DescribeNode extends BaseCommand {
  static override summary = 'Show details of this machine as a node';
  static override description =
    'Shows what "kubectl describe node" shows: labels, conditions, capacity, and the pods with ' +
    'their share of the resources; then who has which CPUs, if the kubelet gives containers CPUs of their own, ' +
    'the eviction thresholds and the state of the running kubelet, if there is one. For the source of the ' +
    'Node object see "kcri get node". To describe a pod named "node", use its namespace or UID.';
  static override usage = 'describe node';
  static override examples = ['<%= config.bin %> describe node'];

  async run(): Promise<void> {
    await this.parse(DescribeNode);
    const {services, context} = this;
    const report = await fetchKubeletReport(services, []);
    const node = await readNodeObject(services, report);
    const pods = await readNodePods(services);
    const text = describeNode(node, pods, context.clock.now());
    const kubelet = report === undefined ? '' : nodeKubeletSection(report);
    const cpus = await describeCpus(services, pods);
    this.out.printText(`${text}${cpus}${thresholdSection(report?.thresholds)}${kubelet}`);
  }
}

/** Describes who has which CPUs; empty if no kubelet gives containers CPUs of their own. */
async function describeCpus({settings}: RuntimeContext, pods: readonly NodePod[]): Promise<string> {
  const {readCpuShares} = await import('../../kubelet/index.js');
  const shares = await readCpuShares(settings.rootDir);
  const names = new Map(
    pods.map(({pod: {metadata}}) => [metadata.uid, `${metadata.namespace ?? ''}/${metadata.name ?? ''}`]),
  );
  return shares === undefined ? '' : cpuSection(shares, (uid) => names.get(uid));
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
