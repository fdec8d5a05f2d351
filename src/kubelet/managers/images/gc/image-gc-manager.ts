import {WakeableSleep} from '../../../../base/async/wakeable-sleep.js';
import type {Clock} from '../../../../base/clock.js';
import {formatAggregate, KcriError, messageOf, SystemError} from '../../../../base/errors.js';
import type {FileLogger, Logger} from '../../../../base/logger.js';
import {isNamedLikeSandboxImage} from '../../../../base/parse-image-name.js';
import {
  isNotFound,
  type Container,
  type Image,
  type ImageService,
  type RuntimeService,
} from '../../../../cri/index.js';
import {listAllContainers, listAllImages} from '../../../../cri/list-all.js';
import {formatDuration} from '../../../../format/duration.js';
import {collectImageNames, imageNameVariants} from './image-name-variants.js';
import {
  formatBinarySize,
  detectImages,
  imagesInEvictionOrder,
  markUsed,
  computeSpaceToFree,
  imagesOverMaxAge,
  type DiskUsage,
  type ImageGcPolicy,
  type ImageUses,
} from './image-gc-policy.js';
import type {LiveValue} from '../../../contract/live-value.js';
import type {KubeletTracer} from '../../../contract/observation/kubelet-tracer.js';

/** Pull records that image GC uses. */
export interface ImageGcRecords {
  /** Removes records older than `before` (ms since the epoch) of images that no longer exist. */
  pruneUnknownRecords(isKnown: (imageRef: string) => boolean, before: number): Promise<void>;
}

/** Dependencies of ImageGcManager. */
export interface ImageGcManagerOptions {
  readonly runtime: Pick<RuntimeService, 'listContainers' | 'streamContainers' | 'containerStatus'>;
  readonly images: ImageService;
  readonly records: ImageGcRecords;
  /** Returns the image names in the specs of all pods of kcri. */
  readonly desiredImages: () => Promise<readonly string[]>;
  /** Returns the usage of the filesystem of a path. */
  readonly diskUsage: (path: string) => Promise<DiskUsage>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Records a warning event of the node. */
  readonly nodeWarning: (reason: string, message: string) => void;
  /** Called for each removed image. */
  readonly onImageRemoved?: (reason: 'age' | 'space') => void;
  /** Traces periodic collections; by default they are not traced. */
  readonly tracer?: Pick<KubeletTracer, 'traceCollection'> | undefined;
}

const PERIOD_MS = 300_000;

/**
 * Removes unused images when their filesystem is nearly full, or when they have been unused for too long
 * (image_gc_manager.go), whoever pulled or imported them. Images stay if the runtime pins them, if a container of any
 * client uses or mounts them, or if a pod of kcri names them.
 */
export class ImageGcManager {
  readonly #dependencies: ImageGcManagerOptions;
  readonly #logger: FileLogger;
  readonly #policy: LiveValue<ImageGcPolicy>;
  /** Start, in ms since the epoch. */
  readonly #startedAt: number;
  /** Start, in ms of the monotonic clock. */
  readonly #startedAtMs: number;
  #uses: ImageUses = new Map();
  readonly #sleep: WakeableSleep;
  #lastFailed = false;

  constructor(dependencies: ImageGcManagerOptions, policy: LiveValue<ImageGcPolicy>) {
    this.#dependencies = dependencies;
    this.#logger = dependencies.logger.forFile('image-gc-manager.ts');
    this.#policy = policy;
    this.#startedAt = dependencies.clock.now();
    this.#startedAtMs = dependencies.clock.monotonic();
    this.#sleep = new WakeableSleep(dependencies.clock);
  }

