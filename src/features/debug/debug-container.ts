import {ConfigError, messageOf} from '../../base/errors.js';
import {
  isNotFound,
  type Connection,
  type ContainerId,
  type ContainerStatusResponse,
  type PodSandboxConfig,
  type PodSandboxId,
} from '../../cri/index.js';
import {listAllContainers} from '../../cri/list-all.js';
import {
  debugContainerConfig,
  hasOwnProcesses,
  type DebugContainer,
} from '../../operations/debug/debug-container-config.js';
import {profileLinuxContext, unrestrictedLinuxContext} from '../../operations/debug/debug-profiles.js';
import {ExecFailedError, startFailure} from '../../operations/exec/exec-errors.js';
import {readContainerConfig, readSandboxConfig} from '../../operations/generate/runtime-configs.js';
import {getContainerStatus} from '../../operations/logs/container-log.js';
import {inspectContainer, inspectImage, inspectSandbox} from '../../operations/inspect/inspect-objects.js';
import {actOnTarget} from '../../operations/resolve/target.js';
import {withContext} from '../../operations/with-context.js';
import type {
  DialectContext,
  OutputContext,
  ReportContext,
  ResolvingContext,
  RuntimeContext,
  SettingsContext,
  SignalContext,
} from '../../cli/command/contexts.js';
import {ensureImage} from '../pull/ensure-image.js';
import {prepareRunLogs, removeRunLog} from '../run/run-logs.js';
import {parseContainerSelection, choosePodContainers} from '../containers/select-containers.js';
import {connectMainProcess, isDetached, type MainProcessEnd} from '../sessions/main-process.js';
import type {DebugRequest} from './debug-request.js';

/** Time between the stop signal and SIGKILL after an interruption, in seconds. */
const STOP_SECONDS = 2n;

/** Running container to debug, and its pod. */
interface DebugTarget {
  readonly response: ContainerStatusResponse;
  readonly podSandboxId: PodSandboxId;
  readonly sandbox: PodSandboxConfig;
}

interface CreatedContainer {
  readonly id: ContainerId;
  readonly name: string;
}

/**
 * Runs a container of an image in the pod of another container, whose processes and network it sees, connected to this
 * process until it exits, and removes it. Rejects with KcriError.
 */
export async function debugContainer(
  services: RuntimeContext & DialectContext & OutputContext & ResolvingContext,
  request: DebugRequest,
): Promise<void> {
  const {flags, policy, streams} = request;
  const {image = ''} = flags;
  const connection = await services.connections.default();
  const target = await findTarget(services, connection, request);
  await checkName(services, connection, target, request);
  await ensureImage(services, connection, {image, policy}, flags);
  if (request.profile === 'restricted') await checkImageUser(services, connection, image);
  const container = await createContainer(services, connection, target, request);
  let end: MainProcessEnd | undefined;
  try {
    const logPath = await startContainer(services, connection, container);
    describeSession(services, target, container.name);
    const started = {...container, logPath};
    end = await connectMainProcess(services, connection.runtime, started, {streams, flags});
    services.report.setExitCode(end.exitCode);
  } finally {
    await endDebugContainer(services, connection, container, {end, keeps: flags.keep});
  }
}

async function findTarget(
  services: RuntimeContext & DialectContext & ResolvingContext,
  connection: Connection,
  {ref = '', flags}: DebugRequest,
): Promise<DebugTarget> {
  const {signal} = services;
  const {runtime} = connection;
  const choice = {container: flags.target};
  const selection = await parseContainerSelection([ref], choice, {states: 'all'});
  const [found] = await choosePodContainers(services, connection, selection, choice);
  const {id, shown, response} = await actOnTarget(found, async (foundId, foundRef) => ({
    id: foundId,
    shown: foundRef,
    response: await inspectContainer(runtime, foundId, {verbose: true, signal}),
  }));
  if (response.status?.state !== 'CONTAINER_RUNNING')
    throw new ConfigError(`container "${shown}" is not running`, {
      hint: `debug a copy of its pod: kcri debug ${ref} --copy-to NAME -it -- sh`,
    });
  const [listed] = (await listAllContainers(runtime, {id}, signal)).filter((each) => each.id === id);
  if (listed === undefined) throw new ConfigError(`container "${shown}" no longer exists`);
  const {podSandboxId} = listed;
  const details = await inspectSandbox(runtime, podSandboxId, {verbose: true, signal});
  return {response, podSandboxId, sandbox: readSandboxConfig(details)};
}

async function checkName(
  {signal}: SignalContext,
  {runtime}: Connection,
  {podSandboxId}: DebugTarget,
  {flags: {container: name}}: DebugRequest,
): Promise<void> {
  if (name === undefined) return;
  const containers = await listAllContainers(runtime, {podSandboxId}, signal);
  if (containers.some((each) => each.podSandboxId === podSandboxId && each.metadata?.name === name))
    throw new ConfigError(`the pod already has a container "${name}"`, {hint: 'use another --container'});
}

