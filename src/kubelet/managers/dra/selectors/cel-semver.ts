/** A version of Semantic Versioning 2.0.0. */
export class Semver {
  readonly major: bigint;
  readonly minor: bigint;
  readonly patch: bigint;
  /** Identifiers of the pre-release, such as `rc` and `1`. */
  readonly prerelease: readonly string[];

  constructor([major, minor, patch]: readonly [bigint, bigint, bigint], prerelease: readonly string[]) {
    this.major = major;
    this.minor = minor;
    this.patch = patch;
    this.prerelease = prerelease;
  }
}

const NUMBER = '0|[1-9]\\d*';
const IDENTIFIER = `(?:${NUMBER}|\\d*[A-Za-z-][0-9A-Za-z-]*)`;
const SYNTAX = new RegExp(
  `^(${NUMBER})\\.(${NUMBER})\\.(${NUMBER})(?:-(${IDENTIFIER}(?:\\.${IDENTIFIER})*))?(?:\\+[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*)?$`,
);
/** Longest version of an attribute (DeviceAttributeMaxValueLength), with room for literals. */
const LONGEST = 256;

/** Parses a version; undefined if it is not one. */
export function parseSemver(text: string): Semver | undefined {
  const match = text.length > LONGEST ? null : SYNTAX.exec(text);
  if (match === null) return undefined;
  const [, major = '', minor = '', patch = '', prerelease] = match;
  return new Semver([BigInt(major), BigInt(minor), BigInt(patch)], prerelease?.split('.') ?? []);
}

/** Returns a version with what it may omit: no `v`, no leading zeros, three numbers (semver normalize). */
export function normalizeSemver(text: string): string {
  const [core = '', ...rest] = text
    .trim()
    .replace(/^v/, '')
    .split(/(?=[-+])/);
  const numbers = core.split('.').map((part) => part.replace(/^0+(?=\d)/, ''));
  while (numbers.length < 3) numbers.push('0');
  return [numbers.join('.'), ...rest].join('');
}

/** Compares two versions by their precedence: negative, zero or positive. */
export function compareSemver(a: Semver, b: Semver): bigint {
  for (const [left, right] of [
    [a.major, b.major],
    [a.minor, b.minor],
    [a.patch, b.patch],
  ] as const)
    if (left !== right) return left < right ? -1n : 1n;
  return comparePrereleases(a.prerelease, b.prerelease);
}

function comparePrereleases(a: readonly string[], b: readonly string[]): bigint {
  // A version without a pre-release is newer than one with it.
  if (a.length === 0 || b.length === 0) return BigInt(Number(a.length === 0) - Number(b.length === 0));
  for (const [index, left] of a.entries()) {
    const right = b[index];
    if (right === undefined) return 1n;
    if (left !== right) return compareIdentifiers(left, right);
  }
  return a.length === b.length ? 0n : -1n;
}

function compareIdentifiers(a: string, b: string): bigint {
  const [left, right] = [a, b].map((text) => /^\d+$/.test(text));
  if (left === true && right === true) return BigInt(a) < BigInt(b) ? -1n : 1n;
  if (left !== right) return left === true ? -1n : 1n;
  return a < b ? -1n : 1n;
}
