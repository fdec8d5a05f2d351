import type {FieldMask, Image} from '../../cri/index.js';
import {humanAgo} from '../../format/duration.js';
import type {JsonObject} from '../../format/json.js';
import {truncateId} from '../../format/truncate-id.js';
import {humanSize} from '../../format/human-size.js';
import type {Column} from '../../format/table.js';
import {
  imageDisplayName,
  repoDigest,
  toNamedImage,
  type NamedImage,
} from '../../operations/filters/image-matching.js';
import type {ImageInfo} from '../../operations/inspect/verbose-info.js';
import {compareByLargest, compareByText, type SortOrders} from './list-flags.js';
import {formatOrDash} from '../../cli/output/views/table-cells.js';

/** Compare functions of `images --sort`. */
export const IMAGE_ORDERS = {
  name: compareByText(imageDisplayName),
  size: compareByLargest((image) => image.size),
  id: compareByText((image) => image.id),
} as const satisfies SortOrders<Image>;

/** Fields that the columns and sort keys of `images` use. */
export const IMAGE_COLUMN_FIELDS = {
  id: true,
  repoTags: true,
  repoDigests: true,
  size: true,
  pinned: true,
} as const satisfies FieldMask<Image>;

/** Options of the columns of `images`. */
export interface ImageViewOptions {
  readonly digests: boolean;
  /** True to show untruncated IDs. */
  readonly full: boolean;
  readonly pinned: boolean;
}

/** Row of `images`. */
export type ImageRow = NamedImage<Image>;

/** Returns one row per name of each image. */
export function imageRows(images: readonly Image[]): readonly ImageRow[] {
  const rows: ImageRow[] = [];
  for (const image of images) {
    if (image.repoTags.length === 0) rows.push(toNamedImage(image, undefined));
    for (const name of image.repoTags) rows.push(toNamedImage(image, name));
  }
  return rows;
}

/** Returns the columns of `images`. */
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

/** Additional data of `images -o wide`. */
export interface ImageDetails {
  /** Build information by image ID. */
  readonly facts: ReadonlyMap<string, ImageInfo>;
  /** Number of containers by image ID. */
  readonly containers: ReadonlyMap<string, number>;
}

/** Returns the additional columns of `images -o wide`. */
export function imageDetailColumns(
  {facts, containers}: ImageDetails,
  nowMs: number,
): readonly Column<ImageRow>[] {
  const created = ({image}: ImageRow): string => {
    const ms = facts.get(image.id)?.createdAtMs;
    return formatOrDash(ms === undefined ? undefined : humanAgo(BigInt(ms) * 1_000_000n, nowMs));
  };
  return [
    {header: 'CREATED', value: created},
    {header: 'PLATFORM', value: ({image}) => formatOrDash(facts.get(image.id)?.platform)},
    {header: 'CONTAINERS', value: ({image}) => String(containers.get(image.id) ?? 0)},
  ];
}

/** Returns an image as in the status of a Node, with its ID. */
export function imageObject({id, repoTags, repoDigests, size, pinned}: Image): JsonObject {
  return {
    kind: 'Image',
    metadata: {name: id},
    names: [...repoTags, ...repoDigests],
    sizeBytes: Number(size),
    pinned,
  };
}

/** Formats an image for `images -v`, followed by an empty line. */
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
