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

/** What a container is made of. */
export interface ContainerPlan {
  readonly config: Init<ContainerConfig>;
  readonly sandboxConfig: Init<PodSandboxConfig>;
  /** Undefined: use the images that are there. */
  readonly pull: Pick<PullOptions, 'auth' | 'timeoutMs'> | undefined;
}

/** Creates a container in a sandbox, after pulling its image and the images it mounts if that is wanted. */
export async function createContainer(
  services: Services,
  podSandboxId: PodSandboxId,
  plan: ContainerPlan,
  signal: AbortSignal,
): Promise<ContainerId> {
  await pullImages(services, plan, signal);
  const {config, sandboxConfig} = plan;
  const answer = services.runtime.createContainer({podSandboxId, config, sandboxConfig}, {signal});
  return (await withContext('creating container', answer)).containerId;
}

async function pullImages({images}: Services, plan: ContainerPlan, signal: AbortSignal): Promise<void> {
  const {config, sandboxConfig, pull} = plan;
  if (pull === undefined) return;
  const mounted = (config.mounts ?? []).map(({image}) => image?.image ?? '');
  const names = [config.image?.image ?? '', ...mounted].filter((name) => name !== '');
  const annotations = config.image?.annotations ?? {};
  for (const name of new Set(names))
    await pullImage(images, name, {...pull, annotations, sandboxConfig, signal});
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
  await pullImages(services, plan, signal);
  const answer = runtime.runPodSandbox({config: sandboxConfig, runtimeHandler}, {signal});
  const {podSandboxId} = await withContext('run pod sandbox', answer);
  try {
    const containerId = await createContainer(services, podSandboxId, {...plan, pull: undefined}, signal);
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
