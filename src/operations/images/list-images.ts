import {compare} from '../../base/compare.js';
import {EmptyValueError, UsageError} from '../../base/errors.js';
import type {Container, FieldMask, Image, ImageService} from '../../cri/index.js';
import {fetchImageDetails} from '../inspect/fetch-details.js';
import {parseNamePattern} from '../filters/list-filters.js';
import {
  matchesImageName,
  createImageFinder,
  isDangling,
  matchesImagePattern,
  imageReferences,
} from '../filters/image-matching.js';
import {listAllImages} from '../../cri/list-all.js';

/** Conditions for images. */
export interface ImageQuery {
  /** `REPO[:TAG]`, `REPO@DIGEST` or an ID; `*` in a name matches any text. */
  readonly name?: string | undefined;
  /** Filters, applied in order: `dangling=`, `reference=`, `before=`, `since=`. */
  readonly filters?: readonly string[] | undefined;
  /** Fields needed of each image, besides its names; default all. */
  readonly fields?: FieldMask<Image> | undefined;
}

/** Options of listImages besides the query. */
export interface ImageListOptions {
  readonly signal: AbortSignal;
  /** Called if `before` or `since` used the order of the list. */
  readonly onNote?: (text: string) => void;
}

/**
 * Returns the images that match, sorted by first tag, else first digest, else ID. The name is matched here, because
 * containerd ignores it. Calls ListImages; `before` and `since` compare build times and call ImageStatus for each
 * image. Rejects with UsageError for an invalid filter.
 */
export async function listImages(
  service: ImageService,
  {name, filters = [], fields}: ImageQuery,
  {signal, onNote = () => undefined}: ImageListOptions,
): Promise<readonly Image[]> {
  const conditions = await parseConditions(filters);
  const all = sortImages(await listAllImages(service, signal, fields && {...fields, ...NAMES}));
  const context: ConditionContext = {
    all,
    onNote,
    builtAt: async () => {
      const {byId} = await fetchImageDetails(service, all, signal);
      return new Map([...byId].map(([id, {createdAtMs}]) => [id, createdAtMs]));
    },
  };
  let remaining = name === undefined ? all : all.filter((image) => matchesImagePattern(image, name));
  for (const condition of conditions) remaining = await condition(remaining, context);
  return remaining;
}

const NAMES = {id: true, repoTags: true, repoDigests: true} as const;

/** Returns the number of containers of each image by image ID. */
export function countContainersByImage(
  images: readonly Image[],
  containers: readonly Container[],
): ReadonlyMap<string, number> {
  const imageOf = createImageFinder(images);
  const counts = new Map<string, number>();
  for (const container of containers) {
    const id = imageOf(container)?.id;
    if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

/** Sorts images by first tag, else first digest, else ID. */
export function sortImages(images: readonly Image[]): readonly Image[] {
  return images.toSorted(byName);
}

function byName(a: Image, b: Image): number {
  const tag = a.repoTags[0];
  const otherTag = b.repoTags[0];
  if (tag !== undefined && otherTag !== undefined) return compare(tag, otherTag);
  const digest = a.repoDigests[0];
  const otherDigest = b.repoDigests[0];
  if (digest !== undefined && otherDigest !== undefined) return compare(digest, otherDigest);
  return compare(a.id, b.id);
}

/** Data for conditions. */
interface ConditionContext {
  /** All images, sorted. */
  readonly all: readonly Image[];
  readonly onNote: (text: string) => void;
  /** Build times of images by ID, in milliseconds since the epoch. */
  readonly builtAt: () => Promise<ReadonlyMap<string, number | undefined>>;
}

type Condition = (images: readonly Image[], context: ConditionContext) => Promise<readonly Image[]>;

const CONDITIONS: Readonly<Record<string, (value: string) => Condition | Promise<Condition>>> = {
  dangling: (value) => {
    if (!/^(true|false)$/.test(value)) throw new UsageError(`dangling must be true or false, not "${value}"`);
    return async (images) => images.filter((image) => isDangling(image) === (value === 'true'));
  },
  reference: async (value) => {
    const pattern = await parseNamePattern(value);
    return async (images) =>
      images.filter((image) => imageReferences(image).some((name) => pattern?.test(name) ?? true));
  },
  since: (value) => relativeTo(value, 'since'),
  before: (value) => relativeTo(value, 'before'),
};

/** Parses filters in their order. Rejects with UsageError for the first invalid one. */
async function parseConditions(filters: readonly string[]): Promise<readonly Condition[]> {
  const conditions: Condition[] = [];
  for (const filter of filters) conditions.push(await parseCondition(filter));
  return conditions;
}

async function parseCondition(filter: string): Promise<Condition> {
  const [, name = '', value = ''] = /^(\w+)=(.*)$/s.exec(filter) ?? [];
  const condition = Object.hasOwn(CONDITIONS, name) ? CONDITIONS[name] : undefined;
  if (condition === undefined)
    throw new UsageError(`unknown filter flag: ${filter}`, {
      hint: `use one of ${Object.keys(CONDITIONS)
        .map((known) => `${known}=…`)
        .join(', ')}`,
    });
  if (value === '') throw new EmptyValueError(`"${name}" in --filter`);
  return await condition(value);
}

/**
 * Selects the images built after or before another one. If its build time is unknown, the order by name decides, as
 * in crictl.
 */
function relativeTo(value: string, which: 'since' | 'before'): Condition {
  return async (images, {all, onNote, builtAt}) => {
    const image = all.find((each) => matchesImageName(each, value));
    if (image === undefined) throw new UsageError(`${which}: no such image "${value}"`);
    const times = await builtAt();
    const limit = times.get(image.id);
    if (limit === undefined) {
      onNote(`the build time of "${value}" is unknown; ${which} uses the order of names, as crictl does`);
      const [position, positions] = [all.indexOf(image), new Map(all.map((each, index) => [each, index]))];
      const isAbove = (each: Image): boolean => (positions.get(each) ?? 0) < position;
      return images.filter((each) => each !== image && isAbove(each) === (which === 'since'));
    }
    return images.filter(({id}) => {
      const time = times.get(id);
      return time !== undefined && (which === 'since' ? time > limit : time < limit);
    });
  };
}
