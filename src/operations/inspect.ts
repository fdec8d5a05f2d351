import {
  type ContainerId,
  type ContainerStatusResponse,
  type ImageService,
  type ImageStatusResponse,
  type PodSandboxId,
  type PodSandboxStatusResponse,
  type RuntimeService,
} from '../cri/index.js';
import {NoSuchError} from './resolve.js';
import {withContext} from './with-context.js';

/** How much is asked for. */
export interface InspectOptions {
  /** Also what only this runtime knows. */
  readonly verbose: boolean;
  readonly signal: AbortSignal;
}

/** A container's status. */
export async function inspectContainer(
  runtime: RuntimeService,
  containerId: ContainerId,
  {verbose, signal}: InspectOptions,
): Promise<ContainerStatusResponse> {
  const answer = runtime.containerStatus({containerId, verbose}, {signal});
  return await withContext('get container status', answer);
}

/** A sandbox's status. */
export async function inspectSandbox(
  runtime: RuntimeService,
  podSandboxId: PodSandboxId,
  {verbose, signal}: InspectOptions,
): Promise<PodSandboxStatusResponse> {
  const answer = runtime.podSandboxStatus({podSandboxId, verbose}, {signal});
  return await withContext('get pod sandbox status', answer);
}

/** An image's status. Throws NoSuchError when it isn't there, which the CRI says with an empty answer. */
export async function inspectImage(
  images: ImageService,
  image: string,
  {verbose, signal}: InspectOptions,
): Promise<ImageStatusResponse> {
  const answer = images.imageStatus({image: {image}, verbose}, {signal});
  const response = await withContext(`image status for "${image}" request`, answer);
  if (response.image !== undefined) return response;
  throw new NoSuchError(`no such image "${image}" present`, {hint: '"kcri images" lists what there is'});
}
