import type {Connection, Image, RuntimeService} from '../cri/index.js';
import {parseJson} from '../format/json.js';
import {imageKeys, namesOf} from './image-names.js';
import {inspectImage} from './inspect.js';
import {withContext} from './with-context.js';

type Services = Pick<Connection, 'runtime' | 'images'>;

/** An image that stays although all were to go, and why. */
export interface KeptImage {
  readonly image: Image;
  readonly reason: 'pinned' | 'in use';
}

/** What a sweep over all images found. */
export interface ImageSweep {
  readonly unused: readonly Image[];
  readonly kept: readonly KeptImage[];
}

/**
 * All images, told apart by whether something needs them: the runtime (pinned, or the sandbox image that its
 * configuration names: containerd 1.6 does not pin that) or a container in whatever state.
 */
export async function sweepImages({runtime, images}: Services, signal: AbortSignal): Promise<ImageSweep> {
  const [{images: all}, {containers}, sandboxImage] = await Promise.all([
    images.listImages({}, {signal}),
    runtime.listContainers({}, {signal}),
    sandboxImageOf(runtime, signal),
  ]);
  const used = new Set(containers.flatMap(imageKeys));
  const reason = (image: Image): KeptImage['reason'] | undefined => {
    if (image.pinned || namesOf(image).includes(sandboxImage)) return 'pinned';
    return namesOf(image).some((name) => used.has(name)) ? 'in use' : undefined;
  };
  const judged = all.map((image) => ({image, reason: reason(image)}));
  return {
    unused: judged.filter((item) => item.reason === undefined).map(({image}) => image),
    kept: judged.filter((item): item is KeptImage => item.reason !== undefined),
  };
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

/** The removal of an image that is about to happen. */
export interface ImageRemoval {
  readonly signal: AbortSignal;
  /** Told all tags when one was named and several will go: the CRI removes images, not tags. */
  readonly onSeveralTags: (tags: readonly string[]) => void;
}

/** Removes an image with all its tags and gives the names that are gone. Throws NoSuchError. */
export async function removeImage(
  {images}: Services,
  ref: string,
  {signal, onSeveralTags}: ImageRemoval,
): Promise<readonly string[]> {
  const {image} = await inspectImage(images, ref, {verbose: false, signal});
  const {repoTags = [], repoDigests = []} = image ?? {};
  if (repoTags.length > 1 && !ref.startsWith('sha256:') && /[:/]/.test(ref)) onSeveralTags(repoTags);
  await withContext(`error of removing image "${ref}"`, images.removeImage({image: {image: ref}}, {signal}));
  return repoTags.length === 0 ? repoDigests : repoTags;
}
