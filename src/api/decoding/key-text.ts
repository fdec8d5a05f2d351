import {INT64_LIMIT, type ScalarValue} from './plain-scalar.js';

/** Returns the fewest digits that identify a float32, as `d.ddde±x`. */
function shortestFloat32(single: number): string {
  for (let digits = 0; digits < 8; digits++) {
    const text = single.toExponential(digits);
    if (Math.fround(Number(text)) === single) return text;
  }
  return single.toExponential(8);
}

/** Formats a float as Go does with 'g' and 32 bits: `0.5`, `1e+06`, `+Inf`. */
export function formatFloat32(value: number): string {
  const single = Math.fround(value);
  if (Number.isNaN(single)) return 'NaN';
  if (!Number.isFinite(single)) return single > 0 ? '+Inf' : '-Inf';
  if (Object.is(single, -0)) return '-0';
  const [mantissa = '', exponent = '0'] = shortestFloat32(single).split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(Number(`${mantissa}e${exponent}`));
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

/** The keys that sigs.k8s.io/yaml makes of these floats. */
const SPECIAL_KEYS: Readonly<Record<string, string>> = {NaN: '.nan', '+Inf': '.inf', '-Inf': '-.inf'};

function formatFloatKey(value: number): string {
  const text = formatFloat32(value);
  return SPECIAL_KEYS[text] ?? text;
}

/**
 * Returns the JSON key that sigs.k8s.io/yaml makes of a key: booleans and numbers become texts. Undefined for null and
 * for integers above int64, which it rejects.
 */
export function keyText(value: ScalarValue): string | undefined {
  if (value === null || (typeof value === 'bigint' && value >= INT64_LIMIT)) return undefined;
  return typeof value === 'number' ? formatFloatKey(value) : String(value);
}
