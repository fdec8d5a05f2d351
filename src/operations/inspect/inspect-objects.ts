import {
  type ContainerId,
  type ContainerStatusResponse,
  type ImageService,
  type ImageStatusResponse,
  type PodSandboxId,
  type PodSandboxStatusResponse,
  type RuntimeService,
} from '../../cri/index.js';
import {NotFoundError} from '../resolve/target.js';
import {withContext} from '../with-context.js';

/** Options of the inspect functions. */
export interface InspectOptions {
  /** Includes runtime-specific info. */
  readonly verbose: boolean;
  readonly signal: AbortSignal;
}

/** Returns the status of a container. Rejects with KcriError. */
export async function inspectContainer(
  runtime: RuntimeService,
  containerId: ContainerId,
  {verbose, signal}: InspectOptions,
): Promise<ContainerStatusResponse> {
  const pending = runtime.containerStatus({containerId, verbose}, {signal});
  return await withContext('get container status', pending);
}

/** Returns the status of a PodSandbox. Rejects with KcriError. */
export async function inspectSandbox(
  runtime: RuntimeService,
  podSandboxId: PodSandboxId,
  {verbose, signal}: InspectOptions,
): Promise<PodSandboxStatusResponse> {
  const pending = runtime.podSandboxStatus({podSandboxId, verbose}, {signal});
  return await withContext('get pod sandbox status', pending);
}

/**
 * Returns the status of an image. Rejects with NotFoundError if it does not exist, for which the CRI returns an empty
 * response.
 */
export async function inspectImage(
  images: ImageService,
  image: string,
  {verbose, signal}: InspectOptions,
): Promise<ImageStatusResponse> {
  const pending = images.imageStatus({image: {image}, verbose}, {signal});
  const response = await withContext(`image status for "${image}" request`, pending);
  if (response.image !== undefined) return response;
  throw new NotFoundError(`no such image "${image}" present`, {hint: 'run "kcri images" to list images'});
}
