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
 * The bytes of a size as people write it: `1048576`, `512Mi`, `1.5g` (as Docker has it), `200MB`. Throws Error;
 * for a single capital letter as well, which means 1000 to some and 1024 to others.
 */
export function parseBytes(text: string): bigint {
  const [, whole = '', fraction = '', unit = ''] = /^(-?\d+)(?:\.(\d+))?([A-Za-z]*)$/.exec(text) ?? [];
  if (/^[KMGT]$/.test(unit))
    throw new Error(`write ${unit}i for steps of 1024, or ${unit}B for steps of 1000`);
  const factor = Object.hasOwn(UNITS, unit.toLowerCase())
    ? UNITS[unit.toLowerCase() as keyof typeof UNITS]
    : undefined;
  if (whole === '' || factor === undefined) throw new Error('not a size such as 1048576, 512Mi or 1g');
  const scale = 10n ** BigInt(fraction.length);
  const scaled = BigInt(whole + fraction) * factor;
  if (scaled % scale !== 0n) throw new Error('not a whole number of bytes');
  return scaled / scale;
}
