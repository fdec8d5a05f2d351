import type {Container, Pod} from '../../api/v1.js';
import {Backoff} from '../../base/backoff.js';
import type {Clock} from '../../base/clock.js';
import {messageOf} from '../../base/errors.js';
import {
  CriError,
  imageRef,
  type ImageRef,
  type ImageSpec,
  type Init,
  type PodSandboxConfig,
} from '../../cri/index.js';
import type {ContainerEvents} from '../container/events.js';
import {podRef} from '../container/pod-ref.js';
import type {KubeImageService} from '../container/services.js';
import type {SyncFailure} from '../container/sync-result.js';
import {applyDefaultImageTag} from './image-name.js';

/** The kubelet's image back-off: 10 s doubling to 5 min. */
const BACKOFF_INITIAL_MS = 10_000;
const BACKOFF_MAX_MS = 300_000;

/** What to get and for whom. */
export interface ImageRequest {
  readonly pod: Pod;
  readonly container: Container;
  readonly events: ContainerEvents;
  readonly sandboxConfig: Init<PodSandboxConfig>;
}

/** The image that the container gets, or why there is none. */
export type ImageOutcome =
  | {readonly kind: 'present'; readonly imageRef: ImageRef}
  | {readonly kind: 'failed'; readonly failure: SyncFailure};

/** Gets images as their pull policy says (images/image_manager.go EnsureImageExists). */
export class ImageManager {
  readonly #images: KubeImageService;
  readonly #clock: Clock;
  readonly #backoff = new Backoff(BACKOFF_INITIAL_MS, BACKOFF_MAX_MS);
  /** The message of the last failed pull, which ImagePullBackOff repeats. */
  readonly #lastFailure = new Map<string, {readonly at: number; readonly text: string}>();

  constructor(images: KubeImageService, clock: Clock) {
    this.#images = images;
    this.#clock = clock;
  }

  /** Aborting cancels a pull in progress; everything else that fails is an outcome. */
  async ensureImageExists(request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
    const {pod, container, events} = request;
    const written = container.image;
    const image = applyDefaultImageTag(written);
    if (image === undefined) {
      const message = `Failed to apply default image tag ${JSON.stringify(written)}: couldn't parse image name ${JSON.stringify(written)}: invalid reference format`;
      events.warning('InspectFailed', message);
      return failed('InvalidImageName', message);
    }
    const spec = {image, annotations: pod.metadata.annotations ?? {}};
    if (container.imagePullPolicy === 'Always') return await this.#pull(request, spec, signal);
    return await this.#useOrPull(request, spec, signal);
  }

  async #useOrPull(request: ImageRequest, spec: Init<ImageSpec>, signal: AbortSignal): Promise<ImageOutcome> {
    const {events, container} = request;
    let present: ImageRef | undefined;
    try {
      present = await this.#present(spec, signal);
    } catch (error) {
      signal.throwIfAborted();
      const message = `Failed to inspect image "": ${messageOf(error)}`;
      events.warning('InspectFailed', message);
      return failed('ImageInspectError', message, error);
    }
    if (present !== undefined) {
      events.normal(
        'Pulled',
        `Container image ${JSON.stringify(spec.image)} already present on machine and can be accessed by the pod`,
      );
      return {kind: 'present', imageRef: present};
    }
    if (container.imagePullPolicy !== 'Never') return await this.#pull(request, spec, signal);
    const message = `Container image ${JSON.stringify(spec.image)} is not present with pull policy of Never`;
    events.warning('ErrImageNeverPull', message);
    return failed('ErrImageNeverPull', message);
  }

  async #present(spec: Init<ImageSpec>, signal: AbortSignal): Promise<ImageRef | undefined> {
    const {image} = await this.#images.imageStatus({image: spec}, {signal});
    return image === undefined || image.id === '' ? undefined : imageRef(image.id);
  }

  async #pull(request: ImageRequest, spec: Init<ImageSpec>, signal: AbortSignal): Promise<ImageOutcome> {
    const {events} = request;
    const quoted = JSON.stringify(spec.image);
    const key = `${podRef(request.pod).uid}_${spec.image ?? ''}`;
    const last = this.#lastFailure.get(key);
    const retryAt = last === undefined ? undefined : this.#backoff.waitUntil(key, last.at, this.#clock.now());
    if (retryAt !== undefined) {
      const message = `Back-off pulling image ${quoted}`;
      events.normal('BackOff', message);
      return failed('ImagePullBackOff', `${message}: ${last?.text ?? ''}`, undefined, retryAt);
    }
    events.normal('Pulling', `Pulling image ${quoted}`);
    const startedAt = this.#clock.now();
    try {
      const pulled = await this.#images.pullImage(
        {image: spec, sandboxConfig: request.sandboxConfig},
        {signal},
      );
      const {image} = await this.#images.imageStatus({image: spec}, {signal});
      const took = `${((this.#clock.now() - startedAt) / 1000).toFixed(3)}s`;
      events.normal(
        'Pulled',
        `Successfully pulled image ${quoted} in ${took} (${took} including waiting). Image size: ${image?.size ?? 0n} bytes.`,
      );
      return {kind: 'present', imageRef: pulled.imageRef};
    } catch (error) {
      signal.throwIfAborted();
      return this.#pullFailed(request, {key, image: spec.image ?? '', error});
    }
  }

  #pullFailed(
    {events}: ImageRequest,
    {key, image, error}: {readonly key: string; readonly image: string; readonly error: unknown},
  ): ImageOutcome {
    const now = this.#clock.now();
    this.#backoff.next(key, now);
    const {reason, message} = explainPullError(image, error);
    events.warning('Failed', `Failed to pull image ${JSON.stringify(image)}: ${messageOf(error)}`);
    this.#lastFailure.set(key, {at: now, text: `${reason}: ${message}`});
    return failed(reason, message, error);
  }
}

/** Runtimes mark two kinds of failure by how their text begins (cri-api pkg/errors). */
const MARKED_FAILURES = [
  [
    'RegistryUnavailable',
    (image: string) => `image pull failed for ${image} because the registry is unavailable`,
  ],
  [
    'SignatureValidationFailed',
    (image: string) => `image pull failed for ${image} because the signature validation failed`,
  ],
] as const;

function explainPullError(image: string, error: unknown): Pick<SyncFailure, 'reason' | 'message'> {
  const details = error instanceof CriError ? error.details : messageOf(error);
  const marked = MARKED_FAILURES.find(([reason]) => details.startsWith(reason));
  if (marked === undefined) return {reason: 'ErrImagePull', message: messageOf(error)};
  const [reason, text] = marked;
  const rest = details.slice(reason.length).replace(/^: /, '');
  return {reason, message: rest === '' ? text(image) : `${text(image)}: ${rest}`};
}

function failed(
  reason: SyncFailure['reason'],
  message: string,
  cause?: unknown,
  retryAt?: number,
): ImageOutcome {
  return {
    kind: 'failed',
    failure: {
      reason,
      message,
      ...(cause === undefined ? {} : {cause}),
      ...(retryAt === undefined ? {} : {retryAt}),
    },
  };
}
