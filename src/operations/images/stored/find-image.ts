import {UsageError} from '../../../base/errors.js';
import {parseImageName} from '../../../base/parse-image-name.js';
import type {ContainerdServices} from '../../../containerd/connect-containerd.js';
import type {Image as StoredImage} from '../../../containerd/gen/types.js';
import {isNotFound, type Image} from '../../../cri/index.js';
import {allImageNames} from '../../filters/image-matching.js';
import {inspectImage} from '../../inspect/inspect-objects.js';
import {NotFoundError} from '../../resolve/target.js';
import type {ImageRuntime} from './image-runtime.js';

/** Returns the full name for a reference with a tag: `docker.io/library/app:latest` for `app`. Throws UsageError. */
export function fullImageName(reference: string): string {
  const parsed = parseImageName(reference);
  if (parsed.kind === 'invalid') throw new UsageError(`invalid image name "${reference}": ${parsed.problem}`);
  const {repository, tag, digest} = parsed.name;
  return `${repository}${tag === undefined ? '' : `:${tag}`}${digest === undefined ? '' : `@${digest}`}`;
}

/** An image as the CRI and as containerd know it. */
export interface FoundImage {
  readonly image: Image;
  /** The name that was found: the given one if it is a name of the image. */
  readonly stored: StoredImage;
}

/** Finds an image by a name or an ID. Rejects with NotFoundError. */
export async function findStoredImage(
  {cri, signal}: Pick<ImageRuntime, 'cri' | 'signal'>,
  {images}: Pick<ContainerdServices, 'images'>,
  reference: string,
): Promise<FoundImage> {
  const {image} = await inspectImage(cri.images, reference, {verbose: false, signal});
  if (image === undefined) throw new NotFoundError(`no such image "${reference}" present`);
  for (const name of candidates(reference, image)) {
    try {
      const {image: stored} = await images.get({name}, {signal});
      if (stored?.target !== undefined) return {image, stored};
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
  throw new NotFoundError(`containerd has no name for the image "${reference}"`, {
    hint: 'it was removed meanwhile; run "kcri images" to list images',
  });
}

/** Returns names to look up, the most exact first: the ID itself is a name in containerd too. */
function candidates(reference: string, image: Image): readonly string[] {
  const parsed = parseImageName(reference);
  const full = parsed.kind === 'invalid' ? [] : [fullImageName(reference)];
  const names = [...image.repoTags, ...image.repoDigests, image.id];
  return [...full.filter((name) => allImageNames(image).includes(name)), ...names];
}
