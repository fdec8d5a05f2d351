import {forEachLimit} from '../../base/async/for-each-limit.js';
import {isNamedLikeSandboxImage} from '../../base/parse-image-name.js';
import {isNotFound, type Connection, type Container, type Image} from '../../cri/index.js';
import {listAllContainers, listAllImages} from '../../cri/list-all.js';
import {allImageNames, isDangling} from '../filters/image-matching.js';
import {sortImages} from '../images/list-images.js';
import {
  imageUsageCheck,
  readSandboxImage,
  removeImage,
  type ImageUsageCheck,
} from '../images/remove-image.js';
import {fetchImageDetails} from '../inspect/fetch-details.js';
import type {ImageInfo} from '../inspect/verbose-info.js';
import {withContext} from '../with-context.js';
import {computeFreedSpace, type SizedImage, type SpaceRange} from './freed-space.js';

/** Images to prune. */
export interface ImagePruneQuery {
  /** True for all unused images; otherwise only those without a tag. */
  readonly all: boolean;
  /** Select only images built before this time, in ms since the epoch. */
  readonly builtBeforeMs?: number | undefined;
  /** Select only images with these labels; an undefined value matches any. */
  readonly labels?: ReadonlyMap<string, string | undefined> | undefined;
}

/** Options of an image pruner. */
export interface ImagePrunerOptions extends ImagePruneQuery {
  /** Returns the reason why an image must stay for other reasons than its use by a container. */
  readonly reservedBy?: ImageUsageCheck;
  /** IDs of containers that will be removed before the images. */
  readonly removedContainers?: ReadonlySet<string>;
  readonly signal: AbortSignal;
}

/** Images that a prune removes, and the space that this frees. */
export interface ImagePrunePlan {
  readonly images: readonly Image[];
  readonly space: SpaceRange;
  /** Number of images that are in use or pinned. */
  readonly inUse: number;
  /** Number of unused images that the query may select, but whose build time or labels are unknown. */
  readonly unknown: number;
}

/** Result for one image. */
export type PrunedImage =
  | {readonly kind: 'removed'; readonly names: readonly string[]}
  | {readonly kind: 'kept'; readonly reason: string}
  /** Another program has removed it. */
  | {readonly kind: 'gone'};

const AT_ONCE = 16;

/** Finds and removes images that nothing uses: no container in any state, no image volume, no pod of kcri. */
export class ImagePruner {
  readonly #connection: Pick<Connection, 'runtime' | 'images'>;
  readonly #options: ImagePrunerOptions;
  /** References of images that containers mount as volumes, by container; they never change. */
  readonly #mounts = new Map<string, readonly string[]>();
  #sandboxImage = '';
  #knowsSandboxImage = false;
  #details: ReadonlyMap<string, ImageInfo> = new Map();
  #images: readonly Image[] = [];

