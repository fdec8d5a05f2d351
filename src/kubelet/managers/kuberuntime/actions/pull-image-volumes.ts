import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import type {ImageRef, ImageSpec, Init, PodSandboxConfig} from '../../../../cri/index.js';
import {
  createContainerEventRecorder,
  createPodEventRecorder,
  type ContainerKind,
} from '../../../contract/pod-event.js';
import type {ImageVolumes} from '../../../contract/volumes/image-volumes.js';
import type {SyncFailure} from '../../../contract/sync-result.js';
import {findPullSecrets} from '../../images/credentials/pull-secrets.js';
import type {SyncContext} from '../sync-context.js';

/** Result of pullImageVolumes. */
export interface PulledImageVolumes {
  readonly images: ImageVolumes;
  /** Failures by volume name. */
  readonly failures: ReadonlyMap<string, SyncFailure>;
}

/** Returns the CRI image spec of an image volume (getImageVolumes). */
export function imageVolumeSpec(pod: Pod, reference: string, image: ImageRef): Init<ImageSpec> {
  return {image, userSpecifiedImage: reference, annotations: pod.metadata.annotations ?? {}};
}

/** A pod with its sandbox configuration. */
interface ImageVolumeEnvironment {
  readonly pod: Pod;
  readonly sandboxConfig: Init<PodSandboxConfig>;
  readonly runtimeHandler: string;
}

/**
 * Ensures the images of all image volumes of a pod according to their pull policies (getImageVolumes). Failures are
 * part of the result; rejects only with the signal's reason.
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
      events: createPodEventRecorder(context.events, pod),
      sandboxConfig,
      runtimeHandler,
      pullSecrets: findPullSecrets(pod, context.objects),
      service: context.services.images,
    };
    const ensured = await context.images.ensureImageExists(request, signal);
    if (ensured.kind === 'failed') failures.set(name, ensured.failure);
    else images.set(name, imageVolumeSpec(pod, reference, ensured.imageRef));
  }
  return {images, failures};
}

/**
 * Returns the last failure among the image volumes that a container mounts, and records an event for each
 * (toKubeContainerImageVolumes). Returns undefined if it has all images.
 */
export function findImageVolumeFailure(
  {events}: Pick<SyncContext, 'events'>,
  {pod, imageVolumes}: {readonly pod: Pod; readonly imageVolumes: PulledImageVolumes},
  {container, kind}: {readonly container: Container; readonly kind: ContainerKind},
): SyncFailure | undefined {
  const failures = (container.volumeMounts ?? [])
    .map(({name}) => imageVolumes.failures.get(name))
    .filter((failure) => failure !== undefined);
  for (const {reason} of failures)
    createContainerEventRecorder(events, pod, kind, container.name).warning('Failed', `Error: ${reason}`);
  return failures.at(-1);
}
