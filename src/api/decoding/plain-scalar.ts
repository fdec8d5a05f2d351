/** Value of a plain YAML scalar; integers are exact. */
export type ScalarValue = string | bigint | number | boolean | null;

const WORDS = new Map<string, ScalarValue>([
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map(
    (word) => [word, true] as const,
  ),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(
    (word) => [word, false] as const,
  ),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word) => [word, Infinity] as const),
  ...['-.inf', '-.Inf', '-.INF'].map((word) => [word, -Infinity] as const),
]);

const INTEGER = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]+|0|[1-9]\d*)$/;
const FLOAT = /^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/;
/** A number that starts with a point, in which underscores stand between digits. */
const FRACTION = /^\.\d+(_\d+)*([eE][-+]?\d+(_\d+)*)?$/;
const UINT64_LIMIT = 2n ** 64n;
export const INT64_LIMIT = 2n ** 63n;

/** Parses an integer in one of Go's notations (`017` is octal); undefined if it needs more than 64 bits. */
function readInteger(text: string): bigint | undefined {
  // go-yaml parses what follows 0b as a number with a sign.
  const [, sign, digits = ''] = INTEGER.exec(text.replace(/^0b([-+])/, '$10b')) ?? [];
  if (sign === undefined) return undefined;
  const magnitude = BigInt(digits.replace(/^0(?=[0-7])/, '0o'));
  if (sign === '-') return magnitude <= INT64_LIMIT ? -magnitude : undefined;
  // Go reads integers above int64 only without a sign.
  return magnitude < (sign === '' ? UINT64_LIMIT : INT64_LIMIT) ? magnitude : undefined;
}

/** Parses a decimal number; undefined if it exceeds the range of a float64, as the commit ID `1443e567` does. */
function readFloat(text: string): number | undefined {
  const number = Number(text);
  return FLOAT.test(text) && Number.isFinite(number) ? number : undefined;
}

/**
 * Resolves a plain scalar as Kubernetes does (sigs.k8s.io/yaml, which is go-yaml 2): `yes`, `on` and `y` are true,
 * `017` is 15, `1_000` is 1000, a number that overflows is a string, and neither dates nor sexagesimal numbers exist.
 */
export function resolvePlainScalar(source: string): ScalarValue {
  const word = WORDS.get(source);
  if (word !== undefined) return word;
  if (!/^[-+.\d]/.test(source)) return source;
  const text = source.replaceAll('_', '');
  if (source.startsWith('.')) return (FRACTION.test(source) ? readFloat(text) : undefined) ?? source;
  return readInteger(text) ?? readFloat(text) ?? source;
}
