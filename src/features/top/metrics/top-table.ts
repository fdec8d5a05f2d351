import {containersOf} from '../../../api/pod-containers.js';
import type {Container, Pod} from '../../../api/types/v1-pod.js';
import type {ContainerState, ContainerStatus} from '../../../api/types/v1-status.js';
import type {ContainerStats} from '../../../cri/index.js';
import {formatAgeSince} from '../../../format/age.js';
import {humanSize} from '../../../format/human-size.js';
import type {Column} from '../../../format/table.js';
import {eventContainer} from '../../events/event-container.js';
import {escapeToLine} from '../../../format/escape-controls.js';
import type {ExclusiveCpus, RecordedEvent} from '../../../kubelet/index.js';
import type {CpuPercent, Usage} from '../../../operations/stats/compute-usage.js';
import {formatPercent} from '../../../cli/output/views/format-percent.js';
import {computePodRow} from '../../pods/pod-row.js';

/** State and resource usage of the pods of a node at one point in time. */
export interface TopSample {
  /** Name of the node; absent if there is only one. */
  readonly node?: string | undefined;
  readonly pods: readonly Pod[];
  /** Resource usage by container ID. */
  readonly usage: ReadonlyMap<string, Usage<ContainerStats>>;
  /** Exclusive CPUs of containers. */
  readonly exclusiveCpus: ExclusiveCpus;
  /** Events of these pods, newest last. */
  readonly events: readonly TopEvent[];
  readonly nowMs: number;
}

/** Event with its pod. */
export interface TopEvent extends RecordedEvent {
  /** Node of the pod; absent if there is only one. */
  readonly node?: string;
  readonly namespace: string;
  readonly pod: string;
}

/** Container of a pod. */
export interface TopContainer {
  readonly name: string;
  /** State of the container: `Running`, or the reason why it does not run. */
  readonly state: string;
  readonly ready: boolean;
  readonly restarts: number;
  /** Probe results; absent if the container has no probes. */
  readonly probes?: string;
  readonly cpuPercent?: CpuPercent;
  readonly memoryBytes?: number;
  /** CPUs that only the container uses, such as `2-3`; absent if it shares all. */
  readonly exclusiveCpus?: string;
}

/** Pod and its containers. */
export interface TopPod {
  /** Node of the pod; absent if there is only one. */
  readonly node?: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly ready: string;
  readonly status: string;
  readonly restarts: string;
  readonly age: string;
  /** `kcri`, `kubelet` or `<none>`. */
  readonly manager: string;
  /** Sum over its containers; absent if none has stats. */
  readonly cpuPercent?: CpuPercent;
  readonly memoryBytes?: number;
  readonly containers: readonly TopContainer[];
}

const NOT_CREATED: ContainerStatus = {name: '', ready: false, restartCount: 0, image: '', imageID: ''};

/** Returns the pods of a sample, in the same order. */
export function topPods({node, pods, usage, exclusiveCpus, nowMs}: TopSample): readonly TopPod[] {
  return pods.map((pod) => {
    const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
    const pinned = exclusiveCpus.get(pod.metadata.uid ?? '');
    const shown = containersOf(pod).map((container) => {
      const status = statuses.find(({name}) => name === container.name) ?? NOT_CREATED;
      const cpus = pinned?.get(container.name);
      return {...topContainer(container, status, usage), ...(cpus !== undefined && {exclusiveCpus: cpus})};
    });
    const {namespace, name, ready, status, restarts, age, manager} = computePodRow(pod, nowMs);
    return {
      ...(node !== undefined && {node}),
      namespace,
      name,
      uid: pod.metadata.uid ?? '',
      ready,
      status,
      restarts,
      age,
      manager,
      ...sumUsage(shown),
      containers: shown,
    };
  });
}

