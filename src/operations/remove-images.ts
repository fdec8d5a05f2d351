import {KcriError} from '../base/errors.js';
import type {Connection, Image, RuntimeService} from '../cri/index.js';
import {parseJson} from '../format/json.js';
import {imageKeys, namesOf} from './image-names.js';
import {inspectImage} from './inspect.js';
import {listAllContainers, listAllImages} from '../cri/list-all.js';
import {withContext} from './with-context.js';

type Services = Pick<Connection, 'runtime' | 'images'>;

/** An image, and why something needs it; undefined when nothing does. */
export interface JudgedImage {
  readonly image: Image;
  readonly need: string | undefined;
}

/**
 * Tells of an image why something needs it: the runtime (pinned, or the sandbox image that its configuration
 * names: containerd 1.6 does not pin that) or a container in whatever state.
 */
export type ImageJudge = (image: Image) => string | undefined;

/** Makes a judge of what the runtime says now. */
export async function imageJudge({runtime}: Services, signal: AbortSignal): Promise<ImageJudge> {
  const [containers, sandboxImage] = await Promise.all([
    listAllContainers(runtime, {}, signal),
    sandboxImageOf(runtime, signal),
  ]);
  const users = new Map(
    containers.flatMap((container) => imageKeys(container).map((key) => [key, container] as const)),
  );
  return (image) => {
    const names = namesOf(image);
    if (image.pinned || names.includes(sandboxImage)) return 'pinned by the runtime';
    const user = names.map((name) => users.get(name)).find((container) => container !== undefined);
    return user && `used by container ${user.id.slice(0, 13)} (${user.metadata?.name ?? ''})`;
  };
}

/** All images, each with why something needs it. */
export async function judgeImages(services: Services, signal: AbortSignal): Promise<readonly JudgedImage[]> {
  const [images, judge] = await Promise.all([
    listAllImages(services.images, signal),
    imageJudge(services, signal),
  ]);
  return images.map((image) => ({image, need: judge(image)}));
}

/** The image that sandboxes are made of, as far as the runtime's verbose status tells; else an empty text. */
async function sandboxImageOf(runtime: RuntimeService, signal: AbortSignal): Promise<string> {
  const {info} = await runtime.status({verbose: true}, {signal});
  const {config = '{}'} = info;
  try {
    const parsed = parseJson(config) as {readonly sandboxImage?: unknown} | null;
    return typeof parsed?.sandboxImage === 'string' ? parsed.sandboxImage : '';
  } catch (error) {
    // Another runtime's configuration is not JSON.
    if (error instanceof SyntaxError) return '';
    throw error;
  }
}

/** An image must not be removed without being asked twice. */
class ImageNeededError extends KcriError {
  readonly code = 'IMAGE_NEEDED';
}

/** The removal of an image that is about to happen. */
export interface ImageRemoval {
  readonly signal: AbortSignal;
  /** Refuses what something needs; undefined to remove it all the same, with all its tags. */
  readonly judge: ImageJudge | undefined;
}

/**
 * Removes an image with all its tags, since the CRI knows no tags, and gives the names that are gone. Throws
 * NoSuchError; with a judge ImageNeededError for an image that something needs, and for one that goes by other names
 * than the one given, which the user may not mean to lose.
 */
export async function removeImage(
  {images}: Services,
  ref: string,
  {signal, judge}: ImageRemoval,
): Promise<readonly string[]> {
  const {image} = await inspectImage(images, ref, {verbose: false, signal});
  const names = image === undefined ? [] : removedNames(image);
  if (image !== undefined && judge !== undefined) {
    const need = judge(image);
    if (need !== undefined) throw needed(ref, need);
    if (isName(ref, image) && names.length > 1)
      throw needed(ref, `also tagged ${names.filter((name) => name !== ref).join(', ')}`);
  }
  await withContext(`error of removing image "${ref}"`, images.removeImage({image: {image: ref}}, {signal}));
  return names;
}

function needed(ref: string, why: string): ImageNeededError {
  return new ImageNeededError(`image "${ref}" is ${why}`, {
    hint: 'the runtime removes an image with all its tags; give --force to do so all the same',
  });
}

/** The names by which an image was told: its tags, or its digests when it has no tags. */
export function removedNames({repoTags, repoDigests}: Image): readonly string[] {
  return repoTags.length === 0 ? repoDigests : repoTags;
}

function isName(ref: string, {id}: Image): boolean {
  return !id.replace(/^sha256:/, '').startsWith(ref.replace(/^sha256:/, ''));
}
