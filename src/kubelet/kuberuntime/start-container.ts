import type {Container, Pod} from '../../api/v1.js';
import {messageOf} from '../../base/errors.js';
import {
  CriError,
  type ContainerId,
  type Init,
  type PodSandboxConfig,
  type PodSandboxId,
} from '../../cri/index.js';
import {containerEvents, type ContainerKind} from '../container/events.js';
import type {IdMapping, MountedVolumes} from '../container/pod-filesystem.js';
import {findContainerStatus, type RuntimePodStatus} from '../container/pod-status.js';
import type {SyncFailure} from '../container/sync-result.js';
import {podRef} from '../container/pod-ref.js';
import {findPullSecrets} from '../images/credentials/pull-secrets.js';
import {containerSecretTexts} from '../references/secret-texts.js';
import {containerConfig, type ImageUser} from './container-config.js';
import {envFileTexts, readEnvFiles} from './env-files.js';
import type {PulledImageVolumes} from './image-volumes.js';
import {killContainer, killContext} from './kill-container.js';
import {subPathMounts} from './sub-paths.js';
import type {SyncContext} from './sync-context.js';

/** The sandbox that containers are started in, and what they share. */
export interface StartEnvironment {
  readonly pod: Pod;
  readonly status: RuntimePodStatus;
  readonly sandboxId: PodSandboxId;
  readonly sandboxConfig: Init<PodSandboxConfig>;
  /** What the runtime says, also of a pod in the host's network. */
  readonly sandboxIps: readonly string[];
  readonly podIps: readonly string[];
  readonly volumes: MountedVolumes;
  readonly imageVolumes: PulledImageVolumes;
  readonly runtimeHandler: string;
  /** The pod's own ids; undefined when its users are the node's. */
  readonly userNamespace: IdMapping | undefined;
}

/** The container to start. */
interface StartTarget {
  readonly container: Container;
  readonly kind: ContainerKind;
}

/** A failed step of startContainer: becomes the result's failure and the container's waiting reason. */
class StartFailure extends Error {
  readonly failure: SyncFailure;

  constructor(failure: SyncFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * Gets the image, creates the container, starts it and runs its postStart hook (kuberuntime startContainer). Gives
 * what failed, or undefined. Only aborting the signal rejects.
 */
export async function startContainer(
  context: SyncContext,
  environment: StartEnvironment,
  target: StartTarget,
  signal: AbortSignal,
): Promise<SyncFailure | undefined> {
  const {name} = target.container;
  const events = containerEvents(context.events, environment.pod, target.kind, name);
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
    return await postStart(context, environment, {...target, id}, signal);
  } catch (error) {
    if (!(error instanceof StartFailure)) throw error;
    // A back-off has had its own event; the kubelet says of failures what the runtime said.
    const text = eventText(error.failure);
    // Events of containers that crash again and again are to be the same: they name no instance.
    events.warning('Failed', `Error: ${id === undefined ? text : text.replaceAll(id, name)}`);
    return error.failure;
  }
}

/** Runs the container's postStart hook, if it has one; a container whose hook fails is killed. */
async function postStart(
  context: SyncContext,
  {pod, sandboxIps}: StartEnvironment,
  {container, kind, id}: StartTarget & {readonly id: ContainerId},
  signal: AbortSignal,
): Promise<SyncFailure | undefined> {
  const handler = container.lifecycle?.postStart;
  if (handler === undefined) return undefined;
  const message = await context.runHook({pod, container, containerId: id, handler, sandboxIps}, signal);
  if (message === undefined) return undefined;
  // The message may hold secrets of the server, and events are for everybody.
  containerEvents(context.events, pod, kind, container.name).warning(
    'FailedPostStartHook',
    'PostStartHook failed',
  );
  // One that can't be killed is found running by the next sync, and left.
  await killContainer(killContext(context, sandboxIps, signal), pod, {
    id,
    name: container.name,
    message: 'FailedPostStartHook',
  });
  return {reason: 'PostStartHookError', message};
}

/** Image failures are named by their reason; the others by the runtime's own words. */
function eventText({reason, message}: SyncFailure): string {
  return IN_THE_RUNTIMES_WORDS.has(reason) ? message : reason;
}

const IN_THE_RUNTIMES_WORDS: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

async function createContainer(
  context: SyncContext,
  environment: StartEnvironment,
  container: Container,
  imageRef: Parameters<typeof containerConfig>[0]['imageRef'],
): Promise<ContainerId> {
  const {pod, podIps, volumes, imageVolumes, runtimeHandler, userNamespace} = environment;
  const config = await attempt('CreateContainerConfigError', async () => {
    const restartCount = await nextRestartCount(context, environment, container.name);
    const imageUser = await lookUpUser(context, pod, container);
    const {node, envObjects: objects} = context;
    const envFiles = await readEnvFiles(context.files, container, volumes);
    const secrets = containerSecretTexts(container, podRef(pod).namespace, context.objects);
    context.secrets.start(container.name, [...secrets, ...envFileTexts(envFiles)]);
    const known = {pod, container, podIps, volumes, node, objects, envFiles};
    const subPaths = subPathMounts(known);
    const files = await context.files.prepareContainer({pod, container, podIps, subPaths});
    return containerConfig({
      ...known,
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
    // The kubelet shows the runtime's own words, without gRPC's around them.
    const message = cause instanceof CriError ? cause.details : messageOf(cause);
    throw new StartFailure({reason, message, cause});
  }
}

/** One more than the newest instance has; without one what the log directory tells (§ restart count). */
async function nextRestartCount(
  context: SyncContext,
  {pod, status}: StartEnvironment,
  name: string,
): Promise<number> {
  const newest = findContainerStatus(status, name);
  return newest === undefined ? await context.files.nextLogAttempt(pod, name) : newest.restartCount + 1;
}

/** The image's user, asked for by the name that the Pod uses (getImageUser). */
async function lookUpUser(context: SyncContext, pod: Pod, container: Container): Promise<ImageUser> {
  const {image} = await context.services.images.imageStatus({
    image: {image: container.image, annotations: pod.metadata.annotations ?? {}},
  });
  if (image?.uid !== undefined) return {uid: image.uid.value};
  return image === undefined || image.username === '' ? {uid: 0n} : {username: image.username};
}
