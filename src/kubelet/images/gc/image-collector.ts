import type {Clock} from '../../../base/clock.js';
import {messageOf, SystemError} from '../../../base/errors.js';
import type {Logger} from '../../../base/logger.js';
import {
  isNotFound,
  type Container,
  type Image,
  type ImageService,
  type RuntimeService,
} from '../../../cri/index.js';
import {listAllContainers, listAllImages} from '../../../cri/list-all.js';
import {imageNames, namesOf} from './image-names.js';
import {
  binarySize,
  detectImages,
  evictionOrder,
  NEVER,
  spaceToFree,
  tooOld,
  type DiskUsage,
  type ImageGcPolicy,
  type ImageUses,
} from './image-uses.js';

/** What of the records of pulls the collector takes. */
export interface CollectedRecords {
  /** The images that kcri has pulled; undefined when it can't be known on which runtime. */
  pulledRefs(): Promise<ReadonlySet<string> | undefined>;
  /** Forgets the pulls before `before` (ms since the epoch) of images that aren't there any more. */
  prunePulled(isKnown: (imageRef: string) => boolean, before: number): Promise<void>;
}

/** What the collector works with. */
export interface ImageCollectorParts {
  readonly runtime: Pick<RuntimeService, 'listContainers' | 'streamContainers' | 'containerStatus'>;
  readonly images: ImageService;
  readonly records: CollectedRecords;
  /** The images that the pods want that kcri keeps, as these name them. */
  readonly wanted: () => Promise<readonly string[]>;
  /** How full the disk is that a directory is on. */
  readonly diskUsage: (path: string) => Promise<DiskUsage>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Something is wrong with the node. */
  readonly nodeWarning: (reason: string, message: string) => void;
  /** Called for each image that was removed. */
  readonly collected?: (reason: 'age' | 'space') => void;
}

const PERIOD_MS = 300_000;

/**
 * Removes images that nothing uses when their disk is nearly full, or when they are unused for too long
 * (image_gc_manager.go). A kubelet has its node's images to itself; kcri may share a runtime with others, and so
 * removes only what it has pulled itself, and nothing that a container of anybody, or a pod that it keeps, uses.
 */
export class ImageCollector {
  readonly #parts: ImageCollectorParts;
  readonly #policy: ImageGcPolicy;
  readonly #startedAt: number;
  #uses: ImageUses = new Map();
  #detected = false;
  /** Aborts when the next round is not to wait for its time. */
  #asked = new AbortController();
  #failedBefore = false;

  /** What the policy says may change at any time. */
  constructor(parts: ImageCollectorParts, policy: ImageGcPolicy) {
    this.#parts = parts;
    this.#policy = policy;
    this.#startedAt = parts.clock.now();
  }

  /** Looks after the images every five minutes, and when asked to, until the signal aborts; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const {clock} = this.#parts;
    while (!signal.aborted) {
      this.#asked = new AbortController();
      if (this.#isOff) this.#tellOff();
      else await this.#round(signal);
      const roused = AbortSignal.any([signal, this.#asked.signal]);
      await clock.sleep(PERIOD_MS, roused).catch(() => undefined); // asked for, or the end
    }
  }

  /** Has a round begin at once, or after the one that is under way. */
  ask(): void {
    this.#asked.abort();
  }

