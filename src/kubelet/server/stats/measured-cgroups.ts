import type {Pod} from '../../../api/types/v1-pod.js';
import type {ContainerStats, NetworkInterfaceUsage, NetworkUsage} from '../../../cri/index.js';
import type {CgroupFacts} from '../../contract/node-facts.js';
import {podCgroupParent, qosCgroups} from '../../resources/pod-cgroup-parent.js';
import type {CgroupUsage} from './cgroups/cgroup-usage.js';
import type {PacketUsage} from './cgroups/packet-usage.js';
import type {ProcessUsage} from './cgroups/process-usage.js';
import type {NodeFilesystem} from './storage/node-filesystems.js';
import type {ContainerUsage, PodUsage, Usage} from './usage-reader.js';

/** Labels of cAdvisor's metrics; those that do not apply to a cgroup are empty (containerPrometheusLabelsFunc). */
export interface CgroupLabels {
  /** Path of the cgroup; `/` for the node. */
  readonly id: string;
  /** ID of the container or sandbox. */
  readonly name: string;
  readonly image: string;
  readonly container: string;
  readonly pod: string;
  readonly namespace: string;
}

/** A cgroup and its usage. */
export interface MeasuredCgroup extends Pick<
  ContainerStats,
  'cpu' | 'memory' | 'swap' | 'io' | 'writableLayer'
> {
  readonly labels: CgroupLabels;
  readonly network?: NetworkUsage | undefined;
  /** Processes as the runtime counts them; those of the cgroup itself are in `kernel`. */
  readonly processCount?: bigint | undefined;
  readonly startedAtNanos?: bigint | undefined;
  /** Usage that was read from the cgroup itself. */
  readonly kernel?: CgroupUsage | undefined;
  /** Packets of the network of the node or a sandbox. */
  readonly packets?: readonly PacketUsage[] | undefined;
  /** Open files of the processes in the cgroup. */
  readonly processes?: ProcessUsage | undefined;
  /** File systems of the node. */
  readonly filesystems?: readonly NodeFilesystem[] | undefined;
}

/** Facts of the node: those that the paths of cgroups depend on, and its file systems. */
export interface CgroupPaths {
  readonly cgroup: CgroupFacts;
  /** The kubelet's pods, by UID. */
  readonly pods: ReadonlyMap<string, Pod>;
  readonly filesystems: readonly NodeFilesystem[];
}

const NOTHING: CgroupLabels = {id: '/', name: '', image: '', container: '', pod: '', namespace: ''};
/** Prefixes of the scopes of containers by the scheme of container IDs, with the systemd cgroup driver. */
const SCOPE_PREFIXES: Readonly<Record<string, string>> = {'cri-o': 'crio', containerd: 'cri-containerd'};

/**
 * Returns the node, all pods together, each pod with its sandbox, and each container, as cAdvisor lists their cgroups.
 */
export function measuredCgroups({node, pods}: Usage, paths: CgroupPaths): readonly MeasuredCgroup[] {
  const shared = qosCgroups(paths.cgroup).map((id): MeasuredCgroup => ({labels: {...NOTHING, id}}));
  return [
    {...nodeCgroup(node), filesystems: paths.filesystems},
    ...shared,
    ...pods.flatMap((pod) => podCgroups(pod, paths)),
  ];
}

function nodeCgroup(node: Usage['node']): MeasuredCgroup {
  const {timeNanos: timestamp, cpuNanos, usedBytes, workingSetBytes, anonymousBytes, interfaces} = node;
  const value = (measured: bigint): {readonly value: bigint} => ({value: measured});
  return {
    labels: NOTHING,
    cpu: {timestamp, usageCoreNanoSeconds: value(cpuNanos), psi: node.pressure.cpu},
    memory: {
      ...{timestamp, usageBytes: value(usedBytes), workingSetBytes: value(workingSetBytes)},
      ...{rssBytes: value(anonymousBytes), psi: node.pressure.memory},
      ...{pageFaults: value(node.pageFaults), majorPageFaults: value(node.majorPageFaults)},
    },
    swap: {timestamp, swapUsageBytes: value(node.swapTotalBytes - node.swapFreeBytes)},
    io: {timestamp, psi: node.pressure.io},
    network: {
      timestamp,
      interfaces: interfaces.map(({name, rxBytes, rxErrors, txBytes, txErrors}): NetworkInterfaceUsage => ({
        ...{name, rxBytes: value(rxBytes), rxErrors: value(rxErrors)},
        ...{txBytes: value(txBytes), txErrors: value(txErrors)},
      })),
    },
  };
}

/** Paths of the cgroups of a pod. */
export interface PodCgroupPaths {
  readonly pod: string;
  /** Returns the path of a container or sandbox by its ID. */
  readonly ofContainer: (id: string) => string;
}

/** Returns the paths of the cgroups of a pod of the kubelet; undefined for other pods, whose QoS classes are unknown. */
export function podCgroupPaths(
  uid: string,
  {cgroup, pods}: Pick<CgroupPaths, 'cgroup' | 'pods'>,
): PodCgroupPaths | undefined {
  const pod = pods.get(uid);
  if (pod === undefined) return undefined;
  const path = podCgroupParent(pod, cgroup);
  return {pod: path, ofContainer: (id) => `${path}/${containerCgroup(id, pod, cgroup)}`};
}

function podCgroups(usage: PodUsage, paths: CgroupPaths): readonly MeasuredCgroup[] {
  const {ref, cpu, memory, swap, io, network, processCount, startedAtNanos, sandboxId = ''} = usage;
  const {pod: id, ofContainer: containerId} = podCgroupPaths(ref.uid, paths) ?? {
    pod: `/pod${ref.uid}`,
    ofContainer: (name: string) => `/pod${ref.uid}/${containerCgroup(name, undefined, paths.cgroup)}`,
  };
  const labels = {...NOTHING, id, pod: ref.name, namespace: ref.namespace};
  return [
    {labels, cpu, memory, swap, io, processCount, startedAtNanos},
    // cAdvisor measures the network of a pod in its sandbox.
    {labels: {...labels, id: containerId(sandboxId), name: sandboxId}, network},
    ...usage.containers.map((container) => containerUsage(container, labels, containerId)),
  ];
}

function containerUsage(
  {name: container, image = '', startedAtNanos, stats}: ContainerUsage,
  pod: CgroupLabels,
  pathOf: (name: string) => string,
): MeasuredCgroup {
  const {attributes, cpu, memory, swap, io, writableLayer} = stats;
  const name = attributes?.id ?? '';
  const labels = {...pod, id: pathOf(name), name, image, container};
  return {labels, cpu, memory, swap, io, writableLayer, startedAtNanos};
}

/** Returns the last part of the path of a container's cgroup. */
function containerCgroup(id: string, pod: Pod | undefined, {driver}: CgroupFacts): string {
  if (driver !== 'systemd') return id;
  const [scheme = ''] = (pod?.status?.containerStatuses?.[0]?.containerID ?? '').split('://');
  return `${SCOPE_PREFIXES[scheme] ?? SCOPE_PREFIXES['containerd']}-${id}.scope`;
}
