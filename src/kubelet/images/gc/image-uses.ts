import {compare} from '../../../base/compare.js';
import type {Image} from '../../../cri/index.js';

/** When images may go (imageGCHighThresholdPercent and its sisters of a KubeletConfiguration). */
export interface ImageGcPolicy {
  /** From this share of the images' disk on, images go; 100 for never. */
  readonly highThresholdPercent: number;
  /** Down to this share. */
  readonly lowThresholdPercent: number;
  /** How long an image has been known before it may go. */
  readonly minAgeMs: number;
  /** How long an image may be unused, however much room there is; 0 for ever. */
  readonly maxAgeMs: number;
}

export const DEFAULT_IMAGE_GC: ImageGcPolicy = {
  highThresholdPercent: 85,
  lowThresholdPercent: 80,
  minAgeMs: 120_000,
  maxAgeMs: 0,
};

/** Since when an image is known and when it was seen in use, in ms since the epoch; `NEVER` before any time. */
export interface ImageUse {
  readonly firstDetected: number;
  readonly lastUsed: number;
}

export type ImageUses = ReadonlyMap<string, ImageUse>;

export const NEVER = -Infinity;

/**
 * What is known of images after they were listed (detectImages). `detectedAt`: since when new ones are known, NEVER
 * for those that were there before anybody looked.
 */
export function detectImages(
  known: ImageUses,
  images: readonly Image[],
  {isUsed, detectedAt, now}: DetectFacts,
): ImageUses {
  return new Map(
    images.map((image) => {
      const {firstDetected = detectedAt, lastUsed = NEVER} = known.get(image.id) ?? {};
      return [image.id, {firstDetected, lastUsed: isUsed(image) ? now : lastUsed}];
    }),
  );
}

/** How images were found. */
export interface DetectFacts {
  readonly isUsed: (image: Image) => boolean;
  readonly detectedAt: number;
  readonly now: number;
}

/** Of these images those that may go, in the order in which they do: the longest unused, then the longest known first. */
export function evictionOrder(
  images: readonly Image[],
  uses: ImageUses,
  {policy, now}: {readonly policy: ImageGcPolicy; readonly now: number},
): readonly Image[] {
  const useOf = ({id}: Image): ImageUse => uses.get(id) ?? {firstDetected: now, lastUsed: now};
  return images
    .filter((image) => !image.pinned && useOf(image).lastUsed < now)
    .filter((image) => now - useOf(image).firstDetected >= policy.minAgeMs)
    .toSorted((a, b) => byTimes(useOf(a), useOf(b)));
}

/** Those of them that have been unused for too long. A kubelet that hasn't run that long can't know. */
export function tooOld(
  images: readonly Image[],
  uses: ImageUses,
  {
    policy,
    now,
    startedAt,
  }: {readonly policy: ImageGcPolicy; readonly now: number; readonly startedAt: number},
): readonly Image[] {
  const {maxAgeMs} = policy;
  if (maxAgeMs === 0 || now - startedAt <= maxAgeMs) return [];
  return images.filter(({id}) => now - (uses.get(id)?.lastUsed ?? now) > maxAgeMs);
}

/** How full a disk is. */
export interface DiskUsage {
  readonly capacityBytes: bigint;
  readonly availableBytes: bigint;
}

/** How full the disk is in percent, and how many bytes must go; none below the high threshold. */
export function spaceToFree(
  {capacityBytes, availableBytes}: DiskUsage,
  {highThresholdPercent, lowThresholdPercent}: ImageGcPolicy,
): {readonly usedPercent: number; readonly bytes: bigint} {
  const available = availableBytes < capacityBytes ? availableBytes : capacityBytes;
  const usedPercent = 100 - Number((available * 100n) / capacityBytes);
  if (highThresholdPercent >= 100 || usedPercent < highThresholdPercent) return {usedPercent, bytes: 0n};
  const bytes = (capacityBytes * BigInt(100 - lowThresholdPercent)) / 100n - available;
  return {usedPercent, bytes: bytes > 0n ? bytes : 0n};
}

/** As the kubelet has sizes in its event: `114.7 GiB`. */
export function binarySize(bytes: bigint): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  let size = Number(bytes);
  let unit = 0;
  for (; size >= 1024 && unit < units.length - 1; unit++) size /= 1024;
  return unit === 0 ? `${size} B` : `${size.toFixed(1)} ${units[unit] ?? ''}`;
}

function byTimes(a: ImageUse, b: ImageUse): number {
  return compare(a.lastUsed, b.lastUsed) || compare(a.firstDetected, b.firstDetected);
}
