import type {Container, EphemeralContainer, Pod} from '../../../../api/types/v1-pod.js';
import {messageOf, rethrowUnexpected} from '../../../../base/errors.js';
import {
  CriError,
  isNotFound,
  type ContainerId,
  type ImageRef,
  type Init,
  type PodSandboxConfig,
  type PodSandboxId,
} from '../../../../cri/index.js';
import {
  createContainerEventRecorder,
  type ContainerKind,
  type EventRecorder,
} from '../../../contract/pod-event.js';
import type {CreatedContainer, IdMapping, MountedVolumes} from '../../../contract/pod-filesystem.js';
import {findContainerStatus, type RuntimePodStatus} from '../../../contract/runtime-pod-status.js';
import type {SyncFailure} from '../../../contract/sync-result.js';
import {podRef} from '../../../contract/pod-ref.js';
import {withPodLimits} from '../../../resources/resource-amounts.js';
import {findPullSecrets} from '../../images/credentials/pull-secrets.js';
import {containerSecretValuesOf} from '../../redaction/pod-redactor.js';
import type {SandboxDoubt} from '../compute/ending-sandbox.js';
import {ContainerConfigError} from '../config/config-errors.js';
import {generateContainerConfig, type ImageUser} from '../config/container-config.js';
import {envFileValues, readEnvFiles} from '../config/env/env-files.js';
import type {PulledImageVolumes} from './pull-image-volumes.js';
import {killContainer, createKillContext} from './kill-container.js';
import {removeContainer} from './remove-container.js';
import {SandboxEnding, TentativeStart} from './tentative-start.js';
import {computeSubPathMounts} from '../config/sub-path-mounts.js';
import type {SyncContext} from '../sync-context.js';

/** The sandbox that containers start in, and their shared configuration. */
export interface StartEnvironment {
  readonly pod: Pod;
  readonly status: RuntimePodStatus;
  readonly sandboxId: PodSandboxId;
  readonly sandboxConfig: Init<PodSandboxConfig>;
  /** IP addresses that the runtime reports, also for a pod with host network. */
  readonly sandboxIps: readonly string[];
  readonly podIps: readonly string[];
  readonly volumes: MountedVolumes;
  readonly imageVolumes: PulledImageVolumes;
  readonly runtimeHandler: string;
  /** ID mapping of the pod's user namespace; undefined with host users. */
  readonly userNamespace: IdMapping | undefined;
  /** Doubt whether the sandbox stays (see computeSandboxDoubt). */
  readonly doubt: SandboxDoubt | undefined;
}

/** The container to start. */
interface StartTarget {
  readonly container: EphemeralContainer;
  readonly kind: ContainerKind;
}

/**
 * Result of an attempt to start a container. An attempt does not count if the sandbox ended meanwhile, or is about to: then
 * the runtime still reports it as ready.
 */
export type StartOutcome =
  | {readonly kind: 'started' | 'sandbox-ended' | 'sandbox-ending'}
  | {readonly kind: 'failed'; readonly failure: SyncFailure};

/** Failed step of startContainer. Its failure becomes the sync result's and the container's waiting reason. */
class StartFailure extends Error {
  readonly failure: SyncFailure;

