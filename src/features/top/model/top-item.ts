import {containersOf} from '../../../api/pod-containers.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {ContainerStatus} from '../../../api/types/v1-status.js';
import type {PodManagerName} from '../../pods/pod-selection-flags.js';
import {topPods, type TopContainer, type TopPod, type TopSample} from '../metrics/top-table.js';
import type {ShownPod} from '../../pods/listed-pod.js';
import type {NodeUsageView} from './node-usage-view.js';

/** Row of the full-screen view: a pod or a container. */
export interface TopItem {
  /** Identity of the row: equal for the same pod or container in every sample. */
  readonly key: string;
  readonly kind: 'pod' | 'container';
  /** Identity of the pod: its UID, and its node if there are several. */
  readonly podKey: string;
  /** Node of the pod; undefined if there is only one. */
  readonly node: string | undefined;
  /** True if the node does not answer any more. */
  readonly isStale: boolean;
  readonly namespace: string;
  readonly pod: string;
  /** Name of the pod or container. */
  readonly name: string;
  readonly ready: string;
  readonly state: string;
  readonly restarts: number;
  readonly probes: string;
  /** Percentage of one core; undefined if unknown. */
  readonly cpuPercent: number | undefined;
  readonly memoryBytes: number | undefined;
  /** Time of creation or start in ms since the epoch; undefined if it has not started. */
  readonly startedMs: number | undefined;
  readonly manager: PodManagerName;
  /** CPUs that only the container uses; empty for pods, and if it shares all. */
  readonly exclusiveCpus: string;
  /** ID of a container; undefined for pods and for containers that are not created. */
  readonly containerId: string | undefined;
}

/** Pod with its containers. */
export interface TopGroup {
  readonly pod: TopItem;
  readonly containers: readonly TopItem[];
}

/** Sample of a node with the pods as they were listed. */
export interface ListedSample extends TopSample {
  readonly shown: readonly ShownPod[];
  readonly isStale: boolean;
}

/**
 * Returns the rows of the samples of all nodes. `lastCpu` returns the last known CPU usage of a row, which is shown until
 * the runtime measures again.
 */
export function computeTopGroups(
  samples: readonly ListedSample[],
  lastCpu: (key: string) => number | undefined,
): readonly TopGroup[] {
  return samples.flatMap((sample) => {
    const rows = topPods(sample);
    return sample.shown.flatMap((shown, index) => {
      const row = rows[index];
      return row === undefined ? [] : [groupOf(sample, shown, row, lastCpu)];
    });
  });
}

/** Returns the identity of a pod among those of all nodes. */
export function podKeyOf(node: string | undefined, uid: string): string {
  return node === undefined ? uid : `${node} ${uid}`;
}

/** Returns the usage of the pods of all nodes that answer, in place of that of the nodes, which is unknown. */
export function usageOfPods(groups: readonly TopGroup[], name: string): NodeUsageView {
  const live = groups.filter(({pod}) => !pod.isStale);
  return {
    name,
    cores: undefined,
    cpuPercent: sum(live.map(({pod}) => pod.cpuPercent)),
    memoryBytes: sum(live.map(({pod}) => pod.memoryBytes)),
    memoryTotalBytes: undefined,
  };
}

function groupOf(
  {node, isStale}: ListedSample,
  {listed, pod}: ShownPod,
  row: TopPod,
  lastCpu: (key: string) => number | undefined,
): TopGroup {
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const names = containersOf(pod).map(({name}) => name);
  const podKey = podKeyOf(node, listed.uid);
  const common = {
    podKey,
    node,
    isStale,
    namespace: listed.namespace,
    pod: listed.name,
    manager: listed.manager,
  };
  const containers = row.containers.map((container, index): TopItem => {
    const key = `container ${podKey} ${names[index] ?? container.name}`;
    const status = statuses.find(({name}) => name === container.name);
    return {...common, key, kind: 'container', ...containerFields(container, status, lastCpu(key))};
  });
  return {pod: {...common, key: `pod ${podKey}`, ...podFields(pod, row, containers)}, containers};
}

function containerFields(container: TopContainer, status: ContainerStatus | undefined, last?: number) {
  const {name, ready, state, restarts, probes = '', cpuPercent, memoryBytes, exclusiveCpus = ''} = container;
  return {
    name,
    ready: ready ? 'yes' : 'no',
    state,
    restarts,
    probes,
    cpuPercent: typeof cpuPercent === 'number' ? cpuPercent : cpuPercent === 'stale' ? last : undefined,
    memoryBytes,
    exclusiveCpus,
    startedMs: timeOf(startTime(status)),
    containerId: status?.containerID?.replace(/^.*:\/\//, ''),
  };
}

function startTime({state = {}}: Partial<ContainerStatus> = {}): string | undefined {
  return state.running?.startedAt ?? state.terminated?.startedAt;
}

function podFields({metadata}: Pod, row: TopPod, containers: readonly TopItem[]) {
  return {
    kind: 'pod' as const,
    name: row.name,
    ready: row.ready,
    state: row.status,
    restarts: Number.parseInt(row.restarts, 10) || 0,
    probes: '',
    exclusiveCpus: '',
    cpuPercent: sum(containers.map(({cpuPercent}) => cpuPercent)),
    memoryBytes: sum(containers.map(({memoryBytes}) => memoryBytes)),
    startedMs: timeOf(metadata.creationTimestamp),
    containerId: undefined,
  };
}

/** Returns the sum of the known numbers; undefined if none is known. */
function sum(numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((each) => each !== undefined);
  return known.length === 0 ? undefined : known.reduce((total, each) => total + each, 0);
}

function timeOf(text: string | undefined): number | undefined {
  const time = text === undefined ? NaN : Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}

/** Returns the name of a row with its node if there are several: `default/web on node-1`. */
export function itemPlace(item: TopItem): string {
  return item.node === undefined ? itemTitle(item) : `${itemTitle(item)} on ${item.node}`;
}

/** Returns the name of a row with its pod: `default/web`, `default/web/nginx`. */
export function itemTitle({kind, namespace, pod, name}: TopItem): string {
  return kind === 'pod' ? `${namespace}/${pod}` : `${namespace}/${pod}/${name}`;
}
