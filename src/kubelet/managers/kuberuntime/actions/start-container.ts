import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import {messageOf} from '../../../../base/errors.js';
import {
  CriError,
  type ContainerId,
  type Init,
  type PodSandboxConfig,
  type PodSandboxId,
} from '../../../../cri/index.js';
import {createContainerEventRecorder, type ContainerKind} from '../../../contract/pod-event.js';
import type {IdMapping, MountedVolumes} from '../../../contract/pod-filesystem.js';
import {findContainerStatus, type RuntimePodStatus} from '../../../contract/runtime-pod-status.js';
import type {SyncFailure} from '../../../contract/sync-result.js';
import {podRef} from '../../../contract/pod-ref.js';
import {findPullSecrets} from '../../images/credentials/pull-secrets.js';
import {containerSecretValuesOf} from '../../redaction/pod-redactor.js';
import {generateContainerConfig, type ImageUser} from '../config/container-config.js';
import {envFileValues, readEnvFiles} from '../config/env/env-files.js';
import type {PulledImageVolumes} from './pull-image-volumes.js';
import {killContainer, createKillContext} from './kill-container.js';
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
  readonly container: Container;
  readonly kind: ContainerKind;
}

/** Failed step of startContainer. Its failure becomes the sync result's and the container's waiting reason. */
class StartFailure extends Error {
  readonly failure: SyncFailure;

  constructor(failure: SyncFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * Ensures the image, creates and starts the container and runs its postStart hook (kuberuntime startContainer). Returns
 * the failure, if any. Rejects only with the signal's reason.
 */
export async function startContainer(
  context: SyncContext,
  environment: StartEnvironment,
  target: StartTarget,
  signal: AbortSignal,
): Promise<SyncFailure | undefined> {
  const {name} = target.container;
  const events = createContainerEventRecorder(context.events, environment.pod, target.kind, name);
  let id: ContainerId | undefined;
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
    const created = await createContainer(context, environment, target.container, image.imageRef);
    id = created;
    events.normal('Created', 'Container created');
    await attempt('RunContainerError', async () =>
      context.services.runtime.startContainer({containerId: created}),
    );
    events.normal('Started', 'Container started');
    return await runPostStartHook(context, environment, {...target, id}, signal);
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    const text = eventText(error.failure);
    // Without the container ID the events of a crashing container are equal and can be aggregated.
    events.warning('Failed', `Error: ${id === undefined ? text : text.replaceAll(id, name)}`);
    return error.failure;
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
  'CreateContainerError',
  'RunContainerError',
]);

async function createContainer(
  context: SyncContext,
  environment: StartEnvironment,
  container: Container,
  imageRef: Parameters<typeof generateContainerConfig>[0]['imageRef'],
): Promise<ContainerId> {
  const {pod, podIps, volumes, imageVolumes, runtimeHandler, userNamespace} = environment;
  const config = await attempt('CreateContainerConfigError', async () => {
    const restartCount = await nextRestartCount(context, environment, container.name);
    const imageUser = await getImageUser(context, pod, container);
    const {node, envObjects: objects} = context;
    const envFiles = await readEnvFiles(context.files, container, volumes);
    const secrets = containerSecretValuesOf(container, podRef(pod).namespace, context.objects);
    context.secrets.addStartedValues(container.name, [...secrets, ...envFileValues(envFiles)]);
    const input = {pod, container, podIps, volumes, node, objects, envFiles};
    const subPaths = computeSubPathMounts(input);
    const files = await context.files.prepareContainer({pod, container, podIps, subPaths});
    return generateContainerConfig({
      ...input,
      restartCount,
      imageRef,
      imageUser,
      imageVolumes: imageVolumes.images,
      runtimeHandler,
      userNamespace,
      ...files,
    });
  });
  await context.actuated.setContainer(container.name, container.resources ?? {});
  const {containerId} = await attempt('CreateContainerError', async () =>
    context.services.runtime.createContainer({
      podSandboxId: environment.sandboxId,
      config,
      sandboxConfig: environment.sandboxConfig,
    }),
  );
  return containerId;
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