  constructor(connection: Pick<Connection, 'runtime' | 'images'>, options: ImagePrunerOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** Returns the images that would be removed. Rejects with CriError. */
  async plan(): Promise<ImagePrunePlan> {
    const {images: service, runtime} = this.#connection;
    const {signal, removedContainers = new Set()} = this.#options;
    const [images, sandboxImage] = await Promise.all([
      withContext('listing images', listAllImages(service, signal)),
      readSandboxImage(runtime, signal),
    ]);
    this.#images = sortImages(images);
    this.#sandboxImage = sandboxImage;
    this.#knowsSandboxImage = images.some(
      (image) => image.pinned || allImageNames(image).includes(sandboxImage),
    );
    this.#details = (await fetchImageDetails(service, this.#images, signal)).byId;
    const inUse = await this.#usageCheck((id) => !removedContainers.has(id));
    const unused = this.#images.filter((image) => inUse(image) === undefined);
    const fitting = unused.filter((image) => this.#options.all || isDangling(image));
    const selected = fitting.filter((image) => this.#isSelected(image) === true);
    return {
      images: selected,
      space: this.spaceOf(selected),
      inUse: this.#images.length - unused.length,
      unknown: fitting.filter((image) => this.#isSelected(image) === undefined).length,
    };
  }

  /** All images at the time of the plan, sorted by name. */
  get images(): readonly Image[] {
    return this.#images;
  }

  /** Returns the space that the removal of these images frees. */
  spaceOf(removed: readonly Image[]): SpaceRange {
    const sized = (image: Image): SizedImage => ({
      size: image.size,
      layers: this.#details.get(image.id)?.layers ?? [],
    });
    const kept = this.#images.filter((image) => !removed.includes(image));
    return computeFreedSpace(removed.map(sized), kept.map(sized));
  }

  /** Removes an image unless it has been used, tagged or pinned since the plan. Rejects with KcriError. */
  async remove({id}: Image): Promise<PrunedImage> {
    const {images} = this.#connection;
    const {signal, all} = this.#options;
    const [{image}, inUse] = await Promise.all([
      images.imageStatus({image: {image: id}}, {signal}),
      this.#usageCheck(() => true),
    ]);
    if (image === undefined) return {kind: 'gone'};
    const reason =
      inUse(image) ??
      (all || isDangling(image)
        ? undefined
        : 'it was tagged in the meantime; use --all to remove tagged images too');
    if (reason !== undefined) return {kind: 'kept', reason};
    return {kind: 'removed', names: await removeImage(this.#connection, id, {signal, usageCheck: undefined})};
  }

  /** Reports whether the query selects an image; undefined if that depends on unknown facts. */
  #isSelected({id}: Image): boolean | undefined {
    const {builtBeforeMs, labels = new Map<string, undefined>()} = this.#options;
    if (builtBeforeMs === undefined && labels.size === 0) return true;
    const info = this.#details.get(id);
    if (info === undefined) return undefined;
    const hasLabels = [...labels].every(
      ([key, value]) =>
        Object.hasOwn(info.labels, key) && (value === undefined || info.labels[key] === value),
    );
    if (!hasLabels) return false;
    if (builtBeforeMs === undefined) return true;
    return info.createdAtMs === undefined ? undefined : info.createdAtMs < builtBeforeMs;
  }

  /** Returns a check against the current containers of the runtime that `counts` selects. */
  async #usageCheck(counts: (id: string) => boolean): Promise<ImageUsageCheck> {
    const {signal, reservedBy} = this.#options;
    const all = await withContext(
      'listing containers',
      listAllContainers(this.#connection.runtime, {}, signal),
    );
    const containers = all.filter(({id}) => counts(id));
    const byContainer = imageUsageCheck(containers, this.#sandboxImage);
    const mounted = await this.#mountedImages(containers);
    return (image) => byContainer(image) ?? reservedBy?.(image) ?? this.#otherReason(image, mounted);
  }

  #otherReason(image: Image, mounted: ReadonlySet<string>): string | undefined {
    const names = allImageNames(image);
    if (names.some((name) => mounted.has(name))) return 'mounted by a container';
    const mayBeSandboxImage = !this.#knowsSandboxImage && names.some(isNamedLikeSandboxImage);
    return mayBeSandboxImage ? 'possibly the sandbox image of the runtime' : undefined;
  }

  /** Returns the references of the images that containers mount, which lists do not contain. */
  async #mountedImages(containers: readonly Container[]): Promise<ReadonlySet<string>> {
    const {runtime} = this.#connection;
    const {signal} = this.#options;
    await forEachLimit(containers, AT_ONCE, async ({id}) => {
      if (this.#mounts.has(id)) return;
      try {
        const {status} = await runtime.containerStatus({containerId: id}, {signal});
        const references = (status?.mounts ?? []).flatMap(({image}) => image?.image ?? []);
        this.#mounts.set(id, references.filter(Boolean));
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    });
    return new Set(containers.flatMap(({id}) => this.#mounts.get(id) ?? []));
  }
}
