/** Length of IDs in crictl's tables. */
const SHOWN = 13;

/** Truncates an ID as in crictl's tables, without the prefix `sha256:`. */
export function truncateId(id: string): string {
  const start = id.startsWith(ALGORITHM) ? ALGORITHM.length : 0;
  return id.slice(start, start + SHOWN);
}

const ALGORITHM = 'sha256:';

/** Number of hexadecimal digits of a digest by algorithm. */
const DIGEST_LENGTH: Readonly<Record<string, number>> = {sha256: 64, sha384: 96, sha512: 128};

const SHORTEST_DIGEST = ALGORITHM.length + 64;

/** Formats an image name as `ps` does: a bare digest is truncated like an ID, other names are unchanged. */
export function truncateDigest(image: string): string {
  if (image.length < SHORTEST_DIGEST) return image;
  const [, algorithm = '', hex = ''] = /^([a-z0-9]+):([a-f0-9]+)$/.exec(image) ?? [];
  return hex.length === DIGEST_LENGTH[algorithm] ? hex.slice(0, SHOWN) : image;
}
