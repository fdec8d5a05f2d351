import {KcriError} from '../../base/errors.js';
import type {Connection, ImageService} from '../../cri/index.js';
import {removedNames} from '../../operations/remove-images.js';
import {withContext} from '../../operations/with-context.js';

/** Which images crictl's `rmi` is to remove. */
export interface RemovalWish {
  readonly refs: readonly string[];
  readonly all: boolean;
  readonly prune: boolean;
}

/** How the removal is told. */
export interface RemovalTelling {
  readonly signal: AbortSignal;
  readonly warn: (text: string) => void;
  readonly complain: (text: string) => void;
}

/** crictl found no such image. */
class NoImageError extends KcriError {
  readonly code = 'NOT_FOUND';
}

/** The images that crictl would remove, pinned ones included; undefined when nothing was named or found. */
export async function crictlRemovals(
  services: Connection,
  {refs, all, prune}: RemovalWish,
  telling: RemovalTelling,
): Promise<readonly string[] | undefined> {
  const ids = new Map(refs.map((ref) => [ref, true]));
  if (all || prune) {
    const {images} = await services.images.listImages({}, {signal: telling.signal});
    for (const {id} of images.filter(({pinned}) => !(prune && pinned))) ids.set(id, true);
  }
  if (prune) for (const id of await usedIds(services, telling)) ids.set(id, false);
  return ids.size === 0 ? undefined : [...ids].filter(([, goes]) => goes).map(([id]) => id);
}

/** The images of all containers; one call for each, and none for what fails. */
async function usedIds(
  {runtime, images}: Connection,
  {signal, complain}: RemovalTelling,
): Promise<readonly string[]> {
  const {containers} = await runtime.listContainers({}, {signal});
  const ids: string[] = [];
  for (const {image} of containers) {
    const name = image?.image ?? '';
    try {
      ids.push((await images.imageStatus({image: {image: name}}, {signal})).image?.id ?? '');
    } catch (error) {
      if (!(error instanceof KcriError)) throw error;
      complain(`image status request for "${name}" failed: ${error.message}`);
    }
  }
  return ids;
}

/** Removes an image as crictl does, with a warning when it has several tags, and gives the names that are gone. */
export async function crictlRemoveImage(
  images: ImageService,
  ref: string,
  {prune, signal, warn}: Pick<RemovalWish, 'prune'> & RemovalTelling,
): Promise<readonly string[]> {
  const asked = images.imageStatus({image: {image: ref}}, {signal});
  const {image} = await withContext(`image status request for "${ref}" failed`, asked);
  if (image === undefined) throw new NoImageError(`no such image ${ref}`);
  if (image.repoTags.length > 1 && !ref.startsWith('sha256:') && /[:/]/.test(ref)) {
    warn(`Image "${ref}" has multiple tags. Removing this image will delete all of the following tags:`);
    for (const tag of image.repoTags) warn(`  ${tag}`);
  }
  try {
    await withContext(
      `error of removing image "${ref}"`,
      images.removeImage({image: {image: ref}}, {signal}),
    );
  } catch (error) {
    if (prune && error instanceof KcriError) return [];
    throw error;
  }
  return removedNames(image);
}
