import {hasEnded} from '../../api/types/v1-status.js';
import type {RuntimeContext} from '../../cli/command/contexts.js';
import type {CpuShare} from '../../kubelet/index.js';
import {PodReader} from '../pods/pod-reader.js';
import {cpuSection} from './describe-cpus.js';
import {describeNode, nodeKubeletSection, type NodePod} from './describe-node.js';
import {thresholdSection} from './describe-thresholds.js';
import {withNodeFacts} from './node-facts.js';

/** Describes the node of the command, which is this machine or a saved one. Rejects with KcriError. */
export async function describeCommandNode(services: RuntimeContext): Promise<string> {
  const {context, report: reporter} = services;
  return await withNodeFacts(services, async ({node, report, shares}) => {
    const pods = await readNodePods(services);
    const described = describeNode(node, pods, context.clock.now());
    if (shares !== undefined && 'error' in shares)
      reporter.warn(`the CPUs of the node are unknown: ${shares.error}`);
    const cpus = shares === undefined || 'error' in shares ? '' : cpusText(shares, pods);
    const kubelet = report === undefined ? '' : nodeKubeletSection(report);
    return `${described}${cpus}${thresholdSection(report?.thresholds)}${kubelet}`;
  });
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
