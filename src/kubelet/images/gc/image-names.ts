import type {Image} from '../../../cri/index.js';
import {parseImageName} from '../image-name.js';

/** All names of images: ids, and repositories in full with tag and with digest. */
export function imageNames(images: readonly Image[]): ReadonlySet<string> {
  return new Set(images.flatMap(({id, repoTags, repoDigests}) => [id, ...repoTags, ...repoDigests]));
}

/** How a runtime may have what somebody names an image: as it is, and in full. None of the empty name. */
export function namesOf(name: string): readonly string[] {
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
