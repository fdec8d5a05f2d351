const LITERAL =
  /^[+-]?(?:0[xX](?:_?[\da-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?[0-7])*|[1-9](?:_?\d)*)$/;

/**
 * Parses a signed 64-bit integer as Go's flag package does: the prefix decides the base (`010` is 8, `0x2`), and
 * underscores separate digits. Throws Error with Go's text, a RangeError for a value out of range.
 */
export function parseGoInteger(text: string): bigint {
  if (!LITERAL.test(text)) throw new Error('parse error');
  const digits = text
    .replace(/^[+-]/, '')
    .replaceAll('_', '')
    .replace(/^0(?=\d)/, '0o');
  return requireInt64(text.startsWith('-') ? -BigInt(digits) : BigInt(digits));
}

/** Returns the value. Throws RangeError if it is not a signed 64-bit integer. */
export function requireInt64(value: bigint): bigint {
  if (BigInt.asIntN(64, value) !== value) throw new RangeError('value out of range');
  return value;
}

/** Converts an integer to 64 bits. The largest one is rounded up as a number, and would wrap. */
export function toInt64(value: number): bigint {
  const integer = BigInt(value);
  return integer >= 2n ** 63n ? 2n ** 63n - 1n : integer;
}
