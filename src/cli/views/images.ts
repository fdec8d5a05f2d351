import type {FieldMask, Image} from '../../cri/index.js';
import {humanAgo} from '../../format/duration.js';
import {truncateId} from '../../format/id.js';
import {humanSize} from '../../format/size.js';
import type {Column} from '../../format/table.js';
import {imageName, repoDigest, underName, type NamedImage} from '../../operations/image-names.js';
import type {ImageFacts} from '../../operations/verbose-info.js';
import {byLargest, byText, type Orders} from '../list-flags.js';
import {orDash} from './cells.js';

/** What `images --sort` sorts by. */
export const IMAGE_ORDERS = {
  name: byText(imageName),
  size: byLargest((image) => image.size),
  id: byText((image) => image.id),
} as const satisfies Orders<Image>;

/** What the columns of `images` show, and its orders go by. */
export const IMAGE_COLUMN_FIELDS = {
  id: true,
  repoTags: true,
  repoDigests: true,
  size: true,
  pinned: true,
} as const satisfies FieldMask<Image>;

/** How images are shown. */
export interface ImageViewOptions {
  readonly digests: boolean;
  /** Whole ids. */
  readonly full: boolean;
  readonly pinned: boolean;
}

/** A row of `images`. */
export type ImageRow = NamedImage<Image>;

/** One row for each name of each image. */
export function imageRows(images: readonly Image[]): readonly ImageRow[] {
  const rows: ImageRow[] = [];
  for (const image of images) {
    if (image.repoTags.length === 0) rows.push(underName(image, undefined));
    for (const name of image.repoTags) rows.push(underName(image, name));
  }
  return rows;
}

/** The columns of `images`. */
export function imageColumns({digests, full, pinned}: ImageViewOptions): readonly Column<ImageRow>[] {
  const id = full ? (text: string) => text : truncateId;
  const digest: Column<ImageRow> = {header: 'DIGEST', value: ({image}) => id(repoDigest(image).digest)};
  const pin: Column<ImageRow> = {header: 'PINNED', value: ({image}) => String(image.pinned)};
  return [
    {header: 'IMAGE', value: ({repo}) => repo},
    {header: 'TAG', value: ({tag}) => tag},
    ...(digests ? [digest] : []),
    {header: 'IMAGE ID', value: ({image}) => id(image.id)},
    {header: 'SIZE', value: ({image}) => humanSize(image.size, 3)},
    ...(pinned ? [pin] : []),
  ];
}

/** What `images -o wide` shows of an image besides. */
export interface ImageDetails {
  /** How images were built, by id. */
  readonly facts: ReadonlyMap<string, ImageFacts>;
  /** How many containers there are of each, by id. */
  readonly containers: ReadonlyMap<string, number>;
}

/** The columns that `images -o wide` has besides. */
export function imageDetailColumns(
  {facts, containers}: ImageDetails,
  nowMs: number,
): readonly Column<ImageRow>[] {
  const created = ({image}: ImageRow): string => {
    const ms = facts.get(image.id)?.createdAtMs;
    return orDash(ms === undefined ? undefined : humanAgo(BigInt(ms) * 1_000_000n, nowMs));
  };
  return [
    {header: 'CREATED', value: created},
    {header: 'PLATFORM', value: ({image}) => orDash(facts.get(image.id)?.platform)},
    {header: 'CONTAINERS', value: ({image}) => String(containers.get(image.id) ?? 0)},
  ];
}

/** An image in `images -v`, with an empty line behind it. */
export function imageBlock(image: Image): string {
  const {uid} = image;
  return [
    `ID: ${image.id}`,
    ...image.repoTags.map((tag) => `RepoTags: ${tag}`),
    ...image.repoDigests.map((digest) => `RepoDigests: ${digest}`),
    ...(image.size === 0n ? [] : [`Size: ${image.size}`]),
    ...(uid === undefined ? [] : [`Uid: ${uid.value === 0n ? '' : `value:${uid.value}`}`]),
    ...(image.username === '' ? [] : [`Username: ${image.username}`]),
    ...(image.pinned ? ['Pinned: true'] : []),
    '\n',
  ].join('\n');
}
