import {writeFileSync} from 'node:fs';
import {
  cantFindContainer,
  containerStatus,
  createContainer,
  removeContainer,
  SIGKILLED,
  startContainer,
  stopContainer,
} from './containers.js';
import {openLog} from './log-file.js';
import type {ContainerRecord} from './records.js';
import {failed, Refusal, unimplemented} from './refusal.js';
import {filterId, hasLabels, pages, type RuntimeState} from './state.js';
import type {Handlers, Loose, Message, RequestOf, ResponseOf} from './wire.js';

/** The RPCs of containers and of commands in them, after containerd's container_*.go. */
export function containerHandlers(state: RuntimeState): Handlers {
  return {
    CreateContainer: (request) => ({containerId: createContainer(state, request).id}),
    StartContainer: ({containerId}) => {
      startContainer(state, containerId);
      return {};
    },
    StopContainer: async ({containerId, timeout}, signal) => {
      const container = state.knownContainer(containerId, cantFindContainer(containerId));
      if (container !== undefined) await stopContainer(state, container, Number(timeout), signal);
      return {};
    },
    RemoveContainer: async ({containerId}) => {
      const container = state.knownContainer(containerId, cantFindContainer(containerId));
      if (container !== undefined) await removeContainer(state, container);
      return {};
    },
    ListContainers: ({filter}) => ({containers: listContainers(state, filter)}),
    *StreamContainers({filter}) {
      for (const containers of pages(listContainers(state, filter))) yield {containers};
    },
    ContainerStatus: ({containerId, verbose}) => {
      const container = state.container(containerId, cantFindContainer(containerId));
      return {status: containerStatus(state, container), info: verbose ? verboseInfo(container) : {}};
    },
    UpdateContainerResources: ({containerId, linux}) => {
      const container = state.container(containerId, 'failed to find container');
      container.resources = {...container.resources, ...nonZero(linux)};
      return {};
    },
    ReopenContainerLog: ({containerId}) => reopenLog(state, containerId),
    CheckpointContainer: ({containerId, location}) => checkpoint(state, containerId, location),
    GetContainerEvents: (_request, signal) => state.events.listen(signal),
    ...execHandlers(state),
  };
}

function execHandlers(state: RuntimeState): Handlers {
  const url = (rpc: string, path: string): {url: string} => {
    if (state.options.streamingUrl === undefined) throw unimplemented(rpc);
    return {url: `${state.options.streamingUrl}/${path}/${state.newId().slice(0, 8)}`};
  };
  return {
    ExecSync: (request, signal) => execSync(state, request, signal),
    Exec: ({containerId}) => {
      runningContainer(state, containerId, `failed to find container "${containerId}" in store`, '');
      return url('Exec', 'exec');
    },
    Attach: ({containerId}) => {
      runningContainer(state, containerId, 'failed to find container in store', '');
      return url('Attach', 'attach');
    },
    PortForward: ({podSandboxId}) => {
      const sandbox = state.sandbox(podSandboxId, `failed to find sandbox "${podSandboxId}"`);
      if (sandbox.state !== 'SANDBOX_READY') throw failed('sandbox container is not running');
      return url('PortForward', 'portforward');
    },
  };
}

function runningContainer(state: RuntimeState, id: string, missing: string, prefix: string): ContainerRecord {
  const container = state.container(id, missing);
  if (container.state !== 'CONTAINER_RUNNING')
    throw failed(`${prefix}container is in ${container.state} state`);
  return container;
}

