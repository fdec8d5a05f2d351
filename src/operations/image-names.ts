import type {Image} from '../cri/index.js';

const NONE = '<none>';

/** One name of an image, as a row of the table shows it. */
export interface RepoTag {
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

/** The names of an image with their tags; an untagged image has its digest's repository and `<none>`. */
export function repoTags(image: Pick<Image, 'repoTags' | 'repoDigests'>): readonly RepoTag[] {
  const {repo: fallback} = repoDigest(image);
  if (image.repoTags.length === 0) return [{repo: fallback, tag: NONE}];
  return image.repoTags.map((name) => {
    const colon = name.lastIndexOf(':');
    if (colon === -1) return {repo: 'errorRepoTag', tag: 'errorRepoTag'};
    const repo = name.slice(0, colon);
    return {repo: repo === NONE ? fallback : repo, tag: name.slice(colon + 1)};
  });
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
  const name = qualified(wanted);
  return [...image.repoTags, ...image.repoDigests].some((known) => {
    const full = qualified(known);
    return full === name || withoutTag(full) === name;
  });
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
