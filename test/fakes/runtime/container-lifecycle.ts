import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {exitReason} from '../runtime-builders.js';
import {resolveImage} from './handlers/image-handlers.js';
import {appendLogLines, createLogFile} from './cri-log-writer.js';
import type {ContainerRecord, ImageRecord, SandboxRecord} from './runtime-records.js';
import {unknownError, notFoundError} from './grpc-status-error.js';
import type {FakeRuntimeState} from './fake-runtime-state.js';
import {findOciSpecError} from './oci-spec-error.js';
import type {DeepPartial, Message, RequestOf} from './cri-messages.js';

/** The life of a container, after containerd's container_*.go. The RPCs are in container-handlers.ts. */

export const SIGKILL_EXIT_CODE = 137;
const SIGTERMED = 143;
/** containerd's exit code of a process that could not be started. */
const START_FAILED = 128;

/**
 * Implements CreateContainer. Throws containerd's errors: no sandbox, not ready, no image, name in use, no command.
 */
export function createContainer(
  state: FakeRuntimeState,
  request: RequestOf<'CreateContainer'>,
): ContainerRecord {
  const {podSandboxId, config, sandboxConfig} = request;
  const sandbox = state.getSandbox(podSandboxId, `failed to find sandbox id "${podSandboxId}"`);
  if (sandbox.state !== 'SANDBOX_READY')
    throw unknownError(`sandbox container "${sandbox.id}" is not running`);
  if (config?.metadata == null) throw unknownError('container config must include metadata');
  if (sandboxConfig?.metadata == null) throw unknownError('pod sandbox config must include metadata');
  reserveName(state, sandbox, config.metadata);
  const image = imageFor(state, config);
  const id = state.newId();
  const argv = commandLine(config, image);
  const fault = findOciSpecError(state, {config, sandbox, argv});
  if (fault !== undefined) throw unknownError(`failed to generate container "${id}" spec: ${fault}`);
  const container: ContainerRecord = {
    id,
    sandboxId: sandbox.id,
    config,
    imageId: image.id,
    logPath: logPathOf(sandboxConfig.logDirectory, config.logPath),
    createdAt: state.uniqueNowNanos(),
    behaviour: state.resolveBehaviour(config, argv),
    ended: new AbortController(),
    state: 'CONTAINER_CREATED',
    startedAt: 0n,
    finishedAt: 0n,
    exitCode: 0,
    reason: '',
    message: '',
    resources: config.linux?.resources ?? null,
  };
  state.containers.set(id, container);
  publishContainerEvent(state, 'CONTAINER_CREATED_EVENT', id, sandbox);
  return container;
}

function logPathOf(directory: string, path: string): string {
  return directory === '' || path === '' ? '' : join(directory, path);
}

function reserveName(
  state: FakeRuntimeState,
  sandbox: SandboxRecord,
  metadata: Message<'ContainerMetadata'>,
): void {
  for (const other of state.containersOf(sandbox.id)) {
    if (other.config.metadata?.name !== metadata.name || other.config.metadata.attempt !== metadata.attempt)
      continue;
    const pod = sandbox.config.metadata;
    const name = [metadata.name, pod?.name, pod?.namespace, pod?.uid, metadata.attempt].join('_');
    throw unknownError(
      `failed to reserve container name "${name}"; check if another CreateContainer request is in progress: name "${name}" is reserved for "${other.id}"`,
    );
  }
}

function imageFor(state: FakeRuntimeState, config: ContainerRecord['config']): ImageRecord {
  const name = config.image?.image ?? '';
  const image = resolveImage(state, name);
  if (image === undefined) throw notFoundError(`failed to resolve image "${name}"`);
  return image;
}

/**
 * Returns the command line: a command replaces the image's entrypoint and command, and arguments replace only its
 * command.
 */
function commandLine(
  {command, args}: ContainerRecord['config'],
  {entrypoint, cmd}: ImageRecord,
): readonly string[] {
  if (command.length > 0) return [...command, ...args];
  return [...entrypoint, ...(args.length > 0 ? args : cmd)];
}