/** Rejects with ConfigError for an image that runs as root or as a user without a number, as a kubelet does. */
async function checkImageUser({signal}: SignalContext, {images}: Connection, name: string): Promise<void> {
  const {image} = await inspectImage(images, name, {verbose: false, signal});
  if ((image?.uid?.value ?? 0n) !== 0n) return;
  throw new ConfigError(
    `image "${name}" runs as root or a named user, which the profile restricted forbids`,
    {
      hint: 'use an image with the number of another user, or --profile=baseline',
    },
  );
}

/** Creates the container; a privileged one without restrictions instead if the sandbox does not permit it. */
async function createContainer(
  services: ReportContext & SettingsContext & SignalContext,
  {runtime}: Connection,
  {response, podSandboxId, sandbox}: DebugTarget,
  request: DebugRequest,
): Promise<CreatedContainer> {
  const {flags, words, environment, profile, streams, newName} = request;
  const {report, settings, signal} = services;
  const name = flags.container ?? newName;
  if (response.status === undefined) throw new Error('the status of the target is checked before');
  const logDirectory = await prepareRunLogs(settings.rootDir);
  const uid = sandbox.metadata?.uid ?? '';
  const debug: DebugContainer = {
    name,
    image: flags.image ?? '',
    words,
    environment,
    securityContext: profileLinuxContext(profile),
    stdin: streams.stdin,
    tty: streams.tty,
    logName: `debug_${uid.replaceAll('/', '')}_${newName}.log`,
    target: response.status,
    sandbox,
  };
  const create = async (container: DebugContainer): Promise<ContainerId> => {
    const config = debugContainerConfig(container);
    const created = runtime.createContainer(
      {podSandboxId, config, sandboxConfig: {...sandbox, logDirectory}},
      {signal},
    );
    return (await withContext('creating the debug container', created)).containerId;
  };
  const id = await create(debug).catch(async (error: unknown) => {
    if (!isPrivilegeRefusal(error)) throw error;
    report.info(
      'kcri: note: the pod does not permit privileged containers: the debug container has all capabilities, but no devices',
    );
    return await create({...debug, securityContext: unrestrictedLinuxContext()});
  });
  return {id, name};
}

/** Reports whether the runtime rejected a privileged container in a sandbox that is not (containerd). */
function isPrivilegeRefusal(error: unknown): boolean {
  return error instanceof Error && error.message.includes('no privileged container allowed in sandbox');
}

/** Starts the container and returns the path of its log, which the runtime chooses. */
async function startContainer(
  {signal}: SignalContext,
  {runtime}: Connection,
  {id: containerId}: CreatedContainer,
): Promise<string> {
  const starting = runtime.startContainer({containerId}, {signal});
  await withContext('starting the debug container', starting).catch((error: unknown) => {
    const failure = error instanceof Error ? startFailure(error.message) : undefined;
    throw failure === undefined ? error : new ExecFailedError((error as Error).message);
  });
  return (await getContainerStatus(runtime, containerId, signal))?.logPath ?? '';
}

function describeSession({report}: ReportContext, {response, sandbox}: DebugTarget, name: string): void {
  const target = response.status?.metadata?.name ?? '';
  const {namespace = '', name: pod = ''} = sandbox.metadata ?? {};
  const config = readContainerConfig(response, () => undefined);
  const files = hasOwnProcesses(config, sandbox) ? `; the files of "${target}" are in /proc/1/root` : '';
  report.info(`kcri: note: debug container "${name}" in pod "${namespace}/${pod}"${files}`);
}

/** Stops and removes the container, unless the user detached from it or keeps it. Failures are warnings. */
async function endDebugContainer(
  {report}: ReportContext,
  {runtime}: Connection,
  {id: containerId, name}: CreatedContainer,
  {end, keeps}: {readonly end: MainProcessEnd | undefined; readonly keeps: boolean},
): Promise<void> {
  if (isDetached(end)) {
    report.info(
      `kcri: "${name}" keeps running; remove it with "kcri rm --force ${containerId.slice(0, 13)}"`,
    );
    return;
  }
  try {
    if (end?.kind !== 'exited') await runtime.stopContainer({containerId, timeout: STOP_SECONDS});
    if (!keeps) await removeContainer(runtime, containerId);
  } catch (error) {
    if (isNotFound(error)) return;
    report.warn(`cannot remove the debug container "${name}": ${messageOf(error)}`);
  }
}

async function removeContainer(runtime: Connection['runtime'], containerId: ContainerId): Promise<void> {
  const {status} = await runtime.containerStatus({containerId});
  await runtime.removeContainer({containerId});
  const logPath = status?.logPath ?? '';
  if (logPath !== '') await removeRunLog(logPath);
}