  get #isOff(): boolean {
    const {highThresholdPercent, maxAgeMs} = this.#policy;
    return highThresholdPercent >= 100 && maxAgeMs === 0;
  }

  #tellOff(): void {
    const message = 'ImageGCHighThresholdPercent is set 100 and ImageMaximumGCAge is 0, Disable image GC';
    this.#parts.logger.info(message, {}, 2);
  }

  async #round(signal: AbortSignal): Promise<void> {
    const {logger, nodeWarning} = this.#parts;
    try {
      await this.collect(signal);
      logger.info('Image garbage collection succeeded', {}, this.#failedBefore ? 1 : 4);
      this.#failedBefore = false;
    } catch (error) {
      if (signal.aborted) return;
      if (this.#failedBefore) {
        logger.error(error, 'Image garbage collection failed multiple times in a row');
        nodeWarning('ImageGCFailed', messageOf(error));
      } else
        logger.error(
          error,
          'Image garbage collection failed once. Stats initialization may not have completed yet',
        );
      this.#failedBefore = true;
    }
  }

  /** One round. Rejects with CriError and SystemError. */
  async collect(signal: AbortSignal): Promise<void> {
    const {clock, records, logger} = this.#parts;
    const now = clock.now();
    const all = await this.#detect(now, signal);
    const own = await this.#own(all);
    const candidates = evictionOrder(own, this.#uses, {policy: this.#policy, now});
    const used = candidates.length === 0 ? noNames : await this.#mountedNames(signal);
    const free = candidates.filter((image) => !isNamed(image, used));
    const old = tooOld(free, this.#uses, {policy: this.#policy, now, startedAt: this.#startedAt});
    const removed = new Set<Image>();
    for (const image of old) {
      await this.#remove(image, 'age', signal);
      removed.add(image);
    }
    await this.#freeSpace(
      free.filter((image) => !old.includes(image)),
      removed,
      signal,
    );
    const left = imageNames(all.filter((image) => !removed.has(image)));
    await records.prunePulled((imageRef) => left.has(imageRef), this.#startedAt);
    logger.info('Images were looked after', {images: all.length, removed: removed.size}, 5);
  }

  /** Lists all images, and notes which are in use now. */
  async #detect(now: number, signal: AbortSignal): Promise<readonly Image[]> {
    const {runtime, images, wanted} = this.#parts;
    const all = await listAllImages(images, signal);
    const containers = await listAllContainers(runtime, {}, signal);
    const names = new Set([...containers.flatMap(containerImageNames), ...(await wanted()).flatMap(namesOf)]);
    this.#uses = detectImages(this.#uses, all, {
      isUsed: (image) => isNamed(image, names),
      detectedAt: this.#detected ? now : NEVER,
      now,
    });
    this.#detected = true;
    return all;
  }

  async #own(all: readonly Image[]): Promise<readonly Image[]> {
    const pulled = await this.#parts.records.pulledRefs();
    if (pulled !== undefined) return all.filter((image) => isNamed(image, pulled));
    this.#parts.logger.info(
      'No images are removed: more than one runtime has pulled for this root directory',
      {},
      2,
    );
    return [];
  }

  /** The names of the images that containers have as volumes, of which lists don't tell. */
  async #mountedNames(signal: AbortSignal): Promise<ReadonlySet<string>> {
    const {runtime} = this.#parts;
    const names = new Set<string>();
    for (const {id} of await listAllContainers(runtime, {}, signal))
      for (const name of await this.#imagesMountedBy(id, signal)) names.add(name);
    return names;
  }

  async #imagesMountedBy(id: Container['id'], signal: AbortSignal): Promise<readonly string[]> {
    try {
      const {status} = await this.#parts.runtime.containerStatus({containerId: id}, {signal});
      return (status?.mounts ?? []).flatMap(({image}) => namesOf(image?.image ?? ''));
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
  }

  async #freeSpace(images: readonly Image[], removed: Set<Image>, signal: AbortSignal): Promise<void> {
    const {logger, nodeWarning} = this.#parts;
    const usage = await this.#usage(signal);
    const {usedPercent, bytes} = spaceToFree(usage, this.#policy);
    if (bytes === 0n) return;
    const {highThresholdPercent: highThreshold, lowThresholdPercent: lowThreshold} = this.#policy;
    logger.info(
      'Disk usage on image filesystem is over the high threshold, trying to free bytes down to the low threshold',
      {usage: usedPercent, highThreshold, amountToFree: bytes, lowThreshold},
    );
    let freed = 0n;
    const failures: unknown[] = [];
    for (const image of images) {
      if (freed >= bytes) break;
      try {
        await this.#remove(image, 'space', signal);
        removed.add(image);
        freed += image.size;
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0)
      throw new SystemError(
        `wanted to free ${bytes} bytes, but freed ${freed} bytes space with errors in image deletion: ${failures.map(messageOf).join(', ')}`,
      );
    if (freed >= bytes) return;
    const message = `Insufficient free disk space on the node's image filesystem (${usedPercent}% of ${binarySize(usage.capacityBytes)} used). Failed to free sufficient space by deleting unused images (freed ${freed} bytes). Investigate disk usage, as it could be used by active images, logs, volumes, or other data.`;
    nodeWarning('FreeDiskSpaceFailed', message);
    throw new SystemError(message);
  }

  async #usage(signal: AbortSignal): Promise<DiskUsage> {
    const {images, diskUsage, nodeWarning} = this.#parts;
    const {imageFilesystems} = await images.imageFsInfo({}, {signal});
    const mountpoint = imageFilesystems[0]?.fsId?.mountpoint;
    if (mountpoint === undefined) throw new SystemError('the runtime names no image filesystem');
    const usage = await diskUsage(mountpoint);
    if (usage.capacityBytes > 0n) return usage;
    const message = 'invalid capacity 0 on image filesystem';
    nodeWarning('InvalidDiskCapacity', message);
    throw new SystemError(message);
  }

  async #remove(image: Image, why: 'age' | 'space', signal: AbortSignal): Promise<void> {
    const {images, logger, collected} = this.#parts;
    const {id, size} = image;
    logger.info('Removing image to free bytes', {imageID: id, size, reason: why});
    await images.removeImage({image: {image: id}}, {signal});
    collected?.(why);
  }
}

const noNames: ReadonlySet<string> = new Set();

function containerImageNames({image, imageRef, imageId}: Container): readonly string[] {
  return [image?.image ?? '', imageRef, imageId].flatMap(namesOf);
}

function isNamed(image: Image, names: ReadonlySet<string>): boolean {
  return [...imageNames([image])].some((name) => names.has(name));
}
