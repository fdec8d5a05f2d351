/** Components of an image reference. */
export interface ImageName {
  /** Full name of the repository: `docker.io/library/busybox` for `busybox`. */
  readonly repository: string;
  /** `latest` if the reference has neither tag nor digest. */
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

/** Result of parseImageName; `problem` is the message of distribution/reference. */
export type ParsedImageName =
  | {readonly kind: 'name'; readonly name: ImageName}
  | {readonly kind: 'invalid'; readonly problem: string};

/** Parses an image reference like the kubelet (util/parsers ParseImageName, distribution/reference 0.6). */
export function parseImageName(image: string): ParsedImageName {
  if (HEX_ID.test(image))
    return invalid(`invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`);
  const {domain, rest} = splitDomain(image);
  const [path = ''] = rest.split(':', 1);
  if (path.toLowerCase() !== path)
    return invalid(`invalid reference format: repository name (${path}) must be lowercase`);
  const {groups} = REFERENCE.exec(`${domain}/${rest}`) ?? {};
  return groups === undefined ? invalid('invalid reference format') : checkName(domain, groups);
}

function checkName(
  domain: string,
  {path = '', tag, digest}: Readonly<Record<string, string | undefined>>,
): ParsedImageName {
  if (path.length > MAX_PATH_LENGTH)
    return invalid(`repository name must not be more than ${MAX_PATH_LENGTH} characters`);
  const problem = digest === undefined ? undefined : digestProblem(digest);
  if (problem !== undefined) return invalid(problem);
  const tagOrLatest = digest === undefined ? (tag ?? 'latest') : tag;
  return {kind: 'name', name: {repository: `${domain}/${path}`, tag: tagOrLatest, digest}};
}

/** Appends `:latest` to a valid reference with neither tag nor digest (applyDefaultImageTag). */
export function withDefaultTag(image: string, {tag, digest}: ImageName): string {
  return digest === undefined && tag !== undefined && !image.endsWith(`:${tag}`) ? `${image}:${tag}` : image;
}

const SANDBOX_IMAGE = /(?:^|\/)pause(?:-[a-z0-9_]+)?(?=[:@]|$)/;

/** Reports whether an image name looks like that of a sandbox image, for runtimes that report neither it nor pinned images. */
export function isNamedLikeSandboxImage(image: string): boolean {
  return SANDBOX_IMAGE.test(image);
}

function invalid(problem: string): ParsedImageName {
  return {kind: 'invalid', problem};
}

/** Splits off the registry; Docker Hub if the first path component is not a host name (splitDockerDomain). */
function splitDomain(image: string): {readonly domain: string; readonly rest: string} {
  const slash = image.indexOf('/');
  const first = image.slice(0, Math.max(slash, 0));
  const isHost = /[.:]/.test(first) || first === 'localhost' || first.toLowerCase() !== first;
  const domain = !isHost || first === 'index.docker.io' ? 'docker.io' : first;
  const rest = isHost ? image.slice(slash + 1) : image;
  return {domain, rest: domain === 'docker.io' && !rest.includes('/') ? `library/${rest}` : rest};
}

const HEX_ID = /^[0-9a-f]{64}$/;
const MAX_PATH_LENGTH = 255;
const DOMAIN_PART = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const DOMAIN = `(?:${DOMAIN_PART}(?:\\.${DOMAIN_PART})*|\\[(?:[a-fA-F0-9:]+)\\])(?::[0-9]+)?`;
const PATH_PART = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const REFERENCE = new RegExp(
  `^(?:${DOMAIN}/)(?<path>${PATH_PART}(?:/${PATH_PART})*)` +
    '(?::(?<tag>[\\w][\\w.-]{0,127}))?' +
    '(?:@(?<digest>[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$',
);

/** Number of hexadecimal digits by algorithm. */
const DIGEST_LENGTH: Readonly<Record<string, number>> = {sha256: 64, sha384: 96, sha512: 128};

/** Returns the message of opencontainers/go-digest for an invalid digest. */
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
