/** How much of an id crictl's tables show. */
const SHOWN = 13;

/** The beginning of an id as crictl's tables show it; `sha256:` in front is left out. */
export function truncateId(id: string): string {
  const start = id.startsWith(ALGORITHM) ? ALGORITHM.length : 0;
  return id.slice(start, start + SHOWN);
}

const ALGORITHM = 'sha256:';

/** The hex digits of a digest by its algorithm. */
const DIGEST_LENGTH: Readonly<Record<string, number>> = {sha256: 64, sha384: 96, sha512: 128};

const SHORTEST_DIGEST = ALGORITHM.length + 64;

/** An image name as `ps` shows it: a bare digest is truncated as an id, anything else stays. */
export function truncateDigest(image: string): string {
  if (image.length < SHORTEST_DIGEST) return image;
  const [, algorithm = '', hex = ''] = /^([a-z0-9]+):([a-f0-9]+)$/.exec(image) ?? [];
  return hex.length === DIGEST_LENGTH[algorithm] ? hex.slice(0, SHOWN) : image;
}
