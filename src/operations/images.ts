import {compare} from '../base/compare.js';
import {UsageError} from '../base/errors.js';
import type {Container, FieldMask, Image, ImageService} from '../cri/index.js';
import {imageDetails} from './details.js';
import {namePattern} from './filters.js';
import {goesBy, imageFinder, isDangling, namedLike, referencesOf} from './image-names.js';
import {listAllImages} from '../cri/list-all.js';

/** Which images are wanted. */
export interface ImageQuery {
  /** `REPO[:TAG]`, `REPO@DIGEST` or an id; `*` in a name stands for anything. */
  readonly name?: string | undefined;
  /** Conditions, applied in their order: `dangling=`, `reference=`, `before=`, `since=`. */
  readonly filters?: readonly string[] | undefined;
  /** What is wanted of each, besides its names; all unless given. */
  readonly fields?: FieldMask<Image> | undefined;
}

/** What a list is made with beside the query. */
export interface ImageListOptions {
  readonly signal: AbortSignal;
  /** Told when `before` or `since` had to go by the order of the list. */
  readonly onNote?: (text: string) => void;
}

/**
 * The images that match, ordered by first tag, else by first digest, else by id. The name is compared here,
 * because containerd does not look at it. One ListImages; `before` and `since` compare when images were built,
 * for which each is asked about. Throws UsageError for a condition that is none.
 */
export async function listImages(
  service: ImageService,
  {name, filters = [], fields}: ImageQuery,
  {signal, onNote = () => undefined}: ImageListOptions,
): Promise<readonly Image[]> {
  const conditions = filters.map(parseCondition);
  const all = orderImages(await listAllImages(service, signal, fields && {...fields, ...NAMES}));
  const context: ConditionContext = {
    all,
    onNote,
    builtAt: async () => {
      const {byId} = await imageDetails(service, all, signal);
      return new Map([...byId].map(([id, {createdAtMs}]) => [id, createdAtMs]));
    },
  };
  let left = name === undefined ? all : all.filter((image) => namedLike(image, name));
  for (const condition of conditions) left = await condition(left, context);
  return left;
}

const NAMES = {id: true, repoTags: true, repoDigests: true} as const;

/** How many containers there are of each image, by the image's id. */
export function containersPerImage(
  images: readonly Image[],
  containers: readonly Container[],
): ReadonlyMap<string, number> {
  const imageOf = imageFinder(images);
  const counts = new Map<string, number>();
  for (const container of containers) {
    const id = imageOf(container)?.id;
    if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

/** Images by first tag, else by first digest, else by id. */
export function orderImages(images: readonly Image[]): readonly Image[] {
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

/** What conditions may look at. */
interface ConditionContext {
  /** All images in their order. */
  readonly all: readonly Image[];
  readonly onNote: (text: string) => void;
  /** When images were built, by id, in milliseconds since the epoch. */
  readonly builtAt: () => Promise<ReadonlyMap<string, number | undefined>>;
}

type Condition = (images: readonly Image[], context: ConditionContext) => Promise<readonly Image[]>;

const CONDITIONS: Readonly<Record<string, (value: string) => Condition>> = {
  dangling: (value) => {
    if (!/^(true|false)$/.test(value))
      throw new UsageError(`dangling should be true or false, not "${value}"`);
    return async (images) => images.filter((image) => isDangling(image) === (value === 'true'));
  },
  reference: (value) => {
    const pattern = namePattern(value);
    return async (images) =>
      images.filter((image) => referencesOf(image).some((name) => pattern?.test(name) ?? true));
  },
  since: (value) => relativeTo(value, 'since'),
  before: (value) => relativeTo(value, 'before'),
};

function parseCondition(filter: string): Condition {
  const [, name = '', value = ''] = /^(\w+)=(.*)$/s.exec(filter) ?? [];
  const condition = Object.hasOwn(CONDITIONS, name) ? CONDITIONS[name] : undefined;
  if (condition === undefined)
    throw new UsageError(`unknown filter flag: ${filter}`, {
      hint: `filters are ${Object.keys(CONDITIONS)
        .map((known) => `${known}=…`)
        .join(', ')}`,
    });
  return condition(value);
}

/** Images built after or before one. Where that one does not say when, crictl's order by name has to do. */
function relativeTo(value: string, which: 'since' | 'before'): Condition {
  return async (images, {all, onNote, builtAt}) => {
    const image = all.find((each) => goesBy(each, value));
    if (image === undefined) throw new UsageError(`no image "${value}" to filter by`);
    const times = await builtAt();
    const limit = times.get(image.id);
    if (limit === undefined) {
      onNote(`"${value}" does not say when it was built; ${which} goes by the order of names, as in crictl`);
      const [place, places] = [all.indexOf(image), new Map(all.map((each, index) => [each, index]))];
      const isAbove = (each: Image): boolean => (places.get(each) ?? 0) < place;
      return images.filter((each) => each !== image && isAbove(each) === (which === 'since'));
    }
    return images.filter(({id}) => {
      const time = times.get(id);
      return time !== undefined && (which === 'since' ? time > limit : time < limit);
    });
  };
}