  constructor(failure: SyncFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * Ensures the image, creates and starts the container and runs its postStart hook (kuberuntime startContainer). If the
 * sandbox is ending, or the runtime refused because it has ended, which the kubelet counts as a failed start, removes the
 * created container and emits no event about it. Rejects only with the signal's reason, and with SystemError if the kernel
 * cannot be asked for the sandbox's processes.
 */
export async function startContainer(
  context: SyncContext,
  environment: StartEnvironment,
  target: StartTarget,
  signal: AbortSignal,
): Promise<StartOutcome> {
  const {name} = target.container;
  const start = new TentativeStart(context, environment);
  const events = createContainerEventRecorder(start.events, environment.pod, target.kind, name);
  let created: CreatedContainer | undefined;
  try {
    await start.check();
    const imageRef = await ensureImage(context, environment, target.container, {events, signal});
    const container = await configureContainer(context, environment, {...target, imageRef}, signal);
    warnAboutCdi(context, container, events);
    await start.checkWhenVisible(signal);
    created = await createContainer(context, environment, container);
    const {id} = created;
    events.normal('Created', 'Container created');
    await start.check();
    await attempt('RunContainerError', async () =>
      context.services.runtime.startContainer({containerId: id}),
    );
    await start.check();
    events.normal('Started', 'Container started');
    start.confirm();
    await linkLog(context, environment.pod, created);
    const failure = await runPostStartHook(context, environment, {...target, id}, signal);
    return failure === undefined ? {kind: 'started'} : {kind: 'failed', failure};
  } catch (error) {
    const voided = await voidKind(context, environment, error);
    if (voided !== undefined) {
      if (created !== undefined) await removeContainer(context, environment.pod, created);
      return {kind: voided};
    }
    start.confirm();
    if (!(error instanceof StartFailure)) throw error;
    const text = eventText(error.failure);
    // Without the container ID the events of a crashing container are equal and can be aggregated.
    events.warning('Failed', `Error: ${created === undefined ? text : text.replaceAll(created.id, name)}`);
    return {kind: 'failed', failure: error.failure};
  }
}

/** Links the container's log for log collectors. A failure does not fail the start, as in the kubelet. */
async function linkLog(
  {files, onLinkFailed}: SyncContext,
  pod: Pod,
  created: CreatedContainer,
): Promise<void> {
  try {
    await files.linkContainerLog(pod, created);
  } catch (error) {
    rethrowUnexpected(error);
    onLinkFailed(error);
  }
}

/** Returns why an attempt that ended with this error does not count; undefined if it does. */
async function voidKind(
  context: SyncContext,
  environment: StartEnvironment,
  error: unknown,
): Promise<'sandbox-ended' | 'sandbox-ending' | undefined> {
  if (error instanceof SandboxEnding) return 'sandbox-ending';
  const isRefusal = error instanceof StartFailure && RUNTIME_REASONS.has(error.failure.reason);
  return isRefusal && (await hasSandboxEnded(context, environment)) ? 'sandbox-ended' : undefined;
}

/** Ensures that the image is present and returns its reference. */
async function ensureImage(
  {images, objects, services}: SyncContext,
  {pod, sandboxConfig, runtimeHandler}: StartEnvironment,
  {image, imagePullPolicy: pullPolicy}: EphemeralContainer,
  {events, signal}: {readonly events: EventRecorder; readonly signal: AbortSignal},
): Promise<ImageRef> {
  const pullSecrets = findPullSecrets(pod, objects);
  const ensured = await images.ensureImageExists(
    {pod, image, pullPolicy, events, sandboxConfig, runtimeHandler, pullSecrets, service: services.images},
    signal,
  );
  if (ensured.kind === 'failed') throw new StartFailure(ensured.failure);
  signal.throwIfAborted();
  return ensured.imageRef;
}

/** Reasons of failures of CreateContainer and StartContainer. */
const RUNTIME_REASONS: ReadonlySet<string> = new Set(['CreateContainerError', 'RunContainerError']);

/**
 * Reports whether a sandbox that was ready before the sync is not ready or does not exist. Without an answer of the
 * runtime it counts as ready, since the next sync reads its state anyway. A sandbox that the sync created counts as ready
 * too: the failure delays the next one, so that sandboxes that end at once are not replaced in a loop.
 */
async function hasSandboxEnded(
  {services}: SyncContext,
  {sandboxId: podSandboxId, status}: StartEnvironment,
): Promise<boolean> {
  if (!status.sandboxes.some(({id}) => id === podSandboxId)) return false;
  try {
    return (await services.runtime.podSandboxStatus({podSandboxId})).status?.state !== 'SANDBOX_READY';
  } catch (error) {
    rethrowUnexpected(error);
    return isNotFound(error);
  }
}

/** Runs the container's postStart hook, if it has one. Kills the container if the hook fails. */
async function runPostStartHook(
  context: SyncContext,
  {pod, sandboxIps}: StartEnvironment,
  {container, kind, id}: StartTarget & {readonly id: ContainerId},
  signal: AbortSignal,
): Promise<SyncFailure | undefined> {
  const handler = container.lifecycle?.postStart;
  if (handler === undefined) return undefined;
  const message = await context.runHook({pod, container, containerId: id, handler, sandboxIps}, signal);
  if (message === undefined) return undefined;
  // The message may contain secrets of the hook's server, and events are widely readable.
  createContainerEventRecorder(context.events, pod, kind, container.name).warning(
    'FailedPostStartHook',
    'PostStartHook failed',
  );
  // If the kill fails, the next sync finds the container running and leaves it.
  await killContainer(createKillContext(context, sandboxIps, signal), pod, {
    id,
    name: container.name,
    message: 'FailedPostStartHook',
  });
  return {reason: 'PostStartHookError', message};
}

/** Returns the runtime's message for failures of the runtime, and the reason for image failures. */
function eventText({reason, message}: SyncFailure): string {
  return REASONS_WITH_RUNTIME_MESSAGE.has(reason) ? message : reason;
}

const REASONS_WITH_RUNTIME_MESSAGE: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  ...RUNTIME_REASONS,
]);

/** Configuration of a container instance to create. */
interface ConfiguredContainer {
  readonly container: EphemeralContainer;
  readonly config: ReturnType<typeof generateContainerConfig>;
  readonly restartCount: number;
}

