import {compare} from '../../../../base/compare.js';
import type {Image} from '../../../../cri/index.js';

/** Policy of image GC (imageGCHighThresholdPercent and related fields of KubeletConfiguration). */
export interface ImageGcPolicy {
  /** Disk usage in percent at which images are removed; 100 for never. */
  readonly highThresholdPercent: number;
  /** Disk usage in percent down to which images are removed. */
  readonly lowThresholdPercent: number;
  /** Minimum time since an image was detected before it may be removed. */
  readonly minAgeMs: number;
  /** Time after which an unused image is removed regardless of disk usage; 0 for never. */
  readonly maxAgeMs: number;
}

export const DEFAULT_IMAGE_GC_POLICY: ImageGcPolicy = {
  highThresholdPercent: 85,
  lowThresholdPercent: 80,
  minAgeMs: 120_000,
  maxAgeMs: 0,
};

/** Times at which an image was first detected and last used, in ms of the monotonic clock; `NEVER` is before any time. */
export interface ImageUse {
  readonly firstDetected: number;
  readonly lastUsed: number;
}

export type ImageUses = ReadonlyMap<string, ImageUse>;

export const NEVER = -Infinity;

/** Updates the use times of images after they were listed (detectImages). */
export function detectImages(
  known: ImageUses,
  images: readonly Image[],
  {isUsed, now}: {readonly isUsed: (image: Image) => boolean; readonly now: number},
): ImageUses {
  return new Map(
    images.map((image) => {
      const {firstDetected = now, lastUsed = NEVER} = known.get(image.id) ?? {};
      return [image.id, {firstDetected, lastUsed: isUsed(image) ? now : lastUsed}];
    }),
  );
}

/** Sets the last use of these images to `now`. */
export function markUsed(known: ImageUses, images: readonly Image[], now: number): ImageUses {
  const used = images.map(({id}): [string, ImageUse] => [
    id,
    {firstDetected: known.get(id)?.firstDetected ?? now, lastUsed: now},
  ]);
  return new Map([...known, ...used]);
}

/** Returns the images that may be removed: the longest unused first, then the longest known (imagesInEvictionOrder). */
export function imagesInEvictionOrder(
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

/** Returns the images unused for longer than maxAgeMs; none until the kubelet has run for that long (freeOldImages). */
export function imagesOverMaxAge(
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

/** Capacity and free space of a filesystem. */
export interface DiskUsage {
  readonly capacityBytes: bigint;
  readonly availableBytes: bigint;
}

/** Computes the disk usage in percent and how many bytes to free; 0 below the high threshold. */
export function computeSpaceToFree(
  {capacityBytes, availableBytes}: DiskUsage,
  {highThresholdPercent, lowThresholdPercent}: ImageGcPolicy,
): {readonly usedPercent: number; readonly bytes: bigint} {
  const available = availableBytes < capacityBytes ? availableBytes : capacityBytes;
  const usedPercent = 100 - Number((available * 100n) / capacityBytes);
  if (highThresholdPercent >= 100 || usedPercent < highThresholdPercent) return {usedPercent, bytes: 0n};
  const bytes = (capacityBytes * BigInt(100 - lowThresholdPercent)) / 100n - available;
  return {usedPercent, bytes: bytes > 0n ? bytes : 0n};
}

/** Formats a size like the kubelet's events: `114.7 GiB`. */
export function formatBinarySize(bytes: bigint): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  let size = Number(bytes);
  let unit = 0;
  for (; size >= 1024 && unit < units.length - 1; unit++) size /= 1024;
  return unit === 0 ? `${size} B` : `${size.toFixed(1)} ${units[unit] ?? ''}`;
}

function byTimes(a: ImageUse, b: ImageUse): number {
  return compare(a.lastUsed, b.lastUsed) || compare(a.firstDetected, b.firstDetected);
}
