import {UsageError} from '../base/errors.js';
import type {Image, ImageService} from '../cri/index.js';
import {namePattern} from './filters.js';
import {goesBy, repoDigest, repoTags} from './image-names.js';

/** Which images are wanted. */
export interface ImageQuery {
  /** `REPO[:TAG]`, `REPO@DIGEST` or an id. */
  readonly name?: string | undefined;
  /** crictl's conditions, applied in their order: `dangling=`, `reference=`, `before=`, `since=`. */
  readonly filters?: readonly string[] | undefined;
}

/**
 * The images that match, ordered by first tag, else by first digest, else by id. The name is compared here as
 * well, because containerd does not look at it. Throws UsageError for a condition that is none.
 */
export async function listImages(
  images: ImageService,
  {name, filters = []}: ImageQuery,
  signal: AbortSignal,
): Promise<readonly Image[]> {
  const conditions = filters.map(parseCondition);
  const {images: all} = await images.listImages({}, {signal});
  const named = all.filter((image) => name === undefined || goesBy(image, name)).toSorted(byName);
  return conditions.reduce<readonly Image[]>((left, condition) => condition(left), named);
}

function byName(a: Image, b: Image): number {
  const [tagA, tagB] = [a.repoTags[0], b.repoTags[0]];
  if (tagA !== undefined && tagB !== undefined) return compare(tagA, tagB);
  const [digestA, digestB] = [a.repoDigests[0], b.repoDigests[0]];
  if (digestA !== undefined && digestB !== undefined) return compare(digestA, digestB);
  return compare(a.id, b.id);
}

function compare(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

type Condition = (images: readonly Image[]) => readonly Image[];

const CONDITIONS: Readonly<Record<string, (value: string) => Condition>> = {
  dangling: (value) => {
    const wanted = value === 'true';
    return (images) => images.filter((image) => (image.repoTags.length === 0) === wanted);
  },
  reference: (value) => {
    const pattern = namePattern(value);
    return (images) => images.filter((image) => names(image).some((name) => pattern?.test(name) ?? true));
  },
  // The CRI does not say when an image was made, so the order is that of the list, as in crictl.
  since: (value) => (images) => images.slice(0, indexOf(images, value)),
  before: (value) => (images) => images.slice(indexOf(images, value) + 1),
};

function parseCondition(filter: string): Condition {
  const [, name = '', value = ''] = /^(\w+)=(.*)$/s.exec(filter) ?? [];
  const condition = CONDITIONS[name];
  if (condition === undefined)
    throw new UsageError(`unknown filter flag: ${filter}`, {
      hint: `filters are ${Object.keys(CONDITIONS)
        .map((known) => `${known}=…`)
        .join(', ')}`,
    });
  return condition(value);
}

function names(image: Image): readonly string[] {
  return [...repoTags(image).map(({repo}) => repo), repoDigest(image).repo];
}

function indexOf(images: readonly Image[], value: string): number {
  const index = images.findIndex((image) => goesBy(image, value));
  if (index === -1) throw new UsageError(`no image "${value}" to filter by`);
  return index;
}