/** Implements StartContainer. A process without a run time has exited when it returns. */
export function startContainer(state: FakeRuntimeState, id: string): void {
  const container = state.getContainer(id, containerNotFoundMessage(id));
  if (container.state !== 'CONTAINER_CREATED')
    throw unknownError(
      `failed to set starting state for container "${container.id}": container is in ${container.state} state`,
    );
  const sandbox = state.getSandbox(container.sandboxId, `sandbox "${container.sandboxId}" not found`);
  if (sandbox.state !== 'SANDBOX_READY')
    throw unknownError(`sandbox container "${sandbox.id}" is not running`);
  const {startError, exitCode, runForMs = 0, oomKilled, stdout = '', stderr = ''} = container.behaviour;
  createLog(container);
  if (startError !== undefined) throw startFailure(state, container, startError);
  container.state = 'CONTAINER_RUNNING';
  container.startedAt = state.uniqueNowNanos();
  if (container.logPath !== '') {
    appendLogLines(container.logPath, 'stdout', stdout, container.startedAt);
    appendLogLines(container.logPath, 'stderr', stderr, container.startedAt);
  }
  writeFiles(container);
  publishContainerEvent(state, 'CONTAINER_STARTED_EVENT', container.id, sandbox);
  void keepWriting(state, container);
  if (exitCode === undefined) return;
  const exit = {exitCode, reason: oomKilled === true ? 'OOMKilled' : exitReason(exitCode)};
  if (runForMs === 0) exitContainer(state, container, exit);
  else void exitLater(state, container, runForMs, exit);
}

function writeFiles({behaviour, config}: ContainerRecord): void {
  for (const [path, text] of Object.entries(behaviour.files ?? {})) {
    const mount = config.mounts.find(({containerPath}) => containerPath === path);
    if (mount === undefined) throw unknownError(`nothing is mounted at ${path}`);
    writeFileSync(mount.hostPath, text);
  }
}

/** Repeats the output to stdout until the container exits or the fake is disposed of. Never rejects. */
async function keepWriting(
  state: FakeRuntimeState,
  {behaviour, logPath, ended}: ContainerRecord,
): Promise<void> {
  const {repeatsEveryMs, stdout = ''} = behaviour;
  if (repeatsEveryMs === undefined || logPath === '') return;
  const either = AbortSignal.any([ended.signal, state.disposed.signal]);
  const isOn = async (): Promise<boolean> => {
    await state.clock.sleep(repeatsEveryMs, either).catch(() => undefined); // the container has exited
    return !either.aborted;
  };
  while (await isOn()) appendLogLines(logPath, 'stdout', stdout, state.uniqueNowNanos());
}

function createLog({logPath}: ContainerRecord): void {
  if (logPath === '') return;
  try {
    createLogFile(logPath);
  } catch {
    throw unknownError(
      `failed to create containerd task: failed to create container loggers: failed to create and open log file: open ${logPath}: no such file or directory`,
    );
  }
}

function startFailure(state: FakeRuntimeState, container: ContainerRecord, startError: string): Error {
  container.state = 'CONTAINER_EXITED';
  container.finishedAt = state.uniqueNowNanos();
  container.exitCode = START_FAILED;
  container.reason = 'StartError';
  container.message = `failed to create containerd task: failed to create shim task: ${startError}`;
  return unknownError(container.message);
}

/** Returns a signal that aborts when the container exits or the fake is disposed of. */
async function exitLater(
  state: FakeRuntimeState,
  container: ContainerRecord,
  ms: number,
  exit: ContainerExit,
): Promise<void> {
  const either = AbortSignal.any([container.ended.signal, state.disposed.signal]);
  await state.clock.sleep(ms, either).then(
    () => {
      exitContainer(state, container, exit);
    },
    () => undefined, // stopped, removed or disposed of first
  );
}

export interface ContainerExit {
  readonly exitCode: number;
  readonly reason?: string;
  readonly message?: string;
}

/** Makes the container's process exit. Has no effect if it is not running. */
export function exitContainer(
  state: FakeRuntimeState,
  container: ContainerRecord,
  exit: ContainerExit,
): void {
  if (container.state !== 'CONTAINER_RUNNING') return;
  container.state = 'CONTAINER_EXITED';
  container.finishedAt = state.uniqueNowNanos();
  container.exitCode = exit.exitCode;
  container.reason = exit.reason ?? exitReason(exit.exitCode);
  container.message = exit.message ?? '';
  container.ended.abort();
  publishContainerEvent(
    state,
    'CONTAINER_STOPPED_EVENT',
    container.id,
    state.sandboxes.get(container.sandboxId),
  );
}