/** Prepares the container's files and generates its configuration. */
async function configureContainer(
  context: SyncContext,
  environment: StartEnvironment,
  {container, imageRef}: StartTarget & {readonly imageRef: ImageRef},
  signal: AbortSignal,
): Promise<ConfiguredContainer> {
  const {pod, status, podIps, volumes, imageVolumes, runtimeHandler, userNamespace} = environment;
  return await attempt('CreateContainerConfigError', async () => {
    const targetId = findTargetId(container, status);
    const restartCount = await nextRestartCount(context, environment, container.name);
    const imageUser = await getImageUser(context, pod, container);
    const {node, envObjects: objects} = context;
    const envFiles = await readEnvFiles(context.files, container, volumes);
    const maskValues = (): void => {
      const secrets = containerSecretValuesOf(container, podRef(pod).namespace, context.objects);
      context.secrets.addStartedValues(container.name, [...secrets, ...envFileValues(envFiles)]);
    };
    maskValues();
    const input = {pod, container, podIps, volumes, node, objects, envFiles};
    const subPaths = computeSubPathMounts(input);
    const files = await context.files.prepareContainer({
      ...{pod, container, podIps, subPaths},
      serviceHosts: context.objects.serviceHosts?.(pod),
    });
    const granted = await context.nodeManagers.containerOptions({pod, container, node}, signal);
    // A Secret may have changed meanwhile.
    maskValues();
    const config = generateContainerConfig({
      ...input,
      restartCount,
      imageRef,
      imageUser,
      imageVolumes: imageVolumes.images,
      runtimeHandler,
      userNamespace,
      targetId,
      granted,
      ...files,
    });
    // Each attempt has a new one, so none is created for a container that cannot be configured (kuberuntime makeMounts).
    await context.files.createTerminationLog(files.terminationLogPath);
    return {container, config, restartCount};
  });
}

/** Warns about CDI devices that the runtime ignores: the container starts without them. */
function warnAboutCdi({node}: SyncContext, {config}: ConfiguredContainer, events: EventRecorder): void {
  const names = (config.CDIDevices ?? []).map(({name = ''}) => name).join(', ');
  const {ignoresCdi} = node.runtime;
  if (ignoresCdi === undefined || names === '') return;
  events.warning(
    'CDIDevicesIgnored',
    `${ignoresCdi.runtime} ignores the CDI devices ${names}: ${ignoresCdi.remedy}, and restart it and the kubelet`,
  );
}

async function createContainer(
  context: SyncContext,
  environment: StartEnvironment,
  {container, config, restartCount}: ConfiguredContainer,
): Promise<CreatedContainer> {
  const {resources} = environment.pod.spec;
  await context.actuated.setContainer(container.name, withPodLimits(container.resources, resources));
  const {containerId} = await attempt('CreateContainerError', async () =>
    context.services.runtime.createContainer({
      podSandboxId: environment.sandboxId,
      config,
      sandboxConfig: environment.sandboxConfig,
    }),
  );
  await context.nodeManagers.containerCreated(environment.pod, container, containerId);
  return {id: containerId, name: container.name, restartCount};
}

/**
 * Returns the ID of the container whose processes an ephemeral container shall see; undefined if it names none. Throws
 * ContainerConfigError if that container does not exist (getTargetID).
 */
function findTargetId(
  {targetContainerName = ''}: EphemeralContainer,
  status: RuntimePodStatus,
): ContainerId | undefined {
  if (targetContainerName === '') return undefined;
  const target = findContainerStatus(status, targetContainerName);
  if (target === undefined)
    throw new ContainerConfigError(`unable to find target container ${targetContainerName}`);
  return target.id;
}

async function attempt<T>(reason: SyncFailure['reason'], act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    rethrowUnexpected(cause);
    // The kubelet reports the runtime's message without the gRPC prefix.
    const message = cause instanceof CriError ? cause.details : messageOf(cause);
    throw new StartFailure({reason, message, cause});
  }
}

/**
 * Returns the restart count of the next instance: one more than the newest one's, or derived from the log directory.
 */
async function nextRestartCount(
  context: SyncContext,
  {pod, status}: StartEnvironment,
  name: string,
): Promise<number> {
  const newest = findContainerStatus(status, name);
  return newest === undefined ? await context.files.nextLogAttempt(pod, name) : newest.restartCount + 1;
}

/** Returns the user of the container's image (kuberuntime getImageUser). */
async function getImageUser(context: SyncContext, pod: Pod, container: Container): Promise<ImageUser> {
  const {image} = await context.services.images.imageStatus({
    image: {image: container.image, annotations: pod.metadata.annotations ?? {}},
  });
  if (image?.uid !== undefined) return {uid: image.uid.value};
  return image === undefined || image.username === '' ? {uid: 0n} : {username: image.username};
}
