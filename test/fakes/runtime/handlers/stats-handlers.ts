import {unknownError} from '../grpc-status-error.js';
import type {ContainerRecord, SandboxRecord} from '../runtime-records.js';
import {resolveFilterId, matchesLabels, paginate, type FakeRuntimeState} from '../fake-runtime-state.js';
import type {Handlers, DeepPartial, Message, RequestOf} from '../cri-messages.js';

/** Usage of every running container: a twentieth of a CPU and 10 MiB, simple numbers for tests. */
const CPU_NANO_CORES = 50_000_000;
const MEMORY_BYTES = 10 * 2 ** 20;
const DISK_BYTES = 64 * 2 ** 10;

/**
 * The stats RPCs, after containerd's container_stats*.go and sandbox_stats*.go. Only running containers have stats.
 */
export function statsHandlers(state: FakeRuntimeState): Handlers {
  const appliedFilter = <T>(filter: T): T | null => (state.options.ignoresFilters === true ? null : filter);
  return {
    ContainerStats: ({containerId}) => {
      const container = state.getContainer(containerId, 'failed to find container');
      if (container.state !== 'CONTAINER_RUNNING') throw unknownError('unexpected metrics response: []');
      return {stats: containerStats(state, container)};
    },
    ListContainerStats: ({filter}) => ({stats: listContainerStats(state, appliedFilter(filter))}),
    *StreamContainerStats({filter}) {
      for (const stats of paginate(listContainerStats(state, appliedFilter(filter))))
        yield {containerStats: stats};
    },
    PodSandboxStats: ({podSandboxId}) => {
      const missing = `an error occurred when trying to find sandbox ${podSandboxId}`;
      return {stats: podSandboxStats(state, state.getSandbox(podSandboxId, missing))};
    },
    ListPodSandboxStats: ({filter}) => ({stats: listPodSandboxStats(state, appliedFilter(filter))}),
    *StreamPodSandboxStats({filter}) {
      for (const stats of paginate(listPodSandboxStats(state, appliedFilter(filter))))
        yield {podSandboxStats: stats};
    },
  };
}

function listContainerStats(
  state: FakeRuntimeState,
  filter: RequestOf<'ListContainerStats'>['filter'],
): DeepPartial<Message<'ContainerStats'>>[] {
  const id = resolveFilterId(state.containers, filter?.id ?? '');
  const podSandboxId = state.resolveSandboxFilter(filter?.podSandboxId);
  return [...state.containers.values()]
    .filter((container) => container.state === 'CONTAINER_RUNNING')
    .filter((container) => id === '' || container.id === id)
    .filter((container) => podSandboxId === '' || container.sandboxId === podSandboxId)
    .filter((container) => matchesLabels(container.config.labels, filter?.labelSelector ?? {}))
    .map((container) => containerStats(state, container));
}

function containerStats(
  state: FakeRuntimeState,
  container: ContainerRecord,
): DeepPartial<Message<'ContainerStats'>> {
  const now = state.uniqueNowNanos();
  const timestamp = String(now);
  const {id, config} = container;
  const attributes = {
    id,
    metadata: config.metadata,
    labels: config.labels,
    annotations: config.annotations,
  };
  if (!state.profile.hasFullStats) {
    const {usageCoreNanoSeconds} = cpuUsage(now, container.startedAt, 1);
    const memory = {timestamp, workingSetBytes: value(MEMORY_BYTES)};
    return {attributes, cpu: {timestamp, usageCoreNanoSeconds}, memory};
  }
  return {
    attributes,
    cpu: cpuUsage(now, container.startedAt, 1),
    memory: memoryUsage(now, 1),
    writableLayer: {
      timestamp,
      fsId: {mountpoint: '/var/lib/fake/snapshots'},
      usedBytes: value(DISK_BYTES),
      inodesUsed: value(12),
    },
    swap: {timestamp, swapAvailableBytes: value(0), swapUsageBytes: value(0)},
  };
}

function listPodSandboxStats(
  state: FakeRuntimeState,
  filter: RequestOf<'ListPodSandboxStats'>['filter'],
): DeepPartial<Message<'PodSandboxStats'>>[] {
  const id = resolveFilterId(state.sandboxes, filter?.id ?? '');
  return [...state.sandboxes.values()]
    .filter((sandbox) => sandbox.state === 'SANDBOX_READY' && (id === '' || sandbox.id === id))
    .filter((sandbox) => matchesLabels(sandbox.config.labels, filter?.labelSelector ?? {}))
    .map((sandbox) => podSandboxStats(state, sandbox));
}

function podSandboxStats(
  state: FakeRuntimeState,
  sandbox: SandboxRecord,
): DeepPartial<Message<'PodSandboxStats'>> {
  const now = state.uniqueNowNanos();
  const {id, config, createdAt} = sandbox;
  const running = state.containersOf(id).filter((container) => container.state === 'CONTAINER_RUNNING');
  const eth0 = {
    name: 'eth0',
    rxBytes: value(1000),
    rxErrors: value(0),
    txBytes: value(2000),
    txErrors: value(0),
  };
  return {
    attributes: {id, metadata: config.metadata, labels: config.labels, annotations: config.annotations},
    linux: {
      cpu: cpuUsage(now, createdAt, running.length),
      memory: memoryUsage(now, running.length),
      network: {timestamp: String(now), defaultInterface: eth0, interfaces: []},
      process: {timestamp: String(now), processCount: value(running.length + 1)},
      containers: running.map((container) => containerStats(state, container)),
    },
  };
}

function cpuUsage(now: bigint, since: bigint, times: number): DeepPartial<Message<'CpuUsage'>> {
  const used = ((now > since ? now - since : 0n) * BigInt(CPU_NANO_CORES * times)) / 1_000_000_000n;
  return {
    timestamp: String(now),
    usageCoreNanoSeconds: {value: String(used)},
    usageNanoCores: value(CPU_NANO_CORES * times),
  };
}

function memoryUsage(now: bigint, times: number): DeepPartial<Message<'MemoryUsage'>> {
  return {
    timestamp: String(now),
    workingSetBytes: value(MEMORY_BYTES * times),
    availableBytes: value(0),
    usageBytes: value(MEMORY_BYTES * times),
    rssBytes: value((MEMORY_BYTES * times) / 2),
    pageFaults: value(100),
    majorPageFaults: value(1),
  };
}

const value = (number: number): {value: string} => ({value: String(number)});
