import {messageOf} from '../base/errors.js';
import type {
  Connection,
  ContainerConfig,
  ContainerId,
  Init,
  PodSandboxConfig,
  PodSandboxId,
  RuntimeService,
} from '../cri/index.js';
import {pullImage, type PullOptions} from './pull.js';
import {withContext} from './with-context.js';

type Services = Pick<Connection, 'runtime' | 'images'>;

/** Told of each image that is going to be pulled; one that is mounted comes with its path in the container. */
export interface PullListener {
  readonly onPull?: ((image: string, mountedAt?: string) => void) | undefined;
}

/** What a container is made of. */
export interface ContainerPlan {
  readonly config: Init<ContainerConfig>;
  readonly sandboxConfig: Init<PodSandboxConfig>;
  /** Undefined: use the images that are there. */
  readonly pull: (Pick<PullOptions, 'authFor' | 'timeoutMs'> & PullListener) | undefined;
}

/**
 * Creates a container in a sandbox, after pulling its image and the images it mounts if that is wanted. What fails is
 * the caller's to say.
 */
export async function createContainer(
  services: Services,
  podSandboxId: PodSandboxId,
  plan: ContainerPlan,
  signal: AbortSignal,
): Promise<ContainerId> {
  await pullImages(services, plan, signal);
  const {config, sandboxConfig} = plan;
  const request = {podSandboxId, config, sandboxConfig};
  return (await services.runtime.createContainer(request, {signal})).containerId;
}

async function pullImages({images}: Services, plan: ContainerPlan, signal: AbortSignal): Promise<void> {
  const {config, sandboxConfig, pull} = plan;
  if (pull === undefined) return;
  const {onPull, ...how} = pull;
  const main = config.image?.image ?? '';
  const mounted = mountedImages(config);
  onPull?.(main);
  for (const {image, path} of mounted) onPull?.(image, path);
  const annotations = config.image?.annotations ?? {};
  for (const name of new Set([main, ...mounted.map(({image}) => image)]))
    await pullImage(images, name, {...how, annotations, sandboxConfig, signal});
}

function mountedImages({mounts = []}: ContainerPlan['config']) {
  return mounts
    .map(({image, containerPath = ''}) => ({image: image?.image ?? '', path: containerPath}))
    .filter(({image}) => image !== '');
}

/** How a container is run in a sandbox of its own. */
export interface RunPlan extends ContainerPlan {
  /** Empty: the runtime's default. */
  readonly runtimeHandler: string;
  /** Told when what was started can't be removed after a failure. */
  readonly onLeftover: (message: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Runs a container in a new sandbox. When anything fails or is interrupted, the sandbox is removed again with
 * all that is in it, and the failure is thrown.
 */
export async function runContainer(services: Services, plan: RunPlan): Promise<ContainerId> {
  const {sandboxConfig, runtimeHandler, signal} = plan;
  const {runtime} = services;
  await withContext(CREATING, pullImages(services, plan, signal));
  const answer = runtime.runPodSandbox({config: sandboxConfig, runtimeHandler}, {signal});
  const {podSandboxId} = await withContext('run pod sandbox', answer);
  try {
    const creating = createContainer(services, podSandboxId, {...plan, pull: undefined}, signal);
    const containerId = await withContext(CREATING, creating);
    await withContext(
      `starting the container "${containerId}"`,
      runtime.startContainer({containerId}, {signal}),
    );
    return containerId;
  } catch (error) {
    await discard(runtime, podSandboxId, plan.onLeftover);
    throw error;
  }
}

const CREATING = 'creating container failed';

/** Takes no signal: the clean-up has to happen after Ctrl-C as well. */
async function discard(
  runtime: RuntimeService,
  podSandboxId: PodSandboxId,
  onLeftover: RunPlan['onLeftover'],
): Promise<void> {
  try {
    await runtime.stopPodSandbox({podSandboxId});
    await runtime.removePodSandbox({podSandboxId});
  } catch (error) {
    onLeftover(`the pod sandbox "${podSandboxId}" is left behind: ${messageOf(error)}`);
  }
}
