import type {Container, Pod} from '../../../api/types/v1-pod.js';
import {TokenBucket} from '../../../base/async/token-bucket.js';
import type {Clock} from '../../../base/clock.js';
import {isExpectedError, messageOf, rethrowUnexpected, SystemError} from '../../../base/errors.js';
import {formatDuration} from '../../../format/duration.js';
import {goQuote} from '../../../format/go-quote.js';
import {
  imageRef,
  type ImageRef,
  type ImageSpec,
  type Init,
  type PodSandboxConfig,
  type PullImageRequest,
} from '../../../cri/index.js';
import type {EventRecorder} from '../../contract/pod-event.js';
import {NO_METRICS, type KubeletMetrics} from '../../contract/kubelet-metrics.js';
import type {KubeImageService} from '../../contract/kube-services.js';
import type {SyncFailure} from '../../contract/sync-result.js';
import {NodeCredentials, type FoundCredentials} from './credentials/node-credentials.js';
import type {PullCredential} from './credentials/keyring.js';
import {decodeDockerConfigs, type PullSecrets} from './credentials/pull-secrets.js';
import {parseImageName, withDefaultTag} from '../../../base/parse-image-name.js';
import {ImageBackOff} from './image-back-off.js';
import {explainPullError, ImagePullError} from './image-pull-error.js';
import {PullQueue} from './pull-queue.js';
import {ImagePullManager, type RequestedImage} from './pull-manager/image-pull-manager.js';
import type {PullRecordsAccessor} from './pull-manager/pull-records-accessor.js';
import type {VerificationPolicy} from './pull-manager/verification-policy.js';

/** Limits of image pulls, named like the fields of KubeletConfiguration. */
export interface ImagePullLimits {
  /** Maximum number of concurrent pulls: 1 for serializeImagePulls, Infinity for no limit. */
  readonly maxParallelImagePulls: number;
  /** Maximum pulls per second; 0 for no limit. */
  readonly registryPullQps: number;
  /** Maximum burst of pulls. */
  readonly registryBurst: number;
}

const DEFAULT_LIMITS: ImagePullLimits = {maxParallelImagePulls: 1, registryPullQps: 5, registryBurst: 10};

/** Options of ImageManager. */
export interface ImageManagerOptions {
  readonly clock: Clock;
  readonly records: PullRecordsAccessor;
  /** Credentials of the node; none by default. */
  readonly credentials?: NodeCredentials | undefined;
  readonly limits?: Partial<ImagePullLimits>;
  readonly verification?: VerificationPolicy;
  /** Feature gate RuntimeClassInImageCriApi, off by default: images are specific to the runtime handler. */
  readonly runtimeClassInImageCriApi?: boolean;
}

/** Request of an image for a container or an image volume. */
export interface ImageRequest {
  readonly pod: Pod;
  /** Image name in the pod spec. */
  readonly image: string;
  readonly pullPolicy: Container['imagePullPolicy'];
  /** Event recorder of the container, or of the pod for an image volume. */
  readonly events: EventRecorder;
  readonly sandboxConfig: Init<PodSandboxConfig>;
  /** Empty for the runtime's default handler. */
  readonly runtimeHandler: string;
  /** Pull secrets of the pod (see findPullSecrets). */
  readonly pullSecrets: PullSecrets;
  readonly service: KubeImageService;
}

/** Reference of the image, or the failure to ensure it. */
export type ImageResult =
  | {readonly kind: 'present'; readonly imageRef: ImageRef}
  | {readonly kind: 'failed'; readonly failure: SyncFailure};

/** A request in progress. */
interface Pull extends RequestedImage {
  readonly request: ImageRequest;
  readonly spec: Init<ImageSpec>;
  /** Looks up the credentials on the first call. */
  readonly credentials: () => Promise<FoundCredentials>;
  readonly signal: AbortSignal;
}

interface Pulled {
  readonly imageRef: ImageRef;
  readonly credential: PullCredential | undefined;
  readonly sizeBytes: bigint;
  readonly tookMs: number;
}

/** Ensures that images are present according to their pull policies (images/image_manager.go). */
export class ImageManager {
  readonly #clock: Clock;
  readonly #isHandlerSpecific: boolean;
  readonly #nodeCredentials: NodeCredentials;
  readonly #pulls: ImagePullManager;
  readonly #queue: PullQueue;
  readonly #limiter: TokenBucket | undefined;
  readonly #backOff: ImageBackOff;
  #metrics: Pick<KubeletMetrics, 'imageEnsured' | 'imagePulled'> = NO_METRICS;

