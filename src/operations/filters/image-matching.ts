import {matchesGlob} from '../../base/glob.js';
import type {Container, Image} from '../../cri/index.js';

const NONE = '<none>';

/** An image with one of its names, as shown in a row of the table. */
export interface NamedImage<Named> {
  readonly image: Named;
  readonly repo: string;
  readonly tag: string;
}

/** Returns repository and digest of an image's first digested name, `<none>` for an image without. */
export function repoDigest({repoDigests}: Pick<Image, 'repoDigests'>): {repo: string; digest: string} {
  const [first] = repoDigests;
  if (first === undefined) return {repo: NONE, digest: NONE};
  const [repo, digest, ...rest] = first.split('@');
  return repo === undefined || digest === undefined || rest.length > 0
    ? {repo: 'errorName', digest: 'errorRepoDigest'}
    : {repo, digest};
}

/** Splits a name of an image. An untagged image (undefined) has the repository of its digest and the tag `<none>`. */
export function toNamedImage<Named extends Pick<Image, 'repoDigests'>>(
  image: Named,
  name: string | undefined,
): NamedImage<Named> {
  if (name === undefined) return {image, repo: repoDigest(image).repo, tag: NONE};
  const colon = name.lastIndexOf(':');
  if (colon === -1) return {image, repo: 'errorRepoTag', tag: 'errorRepoTag'};
  const repo = name.slice(0, colon);
  return {image, repo: repo === NONE ? repoDigest(image).repo : repo, tag: name.slice(colon + 1)};
}

/**
 * Reports whether an image matches a name as users write it: `busybox`, `busybox:1`, `registry/app@sha256:…`, or an
 * ID prefix. A short name refers to Docker Hub's library, a name without tag matches any tag.
 */
export function matchesImageName(image: Image, wanted: string): boolean {
  if (
    /^(sha256:)?[0-9a-f]{3,64}$/.test(wanted) &&
    image.id.replace(/^sha256:/, '').startsWith(wanted.replace(/^sha256:/, ''))
  )
    return true;
  return [...image.repoTags, ...image.repoDigests].some((known) => matchesName(known, wanted));
}

/** Reports whether two names refer to the same image; `wanted` without a tag matches any tag. */
export function matchesName(known: string, wanted: string): boolean {
  const [full, name] = [qualified(known), qualified(wanted)];
  return full === name || withoutTag(full) === name;
}

/** Returns all names of an image, with and without their tags and digests. */
export function imageReferences(image: Pick<Image, 'repoTags' | 'repoDigests'>): readonly string[] {
  const names = [...image.repoTags, ...image.repoDigests];
  return [...names, ...names.map(withoutTag)];
}

/** Returns the name to show for an image: its first tag, else its first digest, else its ID. */
export function imageDisplayName({repoTags: [tag], repoDigests: [digest], id}: Image): string {
  return tag ?? digest ?? id;
}

/** Reports whether an image has no tag. */
export function isDangling({repoTags: tags}: Image): boolean {
  return tags.every((tag) => tag.startsWith(NONE));
}

/**
 * Reports whether an image matches a name in which `*` matches any text, including the parts that Docker's rules add:
 * both `busy*` and `docker.io/*` match `docker.io/library/busybox:1`.
 */
export function matchesImagePattern(image: Image, wanted: string): boolean {
  if (!wanted.includes('*')) return matchesImageName(image, wanted);
  return imageReferences(image).some((known) => {
    const full = qualified(known);
    return matchesGlob(wanted, full) || matchesGlob(wanted, full.replace(/^docker\.io\/(library\/)?/, ''));
  });
}

/** Returns the ID and all names of an image. */
export function allImageNames({id, repoTags, repoDigests}: Image): readonly string[] {
  return [id, ...repoTags, ...repoDigests];
}

/** Returns the image references of a container, the most exact first. Runtimes fill in different ones. */
export function containerImageKeys({imageId, imageRef, image}: Container): readonly string[] {
  return [imageId, imageRef, image?.image ?? ''].filter((key) => key !== '');
}

/** Returns a function that finds the image of a container, if it still exists. */
export function createImageFinder(images: readonly Image[]): (container: Container) => Image | undefined {
  const byName = new Map(
    images.flatMap((image) => allImageNames(image).map((name) => [name, image] as const)),
  );
  return (container) =>
    containerImageKeys(container)
      .map((key) => byName.get(key))
      .find((image) => image !== undefined);
}

/**
 * Reports whether a container was created from the image named `wanted`. `names` are all names of the image; it is
 * empty if the image was removed, and then the name in the container's config decides.
 */
function usesImage(container: Container, wanted: string, names: ReadonlySet<string>): boolean {
  if (containerImageKeys(container).some((key) => names.has(key))) return true;
  const {image = '', userSpecifiedImage = ''} = container.image ?? {};
  return [image, userSpecifiedImage].some((known) => known !== '' && matchesName(known, wanted));
}

/** Returns a function that reports whether a container was created from the named image. */
export function createImageUserMatcher(
  wantedName: string,
  images: readonly Image[],
): (container: Container) => boolean {
  const names = new Set(images.filter((image) => matchesImageName(image, wantedName)).flatMap(allImageNames));
  return (container) => usesImage(container, wantedName, names);
}

/** Returns the name with registry and library path, as Docker's rules add them. */
function qualified(name: string): string {
  const [first = '', ...rest] = name.split('/');
  if (rest.length === 0) return `docker.io/library/${name}`;
  const isRegistry = /[.:]/.test(first) || first === 'localhost';
  return isRegistry ? name : `docker.io/${name}`;
}

/** Returns the name of an image without tag and digest. */
export function withoutTag(name: string): string {
  return name.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
}