async function execSync(
  state: RuntimeState,
  {containerId, cmd, timeout}: RequestOf<'ExecSync'>,
  signal: AbortSignal,
): Promise<ResponseOf<'ExecSync'>> {
  const prefix = 'failed to exec in container: ';
  const missing = `${prefix}failed to find container "${containerId}" in store`;
  const container = runningContainer(state, containerId, missing, prefix);
  const {stdout = '', stderr = '', exitCode = 0, runForMs = 0} = state.execOf(cmd, container);
  const limitMs = Number(timeout) > 0 ? Number(timeout) * 1000 : Infinity;
  const ranMs = Math.min(runForMs, limitMs);
  if (ranMs > 0 && (await endsWithin(state, container, ranMs, signal)))
    return {stdout: Buffer.from(stdout), stderr: Buffer.from(stderr), exitCode: SIGKILLED};
  if (runForMs > limitMs)
    throw new Refusal(
      'DEADLINE_EXCEEDED',
      `${prefix}timeout ${timeout}s exceeded: context deadline exceeded`,
    );
  return {stdout: Buffer.from(stdout), stderr: Buffer.from(stderr), exitCode};
}

/** Whether the container ends within that time, and with it every command in it. */
async function endsWithin(
  state: RuntimeState,
  {ended}: ContainerRecord,
  ms: number,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await state.clock.sleep(ms, AbortSignal.any([signal, ended.signal]));
    return false;
  } catch (error) {
    if (signal.aborted || !ended.signal.aborted) throw error;
    return true;
  }
}

function listContainers(
  state: RuntimeState,
  asked: RequestOf<'ListContainers'>['filter'],
): Loose<Message<'Container'>>[] {
  const filter = state.options.ignoresFilters === true ? null : asked;
  const id = filterId(state.containers, filter?.id ?? '');
  const podSandboxId = filterId(state.sandboxes, filter?.podSandboxId ?? '');
  return [...state.containers.values()]
    .filter((container) => id === '' || container.id === id)
    .filter((container) => podSandboxId === '' || container.sandboxId === podSandboxId)
    .filter((container) => filter?.state == null || container.state === filter.state.state)
    .filter((container) => hasLabels(container.config.labels, filter?.labelSelector ?? {}))
    .map(listed);
}

function listed({
  id,
  sandboxId,
  config,
  imageId,
  state,
  createdAt,
}: ContainerRecord): Loose<Message<'Container'>> {
  return {
    id,
    podSandboxId: sandboxId,
    metadata: config.metadata,
    image: config.image,
    imageRef: imageId,
    state,
    createdAt: String(createdAt),
    labels: config.labels,
    annotations: config.annotations,
    imageId,
  };
}

function verboseInfo({sandboxId, state, config}: ContainerRecord): Record<string, string> {
  const pid = state === 'CONTAINER_RUNNING' ? 4322 : 0;
  // containerd writes the values of the environment as they are.
  const envs = config.envs.map(({key, value}) => ({key, value: Buffer.from(value).toString()}));
  const kept = {...config, envs};
  return {
    info: JSON.stringify({
      sandboxID: sandboxId,
      pid,
      removing: false,
      runtimeType: 'io.fake.v1',
      config: kept,
    }),
  };
}

function reopenLog(state: RuntimeState, containerId: string): Record<string, never> {
  const container = state.container(containerId, cantFindContainer(containerId));
  if (container.state !== 'CONTAINER_RUNNING') throw failed('container is not running');
  if (container.logPath !== '') openLog(container.logPath);
  return {};
}

/** Writes a file, as a runtime with CRIU does, and with containerd's checks. */
function checkpoint(state: RuntimeState, containerId: string, location: string): Record<string, never> {
  const container = state.container(containerId, cantFindContainer(containerId));
  if (container.state !== 'CONTAINER_RUNNING')
    throw failed(
      `container "${container.id}" is in ${container.state} state. only CONTAINER_RUNNING containers can be checkpointed`,
    );
  try {
    writeFileSync(location, `checkpoint of ${container.id}\n`);
  } catch {
    throw failed(`open ${location}: no such file or directory`);
  }
  return {};
}

/** What an update leaves at zero stays as it was. */
function nonZero(
  resources: RequestOf<'UpdateContainerResources'>['linux'],
): Loose<Message<'LinuxContainerResources'>> {
  const set = Object.entries(resources ?? {}).filter(([, value]) => value !== '0' && value !== '');
  return Object.fromEntries(set);
}
