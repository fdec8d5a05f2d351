import type {Container, Pod} from '../../api/v1.js';
import type {ImageRef, ImageSpec, Init, PodSandboxConfig} from '../../cri/index.js';
import {containerEvents, podEvents, type ContainerKind} from '../container/events.js';
import type {SyncFailure} from '../container/sync-result.js';
import {findPullSecrets} from '../images/credentials/pull-secrets.js';
import type {SyncContext} from './sync-context.js';

/** The images of a pod's image volumes, as the runtime is told of them, by volume. */
export type ImageVolumes = ReadonlyMap<string, Init<ImageSpec>>;

/** What became of the images of a pod's image volumes. */
export interface PulledImageVolumes {
  readonly images: ImageVolumes;
  /** Why others have no image, by volume. */
  readonly failures: ReadonlyMap<string, SyncFailure>;
}

/** What the runtime is told of the image of a volume (getImageVolumes). */
export function imageVolumeSpec(pod: Pod, reference: string, image: ImageRef): Init<ImageSpec> {
  return {image, userSpecifiedImage: reference, annotations: pod.metadata.annotations ?? {}};
}

/** The pod, and what it runs in. */
interface ImageVolumeEnvironment {
  readonly pod: Pod;
  readonly sandboxConfig: Init<PodSandboxConfig>;
  readonly runtimeHandler: string;
}

/**
 * Gets the images of the pod's image volumes, used or not, as their pull policies say (getImageVolumes). What fails is
 * in the result; only aborting the signal rejects.
 */
export async function pullImageVolumes(
  context: Pick<SyncContext, 'events' | 'images' | 'objects' | 'services'>,
  {pod, sandboxConfig, runtimeHandler}: ImageVolumeEnvironment,
  signal: AbortSignal,
): Promise<PulledImageVolumes> {
  const images = new Map<string, Init<ImageSpec>>();
  const failures = new Map<string, SyncFailure>();
  for (const {name, image} of pod.spec.volumes ?? []) {
    if (image === undefined) continue;
    const {reference = '', pullPolicy} = image;
    const request = {
      pod,
      image: reference,
      pullPolicy,
      events: podEvents(context.events, pod),
      sandboxConfig,
      runtimeHandler,
      pullSecrets: findPullSecrets(pod, context.objects),
      service: context.services.images,
    };
    const outcome = await context.images.ensureImageExists(request, signal);
    if (outcome.kind === 'failed') failures.set(name, outcome.failure);
    else images.set(name, imageVolumeSpec(pod, reference, outcome.imageRef));
  }
  return {images, failures};
}

/**
 * Why the container can't be started for want of a volume's image: the last such failure, each told as an event
 * (toKubeContainerImageVolumes). Undefined when it has all it mounts.
 */
export function imageVolumeFailure(
  {events}: Pick<SyncContext, 'events'>,
  {pod, imageVolumes}: {readonly pod: Pod; readonly imageVolumes: PulledImageVolumes},
  {container, kind}: {readonly container: Container; readonly kind: ContainerKind},
): SyncFailure | undefined {
  const failures = (container.volumeMounts ?? [])
    .map(({name}) => imageVolumes.failures.get(name))
    .filter((failure) => failure !== undefined);
  for (const {reason} of failures)
    containerEvents(events, pod, kind, container.name).warning('Failed', `Error: ${reason}`);
  return failures.at(-1);
}