  constructor(options: ImageManagerOptions) {
    const {clock, records, credentials, limits, verification} = options;
    const {maxParallelImagePulls, registryPullQps, registryBurst} = {...DEFAULT_LIMITS, ...limits};
    this.#clock = clock;
    this.#backOff = new ImageBackOff(clock);
    this.#isHandlerSpecific = options.runtimeClassInImageCriApi ?? false;
    this.#nodeCredentials = credentials ?? new NodeCredentials();
    this.#pulls = new ImagePullManager(records, verification ?? {kind: 'NeverVerifyPreloadedImages'}, clock);
    this.#queue = new PullQueue(maxParallelImagePulls);
    this.#limiter =
      registryPullQps === 0
        ? undefined
        : new TokenBucket({perSecond: registryPullQps, burst: registryBurst}, clock);
  }

  /** Sets the metrics to update; none are updated before. */
  setMetrics(metrics: Pick<KubeletMetrics, 'imageEnsured' | 'imagePulled'>): void {
    this.#metrics = metrics;
  }

  #countEnsured({pullPolicy = 'IfNotPresent'}: ImageRequest, isPresent?: boolean, mustPull?: boolean): void {
    this.#metrics.imageEnsured({pullPolicy, isPresent, mustPull});
  }

  /**
   * Ensures that an image is present and that the pod may use it (image_manager.go EnsureImageExists). Aborting cancels
   * a pull in progress and rejects with the signal's reason; other failures are returned.
   */
  async ensureImageExists(request: ImageRequest, signal: AbortSignal): Promise<ImageResult> {
    const {image, events, pod} = request;
    const parsed = parseImageName(image);
    if (parsed.kind === 'invalid') {
      const message = `Failed to apply default image tag ${goQuote(image)}: couldn't parse image name ${goQuote(image)}: ${parsed.problem}`;
      events.warning('InspectFailed', message);
      return failed({reason: 'InvalidImageName', message});
    }
    const {repository} = parsed.name;
    const spec = {
      image: withDefaultTag(image, parsed.name),
      annotations: pod.metadata.annotations ?? {},
      ...(this.#isHandlerSpecific && {runtimeHandler: request.runtimeHandler}),
    };
    let found: Promise<FoundCredentials> | undefined;
    const credentials = (): Promise<FoundCredentials> =>
      (found ??= this.#lookUpCredentials(request, repository, signal));
    return await this.#ensure({request, image, repository, spec, credentials, signal});
  }

  async #lookUpCredentials(
    {pod, pullSecrets}: ImageRequest,
    repository: string,
    signal: AbortSignal,
  ): Promise<FoundCredentials> {
    const {configs, problems} = decodeDockerConfigs(pullSecrets, pod);
    const found = await this.#nodeCredentials.lookUp(repository, configs, signal);
    return {...found, problems: [...problems, ...found.problems]};
  }

  async #ensure(pull: Pull): Promise<ImageResult> {
    const {pullPolicy} = pull.request;
    if (pullPolicy === 'Always') this.#countEnsured(pull.request, undefined, true);
    const present = pullPolicy === 'Always' ? undefined : await this.#findPresent(pull);
    if (present !== undefined) return present;
    return pullPolicy === 'Never' ? neverPullFailure(pull.request) : await this.#pull(pull);
  }

  /**
   * Returns the image if it is present and the pod may use it, or the failure to check that; undefined if it must be
   * pulled.
   */
  async #findPresent(pull: Pull): Promise<ImageResult | undefined> {
    const {request, signal} = pull;
    let present: ImageRef | undefined;
    try {
      present = await findImage(pull);
    } catch (cause) {
      signal.throwIfAborted();
      rethrowUnexpected(cause);
      this.#countEnsured(request);
      const message = `Failed to inspect image "": ${messageOf(cause)}`;
      request.events.warning('InspectFailed', message);
      return failed({reason: 'ImageInspectError', message, cause});
    }
    if (present === undefined) {
      this.#countEnsured(request, false, request.pullPolicy !== 'Never');
      return undefined;
    }
    try {
      const mayUse = await this.#mayUse(pull, present);
      this.#countEnsured(request, true, !mayUse);
      if (!mayUse) return undefined;
    } catch (cause) {
      signal.throwIfAborted();
      rethrowUnexpected(cause);
      this.#countEnsured(request, true);
      return failed({reason: 'ErrImagePull', message: messageOf(cause), cause});
    }
    request.events.normal(
      'Pulled',
      `Container image ${goQuote(request.image)} already present on machine and can be accessed by the pod`,
    );
    return {kind: 'present', imageRef: present};
  }

  async #mayUse(pull: Pull, present: ImageRef): Promise<boolean> {
    await this.#pulls.recoverIntents(pull.request.service, pull.signal);
    const credentials = async (): Promise<readonly PullCredential[]> =>
      (await pull.credentials()).credentials;
    return !(await this.#pulls.mustAttemptImagePull(pull, present, credentials));
  }

  async #pull(pull: Pull): Promise<ImageResult> {
    const {request, image, signal} = pull;
    const backOff = this.#backOff.check(request, request.events);
    if (backOff !== undefined) return failed(backOff);
    try {
      await this.#pulls.recordPullIntent(image, signal);
    } catch (cause) {
      signal.throwIfAborted();
      rethrowUnexpected(cause);
      const message = `Failed to record image pull intent for container image ${goQuote(image)}: ${messageOf(cause)}`;
      return failed({reason: 'ErrImagePull', message, cause});
    }
    return await this.#pullAndRecord(pull);
  }

  async #pullAndRecord(pull: Pull): Promise<ImageResult> {
    const {request, image, signal} = pull;
    request.events.normal('Pulling', `Pulling image ${goQuote(image)}`);
    const startedAt = this.#clock.monotonic();
    let pulled: Pulled;
    try {
      pulled = await this.#queue.run(() => this.#pullWithCredentials(pull), signal);
    } catch (cause) {
      if (signal.aborted || !isExpectedError(cause)) await this.#pulls.recordPullAborted(image);
      signal.throwIfAborted();
      rethrowUnexpected(cause);
      return await this.#pullFailed(pull, cause);
    }
    this.#metrics.imagePulled(pulled.sizeBytes, pulled.tookMs);
    const format = (ms: number): string => formatDuration(BigInt(Math.trunc(ms)) * 1_000_000n);
    request.events.normal(
      'Pulled',
      `Successfully pulled image ${goQuote(image)} in ${format(pulled.tookMs)} (${format(this.#clock.monotonic() - startedAt)} including waiting). Image size: ${pulled.sizeBytes} bytes.`,
    );
    try {
      await this.#pulls.recordPulled(pull, pulled.imageRef, {credential: pulled.credential, signal});
    } catch (error) {
      signal.throwIfAborted();
      rethrowUnexpected(error);
      // The intent stays, so that the missing record does not let pods use the image without credentials.
      request.events.warning('FailedToRecordImagePull', messageOf(error));
    }
    return {kind: 'present', imageRef: pulled.imageRef};
  }

  async #pullWithCredentials(pull: Pull): Promise<Pulled> {
    const {request, spec, signal} = pull;
    const startedAt = this.#clock.monotonic();
    if (this.#limiter?.tryTake() === false) throw new PullLimitError('pull QPS exceeded');
    const {credentials, problems} = await pull.credentials();
    const causes: unknown[] = [];
    for (const credential of credentials.length === 0 ? [undefined] : credentials) {
      try {
        const response = await request.service.pullImage(
          {image: spec, sandboxConfig: request.sandboxConfig, ...authOf(credential)},
          {signal},
        );
        const sizeBytes = await imageSize(pull);
        return {
          imageRef: response.imageRef,
          credential,
          sizeBytes,
          tookMs: this.#clock.monotonic() - startedAt,
        };
      } catch (error) {
        signal.throwIfAborted();
        rethrowUnexpected(error);
        causes.push(error);
      }
    }
    throw new ImagePullError(causes, problems);
  }

  async #pullFailed({request, image, signal}: Pull, cause: unknown): Promise<ImageResult> {
    const text = messageOf(cause);
    request.events.warning('Failed', `Failed to pull image ${goQuote(image)}: ${text}`);
    const transient = cause instanceof PullLimitError;
    const failure = {...explainPullError(image, text), cause, ...(transient ? {transient} : {})};
    this.#backOff.pullFailed(request, failure);
    try {
      await this.#pulls.recordPullFailed(image, signal);
    } catch (error) {
      signal.throwIfAborted();
      rethrowUnexpected(error);
      request.events.warning('FailedToRecordImagePull', messageOf(error));
    }
    return failed(failure);
  }
}

