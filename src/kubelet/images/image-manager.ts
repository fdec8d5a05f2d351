import type {Container, Pod} from '../../api/v1.js';
import {Backoff} from '../../base/backoff.js';
import type {Clock} from '../../base/clock.js';
import {messageOf, SystemError} from '../../base/errors.js';
import {formatDuration} from '../../format/duration.js';
import {goQuote} from '../../format/go-quote.js';
import {
  imageRef,
  type ImageRef,
  type ImageSpec,
  type Init,
  type PodSandboxConfig,
  type PullImageRequest,
} from '../../cri/index.js';
import type {ContainerEvents} from '../container/events.js';
import {NO_METRICS, type KubeletMetrics} from '../container/kubelet-metrics.js';
import {podRef} from '../container/pod-ref.js';
import type {KubeImageService} from '../container/services.js';
import type {SyncFailure} from '../container/sync-result.js';
import {NodeCredentials, type FoundCredentials} from './credentials/node-credentials.js';
import type {PullCredential} from './credentials/keyring.js';
import {secretDockerConfigs, type PullSecrets} from './credentials/pull-secrets.js';
import {parseImageName, withDefaultTag} from './image-name.js';
import {explainPullError, ImagePullError} from './pull-failure.js';
import {PullQueue, TokenBucket} from './pull-queue.js';
import {PullManager, type WantedImage} from './records/pull-manager.js';
import type {PullRecords} from './records/pull-records.js';
import type {VerificationPolicy} from './records/verification-policy.js';

/** The kubelet's image back-off: 10 s doubling to 5 min. */
const BACKOFF_INITIAL_MS = 10_000;
const BACKOFF_MAX_MS = 300_000;

/** What limits pulls: the kubelet's configuration of the same names, with its defaults. */
export interface ImagePullLimits {
  /** 1 for serializeImagePulls, Infinity for no limit. */
  readonly maxParallelImagePulls: number;
  /** Pulls a second, 0 for no limit. */
  readonly registryPullQps: number;
  /** So many at once beyond that. */
  readonly registryBurst: number;
}

const DEFAULT_LIMITS: ImagePullLimits = {maxParallelImagePulls: 1, registryPullQps: 5, registryBurst: 10};

/** What all pods of a process get their images with. */
export interface ImageManagerOptions {
  readonly clock: Clock;
  readonly records: PullRecords;
  /** None without it. */
  readonly credentials?: NodeCredentials | undefined;
  readonly limits?: Partial<ImagePullLimits>;
  readonly verification?: VerificationPolicy;
  /** The kubelet's feature gate RuntimeClassInImageCriApi, which is off: images are the runtime handler's own. */
  readonly runtimeClassInImageCriApi?: boolean;
}

/** What to get and for whom. */
export interface ImageRequest {
  readonly pod: Pod;
  /** As the Pod writes it. */
  readonly image: string;
  readonly pullPolicy: Container['imagePullPolicy'];
  /** Where it is told; of the container, or of the pod for an image volume. */
  readonly events: ContainerEvents;
  readonly sandboxConfig: Init<PodSandboxConfig>;
  /** Empty for the runtime's default. */
  readonly runtimeHandler: string;
  /** The pod's own (see findPullSecrets). */
  readonly pullSecrets: PullSecrets;
  /** The runtime's. */
  readonly service: KubeImageService;
}

/** The image that the container gets, or why there is none. */
export type ImageOutcome =
  | {readonly kind: 'present'; readonly imageRef: ImageRef}
  | {readonly kind: 'failed'; readonly failure: SyncFailure};

/** A request on its way. */
interface Pull extends WantedImage {
  readonly request: ImageRequest;
  readonly spec: Init<ImageSpec>;
  /** Looked up once, and not before they are needed. */
  readonly credentials: () => Promise<FoundCredentials>;
  readonly signal: AbortSignal;
}

interface Pulled {
  readonly imageRef: ImageRef;
  readonly credential: PullCredential | undefined;
  readonly sizeBytes: bigint;
  readonly tookMs: number;
}

/** Gets images as their pull policy says (images/image_manager.go EnsureImageExists). */
export class ImageManager {
  readonly #clock: Clock;
  readonly #byHandler: boolean;
  readonly #nodeCredentials: NodeCredentials;
  readonly #pulls: PullManager;
  readonly #queue: PullQueue;
  readonly #limiter: TokenBucket | undefined;
  readonly #backoff = new Backoff(BACKOFF_INITIAL_MS, BACKOFF_MAX_MS);
  /** The last failed pull, which ImagePullBackOff repeats. */
  #metrics: Pick<KubeletMetrics, 'imageEnsured' | 'imagePulled'> = NO_METRICS;
  readonly #lastFailure = new Map<string, {readonly at: number; readonly failure: SyncFailure}>();

