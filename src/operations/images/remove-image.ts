import {KcriError} from '../../base/errors.js';
import type {Connection, Container, Image, RuntimeService} from '../../cri/index.js';
import {parseJson} from '../../format/json.js';
import {containerImageKeys, allImageNames} from '../filters/image-matching.js';
import {inspectImage} from '../inspect/inspect-objects.js';
import {listAllContainers, listAllImages} from '../../cri/list-all.js';
import {isCrio} from '../is-crio.js';
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
    readSandboxImage(runtime, signal),
  ]);
  return imageUsageCheck(containers, sandboxImage);
}

/** Returns a check for these containers, and the sandbox image of the runtime; empty if unknown. */
export function imageUsageCheck(containers: readonly Container[], sandboxImage: string): ImageUsageCheck {
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
export async function readSandboxImage(runtime: RuntimeService, signal: AbortSignal): Promise<string> {
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

/** The runtime reported success, but the image still has all its names. */
class ImageKeptError extends KcriError {
  readonly code = 'IMAGE_KEPT';
}

/** Options of removeImage. */
export interface ImageRemoval {
  readonly signal: AbortSignal;
  /** Check that prevents the removal; undefined to remove the image with all its tags anyway. */
  readonly usageCheck: ImageUsageCheck | undefined;
}

/**
 * Removes an image with all its tags, and returns the removed names. With a usage check, removes only the tag `ref` of an
 * image with several tags, and rejects with ImageNeededError if the runtime cannot do that or the image is in use.
 * Rejects with NotFoundError for an unknown image, and with ImageKeptError if the runtime removed nothing.
 */
export async function removeImage(
  services: Services,
  ref: string,
  {signal, usageCheck}: ImageRemoval,
): Promise<readonly string[]> {
  const {images} = services;
  const {image} = await inspectImage(images, ref, {verbose: false, signal});
  if (image === undefined) return [];
  const onlyTag = usageCheck !== undefined && (await isRemovableTag(services, ref, image, signal));
  const reason = onlyTag ? undefined : usageCheck && whyNeeded(ref, image, usageCheck);
  if (reason !== undefined) throw imageNeededError(ref, reason);
  // cri-dockerd ignores names, and CRI-O removes only a tag by its name.
  const name = onlyTag ? ref : image.id;
  await withContext(`error of removing image "${ref}"`, images.removeImage({image: {image: name}}, {signal}));
  const {image: rest} = await images.imageStatus({image: {image: image.id}}, {signal});
  const kept = rest === undefined ? [] : imageNames(rest);
  const removed = removedNames(image).filter((each) => !kept.includes(each));
  if (rest !== undefined && removed.length === 0)
    throw new ImageKeptError(`the runtime did not remove image "${ref}"`, {
      hint: 'see the log of the runtime',
    });
  return removed;
}

/** Reports whether removing the name leaves the image with other tags, which only CRI-O supports (UntagImage). */
async function isRemovableTag(
  {runtime}: Services,
  ref: string,
  image: Image,
  signal: AbortSignal,
): Promise<boolean> {
  return (
    isName(ref, image) && !ref.includes('@') && image.repoTags.length > 1 && (await isCrio(runtime, signal))
  );
}

/** Returns the reason why the whole image must not be removed, undefined for none. */
function whyNeeded(ref: string, image: Image, usageCheck: ImageUsageCheck): string | undefined {
  const names = removedNames(image);
  const others = names.filter((name) => name !== ref);
  return (
    usageCheck(image) ??
    (isName(ref, image) && names.length > 1 ? `also tagged ${others.join(', ')}` : undefined)
  );
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

const imageNames = ({repoTags, repoDigests}: Image): readonly string[] => [...repoTags, ...repoDigests];

function isName(ref: string, {id}: Image): boolean {
  return !id.replace(/^sha256:/, '').startsWith(ref.replace(/^sha256:/, ''));
}