/** Pull rejected by the rate limit. */
class PullLimitError extends SystemError {}

async function findImage({request, spec, signal}: Pull): Promise<ImageRef | undefined> {
  const {image} = await request.service.imageStatus({image: spec}, {signal});
  return image === undefined || image.id === '' ? undefined : imageRef(image.id);
}

/** Returns the size of a pulled image for its event; 0 if the runtime does not report it. */
async function imageSize({request, spec, signal}: Pull): Promise<bigint> {
  try {
    return (await request.service.imageStatus({image: spec}, {signal})).image?.size ?? 0n;
  } catch (error) {
    rethrowUnexpected(error);
    return 0n;
  }
}

function authOf(credential: PullCredential | undefined): Pick<Init<PullImageRequest>, 'auth'> {
  if (credential === undefined) return {};
  const {username, password} = credential.login;
  return {auth: {username, password}};
}

/** Records ErrImageNeverPull and returns the failure. */
function neverPullFailure({image, events}: ImageRequest): ImageResult {
  const message = `Container image ${goQuote(image)} is not present with pull policy of Never`;
  events.warning('ErrImageNeverPull', message);
  return failed({reason: 'ErrImageNeverPull', message});
}

function failed(failure: SyncFailure): ImageResult {
  return {kind: 'failed', failure};
}
