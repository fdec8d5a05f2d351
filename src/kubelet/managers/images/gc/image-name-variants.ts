import type {Image} from '../../../../cri/index.js';
import {parseImageName} from '../../../../base/parse-image-name.js';

/** Returns all names of images: IDs, tags and digests. */
export function collectImageNames(images: readonly Image[]): ReadonlySet<string> {
  return new Set(images.flatMap(({id, repoTags, repoDigests}) => [id, ...repoTags, ...repoDigests]));
}

/**
 * Returns the forms in which a runtime may list an image name: unchanged and fully qualified; none for the empty name.
 */
export function imageNameVariants(name: string): readonly string[] {
  if (name === '') return [];
  const parsed = parseImageName(name);
  if (parsed.kind === 'invalid') return [name];
  const {repository, tag, digest} = parsed.name;
  return [
    name,
    ...(digest === undefined ? [] : [`${repository}@${digest}`]),
    ...(tag === undefined || digest !== undefined ? [] : [`${repository}:${tag}`]),
  ];
}
