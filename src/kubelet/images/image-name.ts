/** An image reference in its parts. */
export interface ImageName {
  /** The repository, complete: `docker.io/library/busybox` for `busybox`. */
  readonly repository: string;
  /** `latest` when the reference has neither tag nor digest. */
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

/** A reference in its parts, or what is wrong with it in the words of distribution/reference. */
export type ParsedImageName =
  {readonly kind: 'name'; readonly name: ImageName} | {readonly kind: 'invalid'; readonly problem: string};

/** Reads an image reference as the kubelet does (util/parsers ParseImageName, distribution/reference 0.6). */
export function parseImageName(image: string): ParsedImageName {
  if (HEX_ID.test(image))
    return invalid(`invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`);
  const {domain, rest} = splitDomain(image);
  const [path = ''] = rest.split(':', 1);
  if (path.toLowerCase() !== path)
    return invalid(`invalid reference format: repository name (${path}) must be lowercase`);
  const {groups} = REFERENCE.exec(`${domain}/${rest}`) ?? {};
  return groups === undefined ? invalid('invalid reference format') : checkedName(domain, groups);
}

function checkedName(
  domain: string,
  {path = '', tag, digest}: Readonly<Record<string, string | undefined>>,
): ParsedImageName {
  if (path.length > LONGEST_PATH)
    return invalid(`repository name must not be more than ${LONGEST_PATH} characters`);
  const problem = digest === undefined ? undefined : digestProblem(digest);
  if (problem !== undefined) return invalid(problem);
  const tagOrLatest = digest === undefined ? (tag ?? 'latest') : tag;
  return {kind: 'name', name: {repository: `${domain}/${path}`, tag: tagOrLatest, digest}};
}

/** The reference with `:latest` when it has neither tag nor digest (applyDefaultImageTag); it must be valid. */
export function withDefaultTag(image: string, {tag, digest}: ImageName): string {
  return digest === undefined && tag !== undefined && !image.endsWith(`:${tag}`) ? `${image}:${tag}` : image;
}

function invalid(problem: string): ParsedImageName {
  return {kind: 'invalid', problem};
}

/** Docker's registry is meant when the first part of a name doesn't look like a host (splitDockerDomain). */
function splitDomain(image: string): {readonly domain: string; readonly rest: string} {
  const slash = image.indexOf('/');
  const first = image.slice(0, Math.max(slash, 0));
  const isHost = /[.:]/.test(first) || first === 'localhost' || first.toLowerCase() !== first;
  const domain = !isHost || first === 'index.docker.io' ? 'docker.io' : first;
  const rest = isHost ? image.slice(slash + 1) : image;
  return {domain, rest: domain === 'docker.io' && !rest.includes('/') ? `library/${rest}` : rest};
}

const HEX_ID = /^[0-9a-f]{64}$/;
const LONGEST_PATH = 255;
const DOMAIN_PART = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const DOMAIN = `(?:${DOMAIN_PART}(?:\\.${DOMAIN_PART})*|\\[(?:[a-fA-F0-9:]+)\\])(?::[0-9]+)?`;
const PATH_PART = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const REFERENCE = new RegExp(
  `^(?:${DOMAIN}/)(?<path>${PATH_PART}(?:/${PATH_PART})*)` +
    '(?::(?<tag>[\\w][\\w.-]{0,127}))?' +
    '(?:@(?<digest>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$',
);

/** How many hexadecimal digits a digest has. */
const DIGEST_LENGTH: Readonly<Record<string, number>> = {sha256: 64, sha384: 96, sha512: 128};

/** What opencontainers/go-digest says of a digest. */
function digestProblem(digest: string): string | undefined {
  const [algorithm = '', encoded = ''] = digest.split(':');
  const length = Object.hasOwn(DIGEST_LENGTH, algorithm) ? DIGEST_LENGTH[algorithm] : undefined;
  if (length === undefined)
    return /^[a-z0-9]+(?:[.+_-][a-z0-9]+)*$/.test(algorithm)
      ? 'unsupported digest algorithm'
      : 'invalid checksum digest format';
  if (encoded.length !== length) return 'invalid checksum digest length';
  return /^[a-f0-9]+$/.test(encoded) ? undefined : 'invalid checksum digest format';
}
