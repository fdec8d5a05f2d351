const UNITS = {
  '': 1n,
  b: 1n,
  k: 1024n,
  ki: 1024n,
  kib: 1024n,
  m: 1024n ** 2n,
  mi: 1024n ** 2n,
  mib: 1024n ** 2n,
  g: 1024n ** 3n,
  gi: 1024n ** 3n,
  gib: 1024n ** 3n,
  t: 1024n ** 4n,
  ti: 1024n ** 4n,
  tib: 1024n ** 4n,
  kb: 1000n,
  mb: 1000n ** 2n,
  gb: 1000n ** 3n,
  tb: 1000n ** 4n,
} as const satisfies Record<string, bigint>;

/**
 * Parses a size in bytes: `1048576`, `512Mi`, `1.5g` (as in Docker), `200MB`. Throws Error for any other text, and for
 * a single capital letter, which is ambiguous between 1000 and 1024.
 */
export function parseBytes(text: string): bigint {
  const [, integer = '', fraction = '', unit = ''] = /^(-?\d+)(?:\.(\d+))?([A-Za-z]*)$/.exec(text) ?? [];
  if (/^[KMGT]$/.test(unit))
    throw new Error(`use ${unit}i for powers of 1024, or ${unit}B for powers of 1000`);
  const factor = Object.hasOwn(UNITS, unit.toLowerCase())
    ? UNITS[unit.toLowerCase() as keyof typeof UNITS]
    : undefined;
  if (integer === '' || factor === undefined) throw new Error('not a size such as 1048576, 512Mi or 1g');
  const scale = 10n ** BigInt(fraction.length);
  const scaled = BigInt(integer + fraction) * factor;
  if (scaled % scale !== 0n) throw new Error('not an integer number of bytes');
  return scaled / scale;
}
