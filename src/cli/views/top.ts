import type {Container} from '../../api/v1.js';
import type {ContainerState, ContainerStatus} from '../../api/v1-status.js';
import type {ContainerStats} from '../../cri/index.js';
import {ageOf} from '../../format/short-duration.js';
import {humanSize} from '../../format/size.js';
import type {Column} from '../../format/table.js';
import {visibleInLine} from '../../format/visible.js';
import type {RecordedEvent, SeenPod} from '../../kubelet/index.js';
import type {CpuPercent, Usage} from '../../operations/usage.js';
import {percent} from './percent.js';
import {podRow} from './pod-row.js';

/** What pods and their containers are and use at one moment. */
export interface TopSample {
  readonly pods: readonly SeenPod[];
  /** By container id. */
  readonly usage: ReadonlyMap<string, Usage<ContainerStats>>;
  /** Of these pods, the newest last. */
  readonly events: readonly TopEvent[];
  readonly nowMs: number;
}

/** An event and the pod that it is of. */
export interface TopEvent extends RecordedEvent {
  readonly namespace: string;
  readonly pod: string;
}

/** A container of a pod. */
export interface TopContainer {
  readonly name: string;
  /** `Running`, or why it does not run. */
  readonly state: string;
  readonly ready: boolean;
  readonly restarts: number;
  /** What its probes have come to; absent without any. */
  readonly probes?: string;
  readonly cpuPercent?: CpuPercent;
  readonly memoryBytes?: number;
}

/** A pod and its containers. */
export interface TopPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly ready: string;
  readonly status: string;
  readonly restarts: string;
  readonly age: string;
  /** Of its containers together; absent when none is measured. */
  readonly cpuPercent?: CpuPercent;
  readonly memoryBytes?: number;
  readonly containers: readonly TopContainer[];
}

const NOT_MADE: ContainerStatus = {name: '', ready: false, restartCount: 0, image: '', imageID: ''};

/** The pods of a sample, in its order. */
export function topPods({pods, usage, nowMs}: TopSample): readonly TopPod[] {
  return pods.map(({pod, record}) => {
    const {initContainers = [], containers} = pod.spec;
    const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
    const shown = [...initContainers, ...containers].map((container) =>
      topContainer(container, statuses.find(({name}) => name === container.name) ?? NOT_MADE, usage),
    );
    const {namespace, name, ready, status, restarts, age} = podRow(pod, nowMs);
    return {
      namespace,
      name,
      uid: record.uid,
      ready,
      status,
      restarts,
      age,
      ...together(shown),
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

/** Of a container that runs: a failed liveness probe ends it, so that one that runs has none. */
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

function together(containers: readonly TopContainer[]): Pick<TopPod, 'cpuPercent' | 'memoryBytes'> {
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

/** One line of the table: a pod, or indented a container of it. */
export interface TopRow {
  readonly name: string;
  readonly ready: string;
  readonly state: string;
  readonly restarts: string;
  readonly probes: string;
  readonly cpuPercent: CpuPercent | undefined;
  readonly memoryBytes: number | undefined;
  readonly age: string;
}

/** The lines of pods. */
export function topRows(pods: readonly TopPod[]): readonly TopRow[] {
  return pods.flatMap((pod) => [
    {
      name: `${pod.namespace}/${pod.name}`,
      ready: pod.ready,
      state: pod.status,
      restarts: pod.restarts,
      probes: '',
      cpuPercent: pod.cpuPercent,
      memoryBytes: pod.memoryBytes,
      age: pod.age,
    },
    ...pod.containers.map((container) => ({
      name: `  ${container.name}`,
      ready: container.ready ? 'yes' : 'no',
      state: container.state,
      restarts: String(container.restarts),
      probes: container.probes ?? '',
      cpuPercent: container.cpuPercent,
      memoryBytes: container.memoryBytes,
      age: '',
    })),
  ]);
}

export const TOP_COLUMNS: readonly Column<TopRow>[] = [
  {header: 'POD', value: ({name}) => name},
  {header: 'READY', value: ({ready}) => ready},
  {header: 'STATE', value: ({state}) => state},
  {header: 'RESTARTS', value: ({restarts}) => restarts},
  {header: 'CPU %', value: ({cpuPercent}) => cpuText(cpuPercent)},
  {header: 'MEM', value: ({memoryBytes}) => (memoryBytes === undefined ? '-' : humanSize(memoryBytes))},
  {header: 'AGE', value: ({age}) => age},
  {header: 'PROBES', value: ({probes}) => probes},
];

function cpuText(cpu: CpuPercent | undefined): string {
  if (cpu === undefined) return '-';
  return typeof cpu === 'number' ? percent(cpu) : cpu;
}

/** `5s  default/web  Warning  BackOff  Back-off …`, in lines that can't steer a terminal. */
export function eventLines(events: readonly TopEvent[], nowMs: number): readonly string[] {
  return events.map(({lastTimestamp, namespace, pod, type, reason, message, count}) =>
    visibleInLine(
      [
        ageOf(lastTimestamp, nowMs).padEnd(5),
        `${namespace}/${pod}`,
        type,
        reason,
        `${message.trim()}${count > 1 ? ` (x${count})` : ''}`,
      ].join('  '),
    ),
  );
}
