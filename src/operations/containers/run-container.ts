import {messageOf} from '../../base/errors.js';
import type {
  Connection,
  ContainerConfig,
  ContainerId,
  Init,
  PodSandboxConfig,
  PodSandboxId,
  RuntimeService,
} from '../../cri/index.js';
import {pullImage, type PullOptions} from '../images/pull-image.js';
import {withContext} from '../with-context.js';

type Services = Pick<Connection, 'runtime' | 'images'>;

/** Observer of image pulls. */
export interface PullObserver {
  /** Called before each pull. `mountedAt` is the path of a mounted image in the container. */
  readonly onPull?: ((image: string, mountedAt?: string) => void) | undefined;
}

/** Options of createContainer. */
export interface CreateContainerOptions {
  readonly config: Init<ContainerConfig>;
  readonly sandboxConfig: Init<PodSandboxConfig>;
  /** Options of the pulls; undefined to use the local images. */
  readonly pull: (Pick<PullOptions, 'authFor' | 'timeoutMs'> & PullObserver) | undefined;
}

/**
 * Creates a container in a sandbox, after pulling its image and the images it mounts if `pull` is set. Rejects with
 * CriError without context, which the caller adds.
 */
export async function createContainer(
  services: Services,
  podSandboxId: PodSandboxId,
  plan: CreateContainerOptions,
  signal: AbortSignal,
): Promise<ContainerId> {
  await pullImages(services, plan, signal);
  const {config, sandboxConfig} = plan;
  const request = {podSandboxId, config, sandboxConfig};
  return (await services.runtime.createContainer(request, {signal})).containerId;
}

async function pullImages(
  {images}: Services,
  plan: CreateContainerOptions,
  signal: AbortSignal,
): Promise<void> {
  const {config, sandboxConfig, pull} = plan;
  if (pull === undefined) return;
  const {onPull, ...pullOptions} = pull;
  const main = config.image?.image ?? '';
  const mounted = mountedImages(config);
  onPull?.(main);
  for (const {image, path} of mounted) onPull?.(image, path);
  const annotations = config.image?.annotations ?? {};
  for (const name of new Set([main, ...mounted.map(({image}) => image)]))
    await pullImage(images, name, {...pullOptions, annotations, sandboxConfig, signal});
}

function mountedImages({mounts = []}: CreateContainerOptions['config']) {
  return mounts
    .map(({image, containerPath = ''}) => ({image: image?.image ?? '', path: containerPath}))
    .filter(({image}) => image !== '');
}

/** A running container and its sandbox. */
export interface RunningContainer {
  readonly podSandboxId: PodSandboxId;
  readonly containerId: ContainerId;
}

/** Options of runContainer. */
export interface RunContainerOptions extends CreateContainerOptions {
  /** Called before the container is created in the running sandbox. */
  readonly beforeCreate: (() => Promise<unknown>) | undefined;
  /** Empty for the runtime's default handler. */
  readonly runtimeHandler: string;
  /** Called if the sandbox cannot be removed after a failure. */
  readonly onLeftover: (message: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Runs a container in a new sandbox. As crictl, pulls images when the sandbox runs, so that a wrong runtime handler
 * costs no pull. Removes the sandbox with its containers if a step fails or is aborted, and
 * rejects with that error.
 */
export async function runContainer(services: Services, plan: RunContainerOptions): Promise<RunningContainer> {
  const {sandboxConfig, runtimeHandler, signal} = plan;
  const {runtime} = services;
  const pending = runtime.runPodSandbox({config: sandboxConfig, runtimeHandler}, {signal});
  const {podSandboxId} = await withContext('run pod sandbox', pending);
  try {
    const containerId = await withContext('creating container failed', create(services, podSandboxId, plan));
    await withContext(
      `starting the container "${containerId}"`,
      runtime.startContainer({containerId}, {signal}),
    );
    return {podSandboxId, containerId};
  } catch (error) {
    await discard(runtime, podSandboxId, plan.onLeftover);
    throw error;
  }
}

async function create(
  services: Services,
  podSandboxId: PodSandboxId,
  plan: RunContainerOptions,
): Promise<ContainerId> {
  await plan.beforeCreate?.();
  return await createContainer(services, podSandboxId, plan, plan.signal);
}

/** Removes a sandbox. Takes no signal, since the clean-up must run after Ctrl-C too. */
async function discard(
  runtime: RuntimeService,
  podSandboxId: PodSandboxId,
  onLeftover: RunContainerOptions['onLeftover'],
): Promise<void> {
  try {
    await runtime.stopPodSandbox({podSandboxId});
    await runtime.removePodSandbox({podSandboxId});
  } catch (error) {
    onLeftover(`cannot remove pod sandbox "${podSandboxId}": ${messageOf(error)}`);
  }
}
