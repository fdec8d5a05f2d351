import {KcriError, UsageError} from '../../../base/errors.js';
import type {ContainerdConnection} from '../../../containerd/connect-containerd.js';
import type {Image} from '../../../cri/index.js';
import {inspectImage} from '../../inspect/inspect-objects.js';
import {NotFoundError} from '../../resolve/target.js';
import {findStoredImage, fullImageName} from './find-image.js';
import {onImageRuntime, type ImageRuntime} from './image-runtime.js';
import {registerImage, untilCriShows} from './register-image.js';
import {findStorageTool, runStorageTool} from './storage-tools.js';

/** Result of tagImage. */
export interface Tagging {
  /** The full new name. */
  readonly name: string;
  /** True if the name belonged to another image before. */
  readonly hasMoved: boolean;
}

/** Gives an image a further name. Rejects with UsageError for an invalid name, and with NotFoundError. */
export async function tagImage(runtime: ImageRuntime, source: string, name: string): Promise<Tagging> {
  const full = fullImageName(name);
  if (full.includes('@'))
    throw new UsageError(`the new name "${name}" has a digest`, {hint: 'use NAME[:TAG]'});
  return await onImageRuntime('image tag', runtime, {
    containerd: async (containerd) => tagInContainerd(runtime, containerd, {source, name: full}),
    crio: async () => {
      const {signal, cri} = runtime;
      const image = await existingImage(runtime, source);
      const {image: before} = await cri.images.imageStatus({image: {image: full}}, {signal});
      const tool = await findStorageTool('image tag', ['podman', 'buildah'], runtime);
      await runStorageTool(tool, ['tag', image.id, full], runtime);
      return {name: full, hasMoved: before !== undefined && before.id !== image.id};
    },
  });
}

async function tagInContainerd(
  runtime: ImageRuntime,
  containerd: ContainerdConnection,
  {source, name}: {readonly source: string; readonly name: string},
): Promise<Tagging> {
  const {image, stored} = await findStoredImage(runtime, containerd, source);
  const {target} = stored;
  if (target === undefined) throw new NotFoundError(`no such image "${source}" present`);
  const {before} = await registerImage(containerd, name, target, runtime.signal);
  await untilCriShows(runtime, name, (found) => found?.id === image.id && found.repoTags.includes(name));
  return {name, hasMoved: before !== undefined && before !== target.digest};
}

/** The name is the last one of an image. */
class LastNameError extends KcriError {
  readonly code = 'LAST_NAME';
}

/** Result of untagImage. */
export interface Untagging {
  readonly name: string;
  readonly imageId: string;
  /** The remaining tags of the image. */
  readonly remaining: readonly string[];
}

/**
 * Removes one name of an image and nothing else. Rejects with LastNameError if the image has no other tag, and with
 * NotFoundError.
 */
export async function untagImage(runtime: ImageRuntime, name: string): Promise<Untagging> {
  const {cri, signal} = runtime;
  const full = fullImageName(name);
  const image = await existingImage(runtime, name);
  if (!image.repoTags.includes(full))
    throw new UsageError(`"${name}" is not a tag of the image`, {
      hint: `its tags are ${image.repoTags.join(', ') || 'none'}`,
    });
  const remaining = image.repoTags.filter((each) => each !== full);
  if (remaining.length === 0)
    throw new LastNameError(`"${full}" is the last name of the image ${image.id}`, {
      hint: `run "kcri rmi ${full}" to remove the image`,
    });
  await onImageRuntime('image untag', runtime, {
    containerd: async ({images}) => {
      await images.delete({name: full}, {signal});
    },
    // CRI-O removes only the tag of an image with several.
    crio: async () => {
      await cri.images.removeImage({image: {image: full}}, {signal});
    },
  });
  await untilCriShows(runtime, image.id, (found) => found?.repoTags.includes(full) !== true);
  return {name: full, imageId: image.id, remaining};
}

async function existingImage({cri, signal}: ImageRuntime, reference: string): Promise<Image> {
  const {image} = await inspectImage(cri.images, reference, {verbose: false, signal});
  if (image === undefined) throw new NotFoundError(`no such image "${reference}" present`);
  return image;
}
