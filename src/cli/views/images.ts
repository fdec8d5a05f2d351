import type {Image} from '../../cri/index.js';
import {truncateId} from '../../format/id.js';
import {humanSize} from '../../format/size.js';
import type {Column} from '../../format/table.js';
import {repoDigest, repoTags, type RepoTag} from '../../operations/image-names.js';

/** How images are shown. */
export interface ImageViewOptions {
  readonly digests: boolean;
  /** Whole ids. */
  readonly full: boolean;
  readonly pinned: boolean;
}

/** A row of `images`: an image under one of its names. */
export interface ImageRow extends RepoTag {
  readonly image: Image;
}

/** One row for each name of each image. */
export function imageRows(images: readonly Image[]): readonly ImageRow[] {
  return images.flatMap((image) => repoTags(image).map((name) => ({...name, image})));
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
