/** Numbers of a version, such as 1.0.0. */
export type Version = readonly number[];

/**
 * Returns the highest version of a plugin with the major version 1, or why there is none (version.HighestSupportedVersion).
 * Higher major versions are ignored.
 */
export function highestVersion(versions: readonly string[]): Version | string {
  let highest: Version | undefined;
  let problem = '<nil>';
  for (const text of versions.toReversed()) {
    const version = parseVersion(text);
    if (version === undefined) problem = `could not parse ${JSON.stringify(text)} as version`;
    else if ((version[0] ?? 0) <= 1 && (highest === undefined || compareVersions(highest, version) < 0))
      highest = version;
  }
  if (highest === undefined)
    return `could not find a highest supported version from versions ([${versions.join(' ')}]) reported: ${problem}`;
  if (highest[0] !== 1) return `highest supported version reported is ${highest.join('.')}, must be v1.x`;
  return highest;
}

/** Numbers, at least two, before anything else (version.ParseGeneric). */
const GENERIC = /^\s*v?(\d+(?:\.\d+)+)/;

function parseVersion(text: string): Version | undefined {
  const [, numbers] = GENERIC.exec(text) ?? [];
  return numbers?.split('.').map(Number);
}

/** Compares versions; missing numbers are 0. */
export function compareVersions(a: Version, b: Version): number {
  for (let index = 0; index < Math.max(a.length, b.length); index++) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
