import {KcriError} from '../../base/errors.js';
import type {Connection, ImageService} from '../../cri/index.js';
import {removedNames} from '../../operations/images/remove-image.js';
import {withContext} from '../../operations/with-context.js';

/** Images that `crictl rmi` removes. */
export interface RemovalSelection {
  readonly refs: readonly string[];
  readonly all: boolean;
  readonly prune: boolean;
}

/** Options for the reports of a removal. */
export interface RemovalReporting {
  readonly signal: AbortSignal;
  readonly warn: (text: string) => void;
  readonly complain: (text: string) => void;
}

/** Reports that an image does not exist. */
class NoImageError extends KcriError {
  readonly code = 'NOT_FOUND';
}

/** Returns the images that crictl would remove, including pinned ones; undefined if none was named or found. */
export async function listCrictlRemovals(
  services: Connection,
  {refs, all, prune}: RemovalSelection,
  reporting: RemovalReporting,
): Promise<readonly string[] | undefined> {
  const ids = new Map(refs.map((ref) => [ref, true]));
  if (all || prune) {
    const {images} = await services.images.listImages({}, {signal: reporting.signal});
    for (const {id} of images.filter(({pinned}) => !(prune && pinned))) ids.set(id, true);
  }
  if (prune) for (const id of await usedIds(services, reporting)) ids.set(id, false);
  return ids.size === 0 ? undefined : [...ids].filter(([, goes]) => goes).map(([id]) => id);
}

/** Returns the images of all containers. Makes one call per container; reports and skips failed calls. */
async function usedIds(
  {runtime, images}: Connection,
  {signal, complain}: RemovalReporting,
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

/** Removes an image as crictl does and returns the removed names. Warns if the image has several tags. */
export async function removeCrictlImage(
  images: ImageService,
  ref: string,
  {prune, signal, warn}: Pick<RemovalSelection, 'prune'> & RemovalReporting,
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