/** Sends the stop signal, and kills after `timeoutSeconds`, or immediately if that is 0. */
export async function stopContainer(
  state: FakeRuntimeState,
  container: ContainerRecord,
  timeoutSeconds: number,
  signal: AbortSignal = state.disposed.signal,
): Promise<void> {
  if (container.state === 'CONTAINER_UNKNOWN') container.state = 'CONTAINER_RUNNING';
  if (container.state !== 'CONTAINER_RUNNING') return;
  const {ignoresStop = false, onStop: {exitCode = SIGTERMED, afterMs = 0, stdout} = {}} = container.behaviour;
  const graceMs = timeoutSeconds * 1000;
  const endsMs = ignoresStop ? Infinity : afterMs;
  const heeds = endsMs < graceMs;
  await ended(state, container, Math.min(endsMs, graceMs), signal);
  if (heeds && stdout !== undefined)
    appendLogLines(container.logPath, 'stdout', stdout, state.uniqueNowNanos());
  exitContainer(state, container, {exitCode: heeds ? exitCode : SIGKILL_EXIT_CODE});
}

/** Waits for a time or the exit of the container. */
async function ended(
  state: FakeRuntimeState,
  container: ContainerRecord,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  if (ms === 0) return;
  const either = AbortSignal.any([signal, container.ended.signal]);
  try {
    await state.clock.sleep(ms, either);
  } catch (error) {
    if (!container.ended.signal.aborted) throw error;
  }
}

/** Removes a container, by force if it is running, as the CRI requires. */
export async function removeContainer(state: FakeRuntimeState, container: ContainerRecord): Promise<void> {
  await stopContainer(state, container, 0);
  state.containers.delete(container.id);
  publishContainerEvent(
    state,
    'CONTAINER_DELETED_EVENT',
    container.id,
    state.sandboxes.get(container.sandboxId),
  );
}

export const containerNotFoundMessage = (id: string): string =>
  `an error occurred when try to find container "${id}"`;

/** Publishes an event of GetContainerEvents. Events of a sandbox have its ID as the container's. */
export function publishContainerEvent(
  state: FakeRuntimeState,
  containerEventType: Message<'ContainerEventResponse'>['containerEventType'],
  id: string,
  sandbox: SandboxRecord | undefined,
): void {
  if (!state.events.hasRecipient) return;
  const gone = sandbox === undefined || !state.sandboxes.has(sandbox.id);
  state.events.publish({
    containerId: id,
    containerEventType,
    createdAt: String(state.uniqueNowNanos()),
    podSandboxStatus: gone ? null : toSandboxStatus(sandbox),
    containersStatuses: gone
      ? []
      : state.containersOf(sandbox.id).map((each) => toContainerStatus(state, each)),
  });
}

/** Returns the status of a sandbox for PodSandboxStatus. */
export function toSandboxStatus(sandbox: SandboxRecord): DeepPartial<Message<'PodSandboxStatus'>> {
  const {id, config, state, createdAt, ips, runtimeHandler} = sandbox;
  const [ip = '', ...additional] = ips;
  return {
    id,
    metadata: config.metadata,
    state,
    createdAt: String(createdAt),
    network: {ip, additionalIps: additional.map((each) => ({ip: each}))},
    linux: {namespaces: {options: config.linux?.securityContext?.namespaceOptions ?? null}},
    labels: config.labels,
    annotations: config.annotations,
    runtimeHandler,
  };
}

/** Returns the status of a container for ContainerStatus: the image by its tag, the image reference by its digest. */
export function toContainerStatus(
  state: FakeRuntimeState,
  container: ContainerRecord,
): DeepPartial<Message<'ContainerStatus'>> {
  const {id, config, imageId, createdAt, startedAt, finishedAt, exitCode, reason, message, logPath} =
    container;
  const image = state.images.get(imageId);
  return {
    id,
    metadata: config.metadata,
    state: container.state,
    createdAt: String(createdAt),
    startedAt: String(startedAt),
    finishedAt: String(finishedAt),
    exitCode,
    image: image?.repoTags[0] === undefined ? config.image : {image: image.repoTags[0]},
    ...state.profile.shownImage(image, imageId),
    reason,
    message,
    labels: config.labels,
    annotations: config.annotations,
    mounts: config.mounts,
    logPath,
    resources: container.resources === null ? null : {linux: container.resources},
    user: {linux: {uid: '0', gid: '0', supplementalGroups: groupsOf(state, config)}},
    stopSignal: config.stopSignal === 'SIGNAL_RUNTIME_DEFAULT' ? 'SIGNAL_SIGTERM' : config.stopSignal,
  };
}

/** Returns the groups of the image's user and those of the container. */
function groupsOf(
  {options: {supplementalGroups = ['0', '10']}}: FakeRuntimeState,
  {linux}: ContainerRecord['config'],
): readonly string[] {
  return [...supplementalGroups, ...(linux?.securityContext?.supplementalGroups ?? [])];
}
