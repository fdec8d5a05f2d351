import {writeFileSync} from 'node:fs';
import {
  containerNotFoundMessage,
  toContainerStatus,
  createContainer,
  removeContainer,
  SIGKILL_EXIT_CODE,
  startContainer,
  stopContainer,
} from '../container-lifecycle.js';
import {createLogFile} from '../cri-log-writer.js';
import type {ContainerRecord} from '../runtime-records.js';
import {unknownError, unimplementedError} from '../grpc-status-error.js';
import {resolveFilterId, matchesLabels, paginate, type FakeRuntimeState} from '../fake-runtime-state.js';
import type {Handlers, DeepPartial, Message, RequestOf, ResponseOf} from '../cri-messages.js';

/** The RPCs of containers and of commands in them, after containerd's container_*.go. */
export function containerHandlers(state: FakeRuntimeState): Handlers {
  return {
    CreateContainer: (request) => ({containerId: createContainer(state, request).id}),
    StartContainer: ({containerId}) => {
      startContainer(state, containerId);
      return {};
    },
    StopContainer: async ({containerId, timeout}, signal) => {
      const container = state.findContainer(containerId, containerNotFoundMessage(containerId));
      if (container !== undefined) await stopContainer(state, container, Number(timeout), signal);
      return {};
    },
    RemoveContainer: async ({containerId}) => {
      const container = state.findContainer(containerId, containerNotFoundMessage(containerId));
      if (container !== undefined) await removeContainer(state, container);
      return {};
    },
    ListContainers: ({filter}) => ({containers: listContainers(state, filter)}),
    *StreamContainers({filter}) {
      for (const containers of paginate(listContainers(state, filter))) yield {containers};
    },
    ContainerStatus: ({containerId, verbose}) => {
      const container = state.getContainer(containerId, containerNotFoundMessage(containerId));
      return {
        status: toContainerStatus(state, container),
        info: verbose ? verboseInfo(state, container) : {},
      };
    },
    UpdateContainerResources: ({containerId, linux}) => {
      const container = state.getContainer(containerId, 'failed to find container');
      container.resources = {...container.resources, ...nonZero(linux)};
      return {};
    },
    ReopenContainerLog: ({containerId}) => reopenLog(state, containerId),
    CheckpointContainer: ({containerId, location}) => checkpoint(state, containerId, location),
    GetContainerEvents: (_request, signal) => (state.profile.sendsEvents ? state.events.listen(signal) : []),
    ...execHandlers(state),
  };
}

function execHandlers(state: FakeRuntimeState): Handlers {
  const url = (rpc: string, path: string): {url: string} => {
    if (state.options.streamingUrl === undefined) throw unimplementedError(rpc);
    const token = state.newId().slice(0, 8);
    return {url: state.profile.streamingUrl({base: state.options.streamingUrl, method: path, token})};
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
      const sandbox = state.getSandbox(podSandboxId, `failed to find sandbox "${podSandboxId}"`);
      if (sandbox.state !== 'SANDBOX_READY') throw unknownError('sandbox container is not running');
      return url('PortForward', 'portforward');
    },
  };
}

function runningContainer(
  state: FakeRuntimeState,
  id: string,
  missing: string,
  prefix: string,
): ContainerRecord {
  const container = state.getContainer(id, missing);
  if (container.state !== 'CONTAINER_RUNNING') throw state.profile.notRunning(container, prefix);
  return container;
}

async function execSync(
  state: FakeRuntimeState,
  {containerId, cmd, timeout}: RequestOf<'ExecSync'>,
  signal: AbortSignal,
): Promise<ResponseOf<'ExecSync'>> {
  const prefix = 'failed to exec in container: ';
  const missing = `${prefix}failed to find container "${containerId}" in store`;
  const container = runningContainer(state, containerId, missing, prefix);
  const {
    stdout = '',
    stderr = '',
    exitCode = 0,
    runForMs = 0,
    startError,
  } = state.resolveExec(cmd, container);
  if (startError !== undefined) return state.profile.execNotStarted(startError);
  const limitMs = Number(timeout) > 0 ? Number(timeout) * 1000 : Infinity;
  const ranMs = Math.min(runForMs, limitMs);
  if (ranMs > 0 && (await endsWithin(state, container, ranMs, signal)))
    return {stdout: Buffer.from(stdout), stderr: Buffer.from(stderr), exitCode: SIGKILL_EXIT_CODE};
  if (runForMs > limitMs) return state.profile.execTimedOut(timeout);
  return {stdout: Buffer.from(stdout), stderr: Buffer.from(stderr), exitCode};
}

/** Returns whether the container exits within a time, which ends every command in it. */
async function endsWithin(
  state: FakeRuntimeState,
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
  state: FakeRuntimeState,
  asked: RequestOf<'ListContainers'>['filter'],
): DeepPartial<Message<'Container'>>[] {
  const filter = state.options.ignoresFilters === true ? null : asked;
  const id = resolveFilterId(state.containers, filter?.id ?? '');
  const podSandboxId = state.resolveSandboxFilter(filter?.podSandboxId);
  return [...state.containers.values()]
    .filter((container) => id === '' || container.id === id)
    .filter((container) => podSandboxId === '' || container.sandboxId === podSandboxId)
    .filter((container) => filter?.state == null || container.state === filter.state.state)
    .filter((container) => matchesLabels(container.config.labels, filter?.labelSelector ?? {}))
    .map((container) => listed(state, container));
}

function listed(
  {images, profile}: FakeRuntimeState,
  {id, sandboxId, config, imageId, state, createdAt}: ContainerRecord,
): DeepPartial<Message<'Container'>> {
  return {
    id,
    podSandboxId: sandboxId,
    metadata: config.metadata,
    image: config.image,
    state,
    createdAt: String(createdAt),
    labels: config.labels,
    annotations: config.annotations,
    ...profile.listedImage(images.get(imageId), imageId),
  };
}

function verboseInfo({profile}: FakeRuntimeState, container: ContainerRecord): Record<string, string> {
  return {info: JSON.stringify(profile.containerInfo(container))};
}

function reopenLog(state: FakeRuntimeState, containerId: string): Record<string, never> {
  const container = state.getContainer(containerId, containerNotFoundMessage(containerId));
  if (container.state !== 'CONTAINER_RUNNING') throw unknownError('container is not running');
  if (state.profile.reopenError !== undefined) throw unknownError(state.profile.reopenError);
  if (container.logPath !== '') createLogFile(container.logPath);
  return {};
}

/** Writes a checkpoint file like a runtime with CRIU, with containerd's checks. */
function checkpoint(state: FakeRuntimeState, containerId: string, location: string): Record<string, never> {
  const container = state.getContainer(containerId, containerNotFoundMessage(containerId));
  if (container.state !== 'CONTAINER_RUNNING')
    throw unknownError(
      `container "${container.id}" is in ${container.state} state. only CONTAINER_RUNNING containers can be checkpointed`,
    );
  try {
    writeFileSync(location, `checkpoint of ${container.id}\n`);
  } catch {
    throw unknownError(`open ${location}: no such file or directory`);
  }
  return {};
}

/** Merges resources: zero values keep the present ones. */
function nonZero(
  resources: RequestOf<'UpdateContainerResources'>['linux'],
): DeepPartial<Message<'LinuxContainerResources'>> {
  const set = Object.entries(resources ?? {}).filter(([, value]) => value !== '0' && value !== '');
  return Object.fromEntries(set);
}
