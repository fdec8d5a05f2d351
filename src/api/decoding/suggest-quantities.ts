import {isQuantity} from '../quantity.js';

/** Suffixes of quantities by common misspellings, in lower case. */
const UNITS: readonly (readonly [pattern: RegExp, suffixes: readonly string[]])[] = [
  [/^(?:b|bytes?|cores?|v?cpus?)$/, ['']],
  [/^m(?:illi)?(?:v?cpus?|cores?)$/, ['m']],
  [/^(?:k|kb|kilobytes?|kbytes?)$/, ['k', 'Ki']],
  [/^(?:m|mb|meg|megabytes?|mbytes?)$/, ['M', 'Mi']],
  [/^(?:g|gb|gig|gigabytes?|gbytes?)$/, ['G', 'Gi']],
  [/^(?:t|tb|terabytes?|tbytes?)$/, ['T', 'Ti']],
  [/^(?:p|pb)$/, ['P', 'Pi']],
  [/^(?:ki|kib)$/, ['Ki']],
  [/^(?:mi|mib)$/, ['Mi']],
  [/^(?:gi|gib)$/, ['Gi']],
  [/^(?:ti|tib)$/, ['Ti']],
  [/^(?:pi|pib)$/, ['Pi']],
];

/** Returns valid quantities that an invalid one may mean: `64M` and `64Mi` for `64MB`; none if it is unclear. */
export function suggestQuantities(text: string): readonly string[] {
  // Spaces, and separators of thousands: a comma before other than three digits is a decimal point.
  const compact = text
    .replace(/[\s_]+/g, '')
    .replace(/,(?=\d{3}(?!\d))/g, '')
    .replace(',', '.');
  const [, number = '', unit = ''] = /^([+-]?(?:\d+\.?\d*|\.\d+))([a-z]*)$/i.exec(compact) ?? [];
  if (number === '') return [];
  if (isQuantity(compact)) return [compact];
  const [, suffixes = []] = UNITS.find(([pattern]) => pattern.test(unit.toLowerCase())) ?? [];
  return suffixes.map((suffix) => `${number}${suffix}`).filter(isQuantity);
}