function topContainer(
  container: Container,
  status: ContainerStatus,
  usage: TopSample['usage'],
): TopContainer {
  const {state, ready, restartCount, containerID = ''} = status;
  const common = {name: container.name, state: stateText(state), ready, restarts: restartCount};
  if (state?.running === undefined) return common;
  const probes = probesText(container, status);
  const used = usage.get(containerID.replace(/^.*:\/\//, ''));
  return {
    ...common,
    ...(probes !== undefined && {probes}),
    ...(used !== undefined && {cpuPercent: used.cpuPercent, memoryBytes: Number(used.memoryBytes)}),
  };
}

function stateText(state: ContainerState = {}): string {
  if (state.running !== undefined) return 'Running';
  if (state.terminated !== undefined)
    return state.terminated.reason ?? `ExitCode:${state.terminated.exitCode}`;
  return state.waiting?.reason ?? 'Waiting';
}

/** Returns the probe results of a running container. It is always alive, because a failed liveness probe kills it. */
function probesText(
  {startupProbe, readinessProbe, livenessProbe}: Container,
  {started = false, ready}: ContainerStatus,
): string | undefined {
  const texts = [
    ...(startupProbe === undefined ? [] : [started ? 'started' : 'starting']),
    ...(readinessProbe === undefined ? [] : [ready ? 'ready' : 'not ready']),
    ...(livenessProbe === undefined || !started ? [] : ['alive']),
  ];
  return texts.length === 0 ? undefined : texts.join(', ');
}

function sumUsage(containers: readonly TopContainer[]): Pick<TopPod, 'cpuPercent' | 'memoryBytes'> {
  const cpus = containers.flatMap(({cpuPercent}) => cpuPercent ?? []);
  const numbers = cpus.filter((cpu) => typeof cpu === 'number');
  const memory = containers.flatMap(({memoryBytes}) => memoryBytes ?? []);
  const sum = (all: readonly number[]): number => all.reduce((total, each) => total + each, 0);
  const [first] = cpus;
  return {
    ...(first !== undefined && {cpuPercent: numbers.length > 0 ? sum(numbers) : first}),
    ...(memory.length > 0 && {memoryBytes: sum(memory)}),
  };
}

/** Row of the table: a pod, or one of its containers with an indented name. */
export interface TopRow {
  readonly node: string;
  readonly name: string;
  readonly ready: string;
  readonly state: string;
  readonly restarts: string;
  readonly probes: string;
  readonly cpuPercent: CpuPercent | undefined;
  readonly memoryBytes: number | undefined;
  readonly age: string;
  readonly manager: string;
  readonly exclusiveCpus: string;
}

/** Returns the rows of pods and their containers. */
export function topRows(pods: readonly TopPod[]): readonly TopRow[] {
  return pods.flatMap((pod) => [
    {
      node: pod.node ?? '',
      name: `${pod.namespace}/${pod.name}`,
      ready: pod.ready,
      state: pod.status,
      restarts: pod.restarts,
      probes: '',
      cpuPercent: pod.cpuPercent,
      memoryBytes: pod.memoryBytes,
      age: pod.age,
      manager: pod.manager,
      exclusiveCpus: '',
    },
    ...pod.containers.map((container) => ({
      node: pod.node ?? '',
      name: `  ${container.name}`,
      ready: container.ready ? 'yes' : 'no',
      state: container.state,
      restarts: String(container.restarts),
      probes: container.probes ?? '',
      cpuPercent: container.cpuPercent,
      memoryBytes: container.memoryBytes,
      age: '',
      manager: '',
      exclusiveCpus: container.exclusiveCpus ?? '',
    })),
  ]);
}

/** Returns the columns of `top`: with the node of several, exclusive CPUs if there are any, and the manager if a pod is not kcri's. */
export function topColumns(
  pods: readonly TopPod[],
  {hasNodes}: {readonly hasNodes: boolean},
): readonly Column<TopRow>[] {
  const isMixed = pods.some(({manager}) => manager !== 'kcri');
  const isPinned = pods.some((pod) => pod.containers.some(({exclusiveCpus}) => exclusiveCpus !== undefined));
  return [
    ...(hasNodes ? [NODE] : []),
    ...COLUMNS,
    ...(isPinned ? [EXCLUSIVE_CPUS] : []),
    ...(isMixed ? [MANAGER] : []),
    PROBES,
  ];
}

/** Returns the last `count` events of the samples of several nodes, newest last. */
export function lastTopEvents(samples: readonly TopSample[], count: number): readonly TopEvent[] {
  const events = samples.flatMap(({node, events: own}) =>
    own.map((event) => (node === undefined ? event : {node, ...event})),
  );
  const inOrder =
    samples.length < 2
      ? events
      : events.toSorted((a, b) => Date.parse(a.lastTimestamp) - Date.parse(b.lastTimestamp));
  return inOrder.slice(-count);
}

const NODE: Column<TopRow> = {header: 'NODE', value: ({node}) => node};
const MANAGER: Column<TopRow> = {header: 'MANAGER', value: ({manager}) => manager};
const EXCLUSIVE_CPUS: Column<TopRow> = {
  header: 'EXCLUSIVE CPUS',
  value: ({exclusiveCpus}) => exclusiveCpus,
};
const PROBES: Column<TopRow> = {header: 'PROBES', value: ({probes}) => probes};

const COLUMNS: readonly Column<TopRow>[] = [
  {header: 'POD', value: ({name}) => name},
  {header: 'READY', value: ({ready}) => ready},
  {header: 'STATE', value: ({state}) => state},
  {header: 'RESTARTS', value: ({restarts}) => restarts},
  {header: 'CPU %', value: ({cpuPercent}) => cpuText(cpuPercent)},
  {header: 'MEM', value: ({memoryBytes}) => (memoryBytes === undefined ? '-' : humanSize(memoryBytes))},
  {header: 'AGE', value: ({age}) => age},
];

function cpuText(cpu: CpuPercent | undefined): string {
  if (cpu === undefined) return '-';
  return typeof cpu === 'number' ? formatPercent(cpu) : cpu;
}

/** Formats events as `5s  default/web  Warning  BackOff  Back-off …`, with control characters escaped. */
export function topEventLines(events: readonly TopEvent[], nowMs: number): readonly string[] {
  return events.map((event) => {
    const {node, lastTimestamp, namespace, pod, type, reason, message, count} = event;
    const container = eventContainer(event);
    return escapeToLine(
      [
        formatAgeSince(lastTimestamp, nowMs).padEnd(5),
        ...(node === undefined ? [] : [node]),
        `${namespace}/${pod}${container === undefined ? '' : `/${container}`}`,
        type,
        reason,
        `${message.trim()}${count > 1 ? ` (x${count})` : ''}`,
      ].join('  '),
    );
  });
}
