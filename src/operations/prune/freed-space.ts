/** Size of an image, and its layers if they are known. */
export interface SizedImage {
  /** Size in bytes as the runtime reports it, with all layers. */
  readonly size: bigint;
  /** Digests of the layers; empty if unknown. */
  readonly layers: readonly string[];
}

/** Bounds of an amount of space, in bytes. */
export interface SpaceRange {
  readonly min: bigint;
  readonly max: bigint;
}

/**
 * Returns how much space the removal of images frees. The CRI reports only whole images, so layers that several images
 * share make it a range: an image frees its size if no other image has any of its layers, and otherwise at most its
 * size. Of removed images that share layers only with each other, at least the largest one is freed.
 */
export function computeFreedSpace(removed: readonly SizedImage[], kept: readonly SizedImage[]): SpaceRange {
  const keptLayers = new Set(kept.flatMap(({layers}) => layers));
  const isUncertain = kept.some(({layers}) => layers.length === 0);
  let min = 0n;
  for (const group of groupBySharedLayers(removed)) {
    const isShared = group.some(
      ({layers}) => (layers.length === 0 && kept.length > 0) || layers.some((layer) => keptLayers.has(layer)),
    );
    if (isShared || isUncertain) continue;
    min += group.reduce((largest, {size}) => (size > largest ? size : largest), 0n);
  }
  return {min, max: removed.reduce((sum, {size}) => sum + size, 0n)};
}

/** Groups images that share layers, also through other images. Images with unknown layers may share any. */
function groupBySharedLayers(images: readonly SizedImage[]): readonly (readonly SizedImage[])[] {
  if (images.some(({layers}) => layers.length === 0)) return [images];
  const groups = new Map<string, SizedImage[]>();
  for (const image of images) {
    const joined = [...new Set(image.layers.flatMap((layer) => groups.get(layer) ?? []))];
    const group = [...joined, image];
    for (const {layers} of group) for (const layer of layers) groups.set(layer, group);
  }
  return [...new Set(groups.values())];
}