  constructor(options: ImageManagerOptions) {
    const {clock, records, credentials, limits, verification} = options;
    const {maxParallelImagePulls, registryPullQps, registryBurst} = {...DEFAULT_LIMITS, ...limits};
    this.#clock = clock;
    this.#byHandler = options.runtimeClassInImageCriApi ?? false;
    this.#nodeCredentials = credentials ?? new NodeCredentials();
    this.#pulls = new PullManager(records, verification ?? {kind: 'NeverVerifyPreloadedImages'}, clock);
    this.#queue = new PullQueue(maxParallelImagePulls);
    this.#limiter =
      registryPullQps === 0
        ? undefined
        : new TokenBucket({perSecond: registryPullQps, burst: registryBurst}, clock);
  }

  /** Has what is asked for counted; nobody counts it before. */
  count(metrics: Pick<KubeletMetrics, 'imageEnsured' | 'imagePulled'>): void {
    this.#metrics = metrics;
  }

  #counted({pullPolicy = 'IfNotPresent'}: ImageRequest, isPresent?: boolean, mustPull?: boolean): void {
    this.#metrics.imageEnsured({pullPolicy, isPresent, mustPull});
  }

  /** Aborting cancels a pull in progress; everything else that fails is an outcome. */
  async ensureImageExists(request: ImageRequest, signal: AbortSignal): Promise<ImageOutcome> {
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
      ...(this.#byHandler && {runtimeHandler: request.runtimeHandler}),
    };
    let found: Promise<FoundCredentials> | undefined;
    const credentials = (): Promise<FoundCredentials> =>
      (found ??= this.#lookUp(request, repository, signal));
    return await this.#ensure({request, image, repository, spec, credentials, signal});
  }

  async #lookUp(
    {pod, pullSecrets}: ImageRequest,
    repository: string,
    signal: AbortSignal,
  ): Promise<FoundCredentials> {
    const {configs, problems} = secretDockerConfigs(pullSecrets, pod);
    const found = await this.#nodeCredentials.lookUp(repository, configs, signal);
    return {...found, problems: [...problems, ...found.problems]};
  }

  async #ensure(pull: Pull): Promise<ImageOutcome> {
    const {pullPolicy} = pull.request;
    if (pullPolicy === 'Always') this.#counted(pull.request, undefined, true);
    const onNode = pullPolicy === 'Always' ? undefined : await this.#onNode(pull);
    if (onNode !== undefined) return onNode;
    return pullPolicy === 'Never' ? neverPull(pull.request) : await this.#pull(pull);
  }

  /** The image that is on the node, or why that can't be said; undefined when the pod has to pull it. */
  async #onNode(pull: Pull): Promise<ImageOutcome | undefined> {
    const {request, signal} = pull;
    let present: ImageRef | undefined;
    try {
      present = await inspect(pull);
    } catch (cause) {
      signal.throwIfAborted();
      this.#counted(request);
      const message = `Failed to inspect image "": ${messageOf(cause)}`;
      request.events.warning('InspectFailed', message);
      return failed({reason: 'ImageInspectError', message, cause});
    }
    if (present === undefined) {
      this.#counted(request, false, request.pullPolicy !== 'Never');
      return undefined;
    }
    try {
      const mayUse = await this.#mayUse(pull, present);
      this.#counted(request, true, !mayUse);
      if (!mayUse) return undefined;
    } catch (cause) {
      signal.throwIfAborted();
      this.#counted(request, true);
      return failed({reason: 'ErrImagePull', message: messageOf(cause), cause});
    }
    request.events.normal(
      'Pulled',
      `Container image ${goQuote(request.image)} already present on machine and can be accessed by the pod`,
    );
    return {kind: 'present', imageRef: present};
  }

  async #mayUse(pull: Pull, present: ImageRef): Promise<boolean> {
    await this.#pulls.settleIntents(pull.request.service, pull.signal);
    const credentials = async (): Promise<readonly PullCredential[]> =>
      (await pull.credentials()).credentials;
    return !(await this.#pulls.mustPull(pull, present, credentials));
  }

  async #pull(pull: Pull): Promise<ImageOutcome> {
    const {request, image} = pull;
    const key = `${podRef(request.pod).uid}_${image}`;
    const now = this.#clock.now();
    const last = this.#lastFailure.get(key);
    const retryAt = last === undefined ? undefined : this.#backoff.waitUntil(key, last.at, now);
    if (last !== undefined && retryAt !== undefined) {
      const message = `Back-off pulling image ${goQuote(image)}`;
      request.events.normal('BackOff', message);
      const {reason, message: why, ...rest} = last.failure;
      const text = `${message}: ${reason}: ${why}`;
      const backOffMs = this.#backoff.get(key);
      return failed({...rest, reason: 'ImagePullBackOff', message: text, retryAt, backOffMs});
    }
    this.#lastFailure.delete(key);
    try {
      await this.#pulls.begin(image);
    } catch (cause) {
      const message = `Failed to record image pull intent for container image ${goQuote(image)}: ${messageOf(cause)}`;
      return failed({reason: 'ErrImagePull', message, cause});
    }
    return await this.#pullAndRecord(pull, key);
  }

  async #pullAndRecord(pull: Pull, key: string): Promise<ImageOutcome> {
    const {request, image, signal} = pull;
    request.events.normal('Pulling', `Pulling image ${goQuote(image)}`);
    const startedAt = this.#clock.now();
    let pulled: Pulled;
    try {
      pulled = await this.#queue.run(() => this.#pullWithCredentials(pull), signal);
    } catch (cause) {
      // An interrupted pull may have brought the image all the same: like a killed kcri it leaves its intent.
      signal.throwIfAborted();
      return await this.#pullFailed(pull, key, cause);
    }
    this.#metrics.imagePulled(pulled.sizeBytes, pulled.tookMs);
    const span = (ms: number): string => formatDuration(BigInt(Math.trunc(ms)) * 1_000_000n);
    request.events.normal(
      'Pulled',
      `Successfully pulled image ${goQuote(image)} in ${span(pulled.tookMs)} (${span(this.#clock.now() - startedAt)} including waiting). Image size: ${pulled.sizeBytes} bytes.`,
    );
    try {
      await this.#pulls.pulled(pull, pulled.imageRef, pulled.credential);
    } catch (error) {
      // The intent is still there, so that nobody gets in by the missing record.
      request.events.warning('FailedToRecordImagePull', messageOf(error));
    }
    return {kind: 'present', imageRef: pulled.imageRef};
  }

  async #pullWithCredentials(pull: Pull): Promise<Pulled> {
    const {request, spec, signal} = pull;
    const startedAt = this.#clock.now();
    if (this.#limiter?.tryTake() === false) throw new PullLimitError('pull QPS exceeded');
    const {credentials, problems} = await pull.credentials();
    const causes: unknown[] = [];
    for (const credential of credentials.length === 0 ? [undefined] : credentials) {
      try {
        const answer = await request.service.pullImage(
          {image: spec, sandboxConfig: request.sandboxConfig, ...authOf(credential)},
          {signal},
        );
        const sizeBytes = await imageSize(pull);
        return {imageRef: answer.imageRef, credential, sizeBytes, tookMs: this.#clock.now() - startedAt};
      } catch (error) {
        signal.throwIfAborted();
        causes.push(error);
      }
    }
    throw new ImagePullError(causes, problems);
  }

  async #pullFailed({request, image}: Pull, key: string, cause: unknown): Promise<ImageOutcome> {
    const now = this.#clock.now();
    this.#backoff.next(key, now, now);
    const text = messageOf(cause);
    request.events.warning('Failed', `Failed to pull image ${goQuote(image)}: ${text}`);
    const transient = cause instanceof PullLimitError;
    const failure = {...explainPullError(image, text), cause, ...(transient ? {transient} : {})};
    this.#lastFailure.set(key, {at: now, failure});
    try {
      await this.#pulls.failed(image);
    } catch (error) {
      request.events.warning('FailedToRecordImagePull', messageOf(error));
    }
    return failed(failure);
  }
}

/** A pull that wasn't tried because there were too many. */
class PullLimitError extends SystemError {}

async function inspect({request, spec, signal}: Pull): Promise<ImageRef | undefined> {
  const {image} = await request.service.imageStatus({image: spec}, {signal});
  return image === undefined || image.id === '' ? undefined : imageRef(image.id);
}

/** For the event only: 0 when the runtime doesn't say. */
async function imageSize({request, spec, signal}: Pull): Promise<bigint> {
  try {
    return (await request.service.imageStatus({image: spec}, {signal})).image?.size ?? 0n;
  } catch {
    return 0n;
  }
}

function authOf(credential: PullCredential | undefined): Pick<Init<PullImageRequest>, 'auth'> {
  if (credential === undefined) return {};
  const {username, password} = credential.login;
  return {auth: {username, password}};
}

function neverPull({image, events}: ImageRequest): ImageOutcome {
  const message = `Container image ${goQuote(image)} is not present with pull policy of Never`;
  events.warning('ErrImageNeverPull', message);
  return failed({reason: 'ErrImageNeverPull', message});
}

function failed(failure: SyncFailure): ImageOutcome {
  return {kind: 'failed', failure};
}