  /**
   * Collects images every 5 minutes and when triggered, until the signal aborts (StartGarbageCollection). Never
   * rejects.
   */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#isDisabled) this.#logDisabled();
      else await this.#collectAndReport(signal);
      await this.#sleep.sleep(PERIOD_MS, signal);
    }
  }

  /** Starts a collection at once, or after the current one. */
  trigger(): void {
    this.#sleep.wake();
  }

  get #isDisabled(): boolean {
    const {highThresholdPercent, maxAgeMs} = this.#policy.current;
    return highThresholdPercent >= 100 && maxAgeMs === 0;
  }

  #logDisabled(): void {
    const message = 'ImageGCHighThresholdPercent is set 100 and ImageMaximumGCAge is 0, Disable image GC';
    this.#logger.info(message, {}, 2);
  }

  async #collectAndReport(signal: AbortSignal): Promise<void> {
    const {nodeWarning, tracer} = this.#dependencies;
    const collect = async (): Promise<void> => {
      await this.collect(signal);
    };
    try {
      await (tracer?.traceCollection('Images', collect) ?? collect());
      this.#logger.info('Image garbage collection succeeded', {}, this.#lastFailed ? 1 : 4);
      this.#lastFailed = false;
    } catch (error) {
      if (signal.aborted) return;
      if (this.#lastFailed) {
        this.#logger.error(error, 'Image garbage collection failed multiple times in a row');
        nodeWarning('ImageGCFailed', messageOf(error));
      } else
        this.#logger.error(
          error,
          'Image garbage collection failed once. Stats initialization may not have completed yet',
        );
      this.#lastFailed = true;
    }
  }

  /**
   * Collects images once (GarbageCollect). An image that cannot be removed does not keep others. Rejects with CriError
   * and SystemError.
   */
  async collect(signal: AbortSignal): Promise<void> {
    const now = this.#dependencies.clock.monotonic();
    const {all, unused} = await this.#findUnused(now, signal);
    const old = imagesOverMaxAge(unused, this.#uses, {
      policy: this.#policy.current,
      now,
      startedAt: this.#startedAtMs,
    });
    const removed = new Set<Image>();
    const failures = [
      ...(await this.#removeOld(old, removed, signal)),
      ...(await this.#freeSpace(
        unused.filter((image) => !old.includes(image)),
        removed,
        signal,
      )),
    ];
    await this.#finish(all, removed);
    const [first] = failures;
    if (first !== undefined)
      throw failures.length === 1 ? first : new SystemError(formatAggregate(failures), {cause: first});
  }

  /** Removes all unused images, whatever the used space (DeleteUnusedImages). Rejects like `collect`. */
  async deleteUnused(signal: AbortSignal): Promise<void> {
    this.#logger.info('Attempting to delete unused images');
    const {all, unused} = await this.#findUnused(this.#dependencies.clock.monotonic(), signal);
    const removed = new Set<Image>();
    const {freed, failures} = await this.#removeUntil(unused, undefined, {reason: 'space', removed, signal});
    await this.#finish(all, removed);
    if (failures.length > 0)
      throw new SystemError(
        `freed ${freed} bytes space with errors in image deletion: ${formatAggregate(failures)}`,
      );
  }

  /** Finds all images, and those that may be removed in the order of their removal. */
  async #findUnused(
    now: number,
    signal: AbortSignal,
  ): Promise<{readonly all: readonly Image[]; readonly unused: readonly Image[]}> {
    const all = await this.#detect(now, signal);
    const candidates = imagesInEvictionOrder(withoutSandboxImage(all), this.#uses, {
      policy: this.#policy.current,
      now,
    });
    const mounted = candidates.length === 0 ? NO_NAMES : await this.#mountedImageNames(signal);
    const isMounted = (image: Image): boolean => hasNameIn(image, mounted);
    this.#uses = markUsed(this.#uses, candidates.filter(isMounted), now);
    return {all, unused: candidates.filter((image) => !isMounted(image))};
  }

  /** Removes the records of images that no longer exist. */
  async #finish(all: readonly Image[], removed: ReadonlySet<Image>): Promise<void> {
    const remaining = collectImageNames(all.filter((image) => !removed.has(image)));
    await this.#dependencies.records.pruneUnknownRecords(
      (imageRef) => remaining.has(imageRef),
      this.#startedAt,
    );
    this.#logger.info('Image garbage collection finished', {images: all.length, removed: removed.size}, 5);
  }

  /** Lists all images and updates their detection and use times (detectImages). */
  async #detect(now: number, signal: AbortSignal): Promise<readonly Image[]> {
    const {runtime, images, desiredImages} = this.#dependencies;
    const all = await listAllImages(images, signal);
    const containers = await listAllContainers(runtime, {}, signal);
    const names = new Set([
      ...containers.flatMap(containerImageNames),
      ...(await desiredImages()).flatMap(imageNameVariants),
    ]);
    this.#uses = detectImages(this.#uses, all, {isUsed: (image) => hasNameIn(image, names), now});
    return all;
  }

  /** Returns the names of images mounted as volumes, which container lists do not contain. */
  async #mountedImageNames(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const {runtime} = this.#dependencies;
    const names = new Set<string>();
    for (const {id} of await listAllContainers(runtime, {}, signal))
      for (const name of await this.#imagesMountedBy(id, signal)) names.add(name);
    return names;
  }

  async #imagesMountedBy(id: Container['id'], signal: AbortSignal): Promise<readonly string[]> {
    try {
      const {status} = await this.#dependencies.runtime.containerStatus({containerId: id}, {signal});
      return (status?.mounts ?? []).flatMap(({image}) => imageNameVariants(image?.image ?? ''));
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  }

  /** Removes images that are too old. Resolves with the failure, if there was one. */
  async #removeOld(
    images: readonly Image[],
    removed: Set<Image>,
    signal: AbortSignal,
  ): Promise<readonly SystemError[]> {
    const {failures} = await this.#removeUntil(images, undefined, {reason: 'age', removed, signal});
    if (failures.length === 0) return [];
    const maxAge = formatDuration(BigInt(this.#policy.current.maxAgeMs) * 1_000_000n);
    const message = `wanted to free images older than ${maxAge}, encountered errors in image deletion: ${formatAggregate(failures)}`;
    return [new SystemError(message, {cause: failures[0]})];
  }

  /** Removes images if the disk is too full. Resolves with the failure, if there was one. */
  async #freeSpace(
    images: readonly Image[],
    removed: Set<Image>,
    signal: AbortSignal,
  ): Promise<readonly SystemError[]> {
    const {nodeWarning} = this.#dependencies;
    const usage = await this.#usage(signal);
    const {usedPercent, bytes} = computeSpaceToFree(usage, this.#policy.current);
    if (bytes === 0n) return [];
    const {highThresholdPercent: highThreshold, lowThresholdPercent: lowThreshold} = this.#policy.current;
    this.#logger.info(
      'Disk usage on image filesystem is over the high threshold, trying to free bytes down to the low threshold',
      {usage: usedPercent, highThreshold, amountToFree: bytes, lowThreshold},
    );
    const {freed, failures} = await this.#removeUntil(images, bytes, {reason: 'space', removed, signal});
    const [cause] = failures;
    if (cause !== undefined) {
      const message = `wanted to free ${bytes} bytes, but freed ${freed} bytes space with errors in image deletion: ${formatAggregate(failures)}`;
      return [new SystemError(message, {cause})];
    }
    if (freed >= bytes) return [];
    const message = `Insufficient free disk space on the node's image filesystem (${usedPercent}% of ${formatBinarySize(usage.capacityBytes)} used). Failed to free sufficient space by deleting unused images (freed ${freed} bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.`;
    nodeWarning('FreeDiskSpaceFailed', message);
    return [new SystemError(message)];
  }

  /** Removes images until so many bytes are freed, or all; adds them to `removed`. */
  async #removeUntil(
    images: readonly Image[],
    bytes: bigint | undefined,
    {reason, removed, signal}: RemoveUntilOptions,
  ): Promise<{readonly freed: bigint; readonly failures: readonly KcriError[]}> {
    let freed = 0n;
    const failures: KcriError[] = [];
    for (const image of images) {
      if (bytes !== undefined && freed >= bytes) break;
      try {
        await this.#remove(image, reason, signal);
        removed.add(image);
        freed += image.size;
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof KcriError)) throw error;
        failures.push(error);
      }
    }
    return {freed, failures};
  }

  async #usage(signal: AbortSignal): Promise<DiskUsage> {
    const {images, diskUsage, nodeWarning} = this.#dependencies;
    const {imageFilesystems} = await images.imageFsInfo({}, {signal});
    const mountpoint = imageFilesystems[0]?.fsId?.mountpoint;
    if (mountpoint === undefined) throw new SystemError('the runtime reports no image filesystem');
    const usage = await diskUsage(mountpoint);
    if (usage.capacityBytes > 0n) return usage;
    const message = 'invalid capacity 0 on image filesystem';
    nodeWarning('InvalidDiskCapacity', message);
    throw new SystemError(message);
  }

  async #remove(image: Image, reason: 'age' | 'space', signal: AbortSignal): Promise<void> {
    const {images, onImageRemoved} = this.#dependencies;
    const {id, size} = image;
    this.#logger.info('Removing image to free bytes', {imageID: id, size, reason});
    await images.removeImage({image: {image: id}}, {signal});
    onImageRemoved?.(reason);
  }
}

/** Options of the removal of images. */
interface RemoveUntilOptions {
  readonly reason: 'age' | 'space';
  /** Receives the removed images. */
  readonly removed: Set<Image>;
  readonly signal: AbortSignal;
}

const NO_NAMES: ReadonlySet<string> = new Set();

function containerImageNames({image, imageRef, imageId}: Container): readonly string[] {
  return [image?.image ?? '', imageRef, imageId].flatMap(imageNameVariants);
}

/** Drops what may be the sandbox image, unless the runtime pins images: then it also pins its sandbox image. */
function withoutSandboxImage(images: readonly Image[]): readonly Image[] {
  if (images.some(({pinned}) => pinned)) return images;
  return images.filter((image) => ![...collectImageNames([image])].some(isNamedLikeSandboxImage));
}

function hasNameIn(image: Image, names: ReadonlySet<string>): boolean {
  return [...collectImageNames([image])].some((name) => names.has(name));
}
