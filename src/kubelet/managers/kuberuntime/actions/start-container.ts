import type {Container, EphemeralContainer, Pod} from '../../../../api/types/v1-pod.js';
import {messageOf} from '../../../../base/errors.js';
import {
  CriError,
  isNotFound,
  type ContainerId,
  type Init,
  type PodSandboxConfig,
  type PodSandboxId,
} from '../../../../cri/index.js';
import {createContainerEventRecorder, type ContainerKind} from '../../../contract/pod-event.js';
import type {IdMapping, MountedVolumes} from '../../../contract/pod-filesystem.js';
import {
  findContainerStatus,
  type RuntimeContainerStatus,
  type RuntimePodStatus,
} from '../../../contract/runtime-pod-status.js';
import type {SyncFailure} from '../../../contract/sync-result.js';
import {podRef} from '../../../contract/pod-ref.js';
import {findPullSecrets} from '../../images/credentials/pull-secrets.js';
import {containerSecretValuesOf} from '../../redaction/pod-redactor.js';
import {ContainerConfigError} from '../config/config-errors.js';
import {generateContainerConfig, type ImageUser} from '../config/container-config.js';
import {envFileValues, readEnvFiles} from '../config/env/env-files.js';
import type {PulledImageVolumes} from './pull-image-volumes.js';
import {killContainer, createKillContext} from './kill-container.js';
import {removeContainer} from './remove-container.js';
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
}

/** The container to start. */
interface StartTarget {
  readonly container: EphemeralContainer;
  readonly kind: ContainerKind;
}

/** Result of an attempt to start a container. An attempt during which the sandbox ended does not count. */
export type StartOutcome =
  | {readonly kind: 'started' | 'sandbox-ended'}
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
 * runtime refused because the sandbox has ended, which the kubelet counts as a failed start, removes the created
 * container and emits no event. Rejects only with the signal's reason.
 */
export async function startContainer(
  context: SyncContext,
  environment: StartEnvironment,
  target: StartTarget,
  signal: AbortSignal,
): Promise<StartOutcome> {
  const {name} = target.container;
  const events = createContainerEventRecorder(context.events, environment.pod, target.kind, name);
  let created: CreatedContainer | undefined;
  try {
    const request = {
      pod: environment.pod,
      image: target.container.image,
      pullPolicy: target.container.imagePullPolicy,
      events,
      sandboxConfig: environment.sandboxConfig,
      runtimeHandler: environment.runtimeHandler,
      pullSecrets: findPullSecrets(environment.pod, context.objects),
      service: context.services.images,
    };
    const image = await context.images.ensureImageExists(request, signal);
    if (image.kind === 'failed') throw new StartFailure(image.failure);
    signal.throwIfAborted();
    created = await createContainer(context, environment, target.container, image.imageRef);
    const {id} = created;
    events.normal('Created', 'Container created');
    await attempt('RunContainerError', async () =>
      context.services.runtime.startContainer({containerId: id}),
    );
    events.normal('Started', 'Container started');
    const failure = await runPostStartHook(context, environment, {...target, id}, signal);
    return failure === undefined ? {kind: 'started'} : {kind: 'failed', failure};
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    const {failure} = error;
    if (RUNTIME_REASONS.has(failure.reason) && (await hasSandboxEnded(context, environment))) {
      if (created !== undefined) await removeContainer(context, environment.pod, {...created, name});
      return {kind: 'sandbox-ended'};
    }
    const text = eventText(failure);
    // Without the container ID the events of a crashing container are equal and can be aggregated.
    events.warning('Failed', `Error: ${created === undefined ? text : text.replaceAll(created.id, name)}`);
    return {kind: 'failed', failure};
  }
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

/** A created container, with the restart count in its configuration. */
type CreatedContainer = Pick<RuntimeContainerStatus, 'id' | 'restartCount'>;

async function createContainer(
  context: SyncContext,
  environment: StartEnvironment,
  container: EphemeralContainer,
  imageRef: Parameters<typeof generateContainerConfig>[0]['imageRef'],
): Promise<CreatedContainer> {
  const {pod, status, podIps, volumes, imageVolumes, runtimeHandler, userNamespace} = environment;
  const {config, restartCount} = await attempt('CreateContainerConfigError', async () => {
    const targetId = findTargetId(container, status);
    const count = await nextRestartCount(context, environment, container.name);
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
    // A Secret may have changed meanwhile.
    maskValues();
    const generated = generateContainerConfig({
      ...input,
      restartCount: count,
      imageRef,
      imageUser,
      imageVolumes: imageVolumes.images,
      runtimeHandler,
      userNamespace,
      targetId,
      ...files,
    });
    return {config: generated, restartCount: count};
  });
  await context.actuated.setContainer(container.name, container.resources ?? {});
  const {containerId} = await attempt('CreateContainerError', async () =>
    context.services.runtime.createContainer({
      podSandboxId: environment.sandboxId,
      config,
      sandboxConfig: environment.sandboxConfig,
    }),
  );
  return {id: containerId, restartCount};
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
