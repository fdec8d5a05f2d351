import type {Container, Image} from '../cri/index.js';

const NONE = '<none>';

/** An image under one of its names, as a row of the table shows it. */
export interface NamedImage<Named> {
  readonly image: Named;
  readonly repo: string;
  readonly tag: string;
}

/** The repository and digest of an image's first digested name; `<none>` for an image without. */
export function repoDigest({repoDigests}: Pick<Image, 'repoDigests'>): {repo: string; digest: string} {
  const [first] = repoDigests;
  if (first === undefined) return {repo: NONE, digest: NONE};
  const [repo, digest, ...rest] = first.split('@');
  return repo === undefined || digest === undefined || rest.length > 0
    ? {repo: 'errorName', digest: 'errorRepoDigest'}
    : {repo, digest};
}

/** An image under a name; an untagged one (undefined) has its digest's repository and `<none>`. */
export function underName<Named extends Pick<Image, 'repoDigests'>>(
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
 * Whether an image goes by a name as people write it: `busybox`, `busybox:1`, `registry/app@sha256:…`, or the
 * beginning of its id. A short name is one of Docker's library, a name without tag means any tag.
 */
export function goesBy(image: Image, wanted: string): boolean {
  if (
    /^(sha256:)?[0-9a-f]{3,64}$/.test(wanted) &&
    image.id.replace(/^sha256:/, '').startsWith(wanted.replace(/^sha256:/, ''))
  )
    return true;
  return [...image.repoTags, ...image.repoDigests].some((known) => isCalled(known, wanted));
}

/** Whether two names mean the same image; `wanted` without a tag means any tag. */
function isCalled(known: string, wanted: string): boolean {
  const [full, name] = [qualified(known), qualified(wanted)];
  return full === name || withoutTag(full) === name;
}

/** All names of an image, with and without their tags and digests. */
export function referencesOf(image: Pick<Image, 'repoTags' | 'repoDigests'>): readonly string[] {
  const names = [...image.repoTags, ...image.repoDigests];
  return [...names, ...names.map(withoutTag)];
}

/** The one name to call an image by: its first tag, else its first digest, else its id. */
export function imageName({repoTags: [tag], repoDigests: [digest], id}: Image): string {
  return tag ?? digest ?? id;
}

/** True for an image that no tag points to. */
export function isDangling({repoTags: tags}: Image): boolean {
  return tags.every((tag) => tag.startsWith(NONE));
}

/**
 * Whether an image goes by a name in which `*` may stand for anything, also for what Docker's rules would fill
 * in: both `busy*` and `docker.io/*` fit `docker.io/library/busybox:1`.
 */
export function namedLike(image: Image, wanted: string): boolean {
  if (!wanted.includes('*')) return goesBy(image, wanted);
  const pattern = new RegExp(`^${wanted.split('*').map(escaped).join('.*')}$`, 's');
  return referencesOf(image).some((known) => {
    const full = qualified(known);
    return pattern.test(full) || pattern.test(full.replace(/^docker\.io\/(library\/)?/, ''));
  });
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/** Everything that an image is called by. */
export function namesOf({id, repoTags, repoDigests}: Image): readonly string[] {
  return [id, ...repoTags, ...repoDigests];
}

/** What a container says about its image, the most exact first; which of these a runtime fills differs. */
export function imageKeys({imageId, imageRef, image}: Container): readonly string[] {
  return [imageId, imageRef, image?.image ?? ''].filter((key) => key !== '');
}

/** Finds the image that a container was made of, as far as it is there. */
export function imageFinder(images: readonly Image[]): (container: Container) => Image | undefined {
  const byName = new Map(images.flatMap((image) => namesOf(image).map((name) => [name, image] as const)));
  return (container) =>
    imageKeys(container)
      .map((key) => byName.get(key))
      .find((image) => image !== undefined);
}

/**
 * Whether a container was made of the image that `wanted` names. `names` is all that the image is called by;
 * it is empty when the image is gone, and then the name in the container's config decides.
 */
export function usesImage(container: Container, wanted: string, names: ReadonlySet<string>): boolean {
  if (imageKeys(container).some((key) => names.has(key))) return true;
  const {image = '', userSpecifiedImage = ''} = container.image ?? {};
  return [image, userSpecifiedImage].some((known) => known !== '' && isCalled(known, wanted));
}

/** The name with its registry and library folder, as Docker's rules fill them in. */
function qualified(name: string): string {
  const [first = '', ...rest] = name.split('/');
  if (rest.length === 0) return `docker.io/library/${name}`;
  const isRegistry = /[.:]/.test(first) || first === 'localhost';
  return isRegistry ? name : `docker.io/${name}`;
}

function withoutTag(name: string): string {
  return name.replace(/@.*$/, '').replace(/:[^/:]*$/, '');
}
