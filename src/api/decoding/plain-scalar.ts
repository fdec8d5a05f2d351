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
const UINT64_LIMIT = 2n ** 64n;
const INT64_LIMIT = 2n ** 63n;

/** Parses an integer in one of Go's notations (`017` is octal); undefined if it needs more than 64 bits. */
function readInteger(text: string): bigint | undefined {
  const [, sign, digits = ''] = INTEGER.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const magnitude = BigInt(digits.replace(/^0(?=[0-7])/, '0o'));
  if (sign === '-') return magnitude <= INT64_LIMIT ? -magnitude : undefined;
  return magnitude < UINT64_LIMIT ? magnitude : undefined;
}

/**
 * Resolves a plain scalar as Kubernetes does (sigs.k8s.io/yaml, which is go-yaml 2): `yes`, `on` and `y` are true,
 * `017` is 15, `1_000` is 1000, and neither dates nor sexagesimal numbers exist.
 */
export function resolvePlainScalar(source: string): ScalarValue {
  const word = WORDS.get(source);
  if (word !== undefined) return word;
  if (!/^[-+.\d]/.test(source)) return source;
  const text = source.replaceAll('_', '');
  return readInteger(text) ?? (FLOAT.test(text) ? Number(text) : source);
}
