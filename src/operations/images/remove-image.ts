import {KcriError} from '../../base/errors.js';
import type {Connection, Image, RuntimeService} from '../../cri/index.js';
import {parseJson} from '../../format/json.js';
import {containerImageKeys, allImageNames} from './image-matching.js';
import {inspectImage} from '../inspect/inspect-objects.js';
import {listAllContainers, listAllImages} from '../../cri/list-all.js';
import {withContext} from '../with-context.js';

type Services = Pick<Connection, 'runtime' | 'images'>;

/** An image with the reason why it is in use; undefined if it is not. */
export interface ImageUsage {
  readonly image: Image;
  readonly inUseReason: string | undefined;
}

/**
 * Returns the reason why an image is in use: by the runtime (pinned, or the sandbox image of its configuration, which
 * containerd 1.6 does not pin) or by a container in any state.
 */
export type ImageUsageCheck = (image: Image) => string | undefined;

/** Returns a check based on the current state of the runtime. */
export async function createImageUsageCheck(
  {runtime}: Services,
  signal: AbortSignal,
): Promise<ImageUsageCheck> {
  const [containers, sandboxImage] = await Promise.all([
    listAllContainers(runtime, {}, signal),
    sandboxImageOf(runtime, signal),
  ]);
  const users = new Map(
    containers.flatMap((container) => containerImageKeys(container).map((key) => [key, container] as const)),
  );
  return (image) => {
    const names = allImageNames(image);
    if (image.pinned || names.includes(sandboxImage)) return 'pinned by the runtime';
    const user = names.map((name) => users.get(name)).find((container) => container !== undefined);
    return user && `used by container ${user.id.slice(0, 13)} (${user.metadata?.name ?? ''})`;
  };
}

/** Returns all images with the reasons why they are in use. */
export async function listImageUsage(
  services: Services,
  signal: AbortSignal,
): Promise<readonly ImageUsage[]> {
  const [images, inUse] = await Promise.all([
    listAllImages(services.images, signal),
    createImageUsageCheck(services, signal),
  ]);
  return images.map((image) => ({image, inUseReason: inUse(image)}));
}

/** Returns the sandbox image from the runtime's verbose status, or an empty string. */
async function sandboxImageOf(runtime: RuntimeService, signal: AbortSignal): Promise<string> {
  const {info} = await runtime.status({verbose: true}, {signal});
  const {config = '{}'} = info;
  try {
    const parsed = parseJson(config) as {readonly sandboxImage?: unknown} | null;
    return typeof parsed?.sandboxImage === 'string' ? parsed.sandboxImage : '';
  } catch (error) {
    // Other runtimes may have a configuration that is not JSON.
    if (error instanceof SyntaxError) return '';
    throw error;
  }
}

/** An image is in use or has further tags, and --force is not set. */
class ImageNeededError extends KcriError {
  readonly code = 'IMAGE_NEEDED';
}

/** Options of removeImage. */
export interface ImageRemoval {
  readonly signal: AbortSignal;
  /** Check that prevents the removal; undefined to remove the image with all its tags anyway. */
  readonly usageCheck: ImageUsageCheck | undefined;
}

/**
 * Removes an image with all its tags, since the CRI knows no tags, and returns the removed names. Rejects with
 * NotFoundError; with a usage check, rejects with ImageNeededError for an image in use and for one that has further
 * tags, which the user may not want to lose.
 */
export async function removeImage(
  {images}: Services,
  ref: string,
  {signal, usageCheck}: ImageRemoval,
): Promise<readonly string[]> {
  const {image} = await inspectImage(images, ref, {verbose: false, signal});
  const names = image === undefined ? [] : removedNames(image);
  if (image !== undefined && usageCheck !== undefined) {
    const reason = usageCheck(image);
    if (reason !== undefined) throw imageNeededError(ref, reason);
    if (isName(ref, image) && names.length > 1)
      throw imageNeededError(ref, `also tagged ${names.filter((name) => name !== ref).join(', ')}`);
  }
  await withContext(`error of removing image "${ref}"`, images.removeImage({image: {image: ref}}, {signal}));
  return names;
}

function imageNeededError(ref: string, reason: string): ImageNeededError {
  return new ImageNeededError(`image "${ref}" is ${reason}`, {
    hint: 'the runtime removes an image with all its tags; use --force to remove it anyway',
  });
}

/** Returns the names shown for a removed image: its tags, or its digests if it has no tags. */
export function removedNames({repoTags, repoDigests}: Image): readonly string[] {
  return repoTags.length === 0 ? repoDigests : repoTags;
}

function isName(ref: string, {id}: Image): boolean {
  return !id.replace(/^sha256:/, '').startsWith(ref.replace(/^sha256:/, ''));
}
