import {formatGoFloat} from './go-float.js';
import {isJsonList, type Json, type JsonObject} from './json.js';
import {formatYamlScalar, type ScalarPosition} from './yaml-scalar.js';

/** Length from which a key is written on its own line after `?`. */
const MAX_SIMPLE_KEY_BYTES = 128;

/**
 * Formats data as YAML, byte for byte like sigs.k8s.io/yaml: keys in natural order, lists not indented, long texts
 * folded, and texts that YAML 1.1 would read as other types in double quotes. Ends with a newline.
 */
export function formatYaml(value: Json): string {
  return `${isBlock(value) ? block(value, '').trimStart() : scalar(value, {indent: '  ', column: 0})}\n`;
}

/** Reports whether a value is written on several lines. */
function isBlock(value: Json): value is readonly Json[] | JsonObject {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

/** Formats a list or object; each line follows a newline and the indentation. */
function block(value: readonly Json[] | JsonObject, indent: string): string {
  if (isJsonList(value)) return value.map((item) => `\n${indent}- ${inItem(item, `${indent}  `)}`).join('');
  return Object.entries(value)
    .sort(([a], [b]) => (isBefore(a, b) ? -1 : 1))
    .map(([key, item]) => `\n${indent}${member(key, item, indent)}`)
    .join('');
}

/** Formats the value after `- `, `: ` or `? `. Its first line starts at the indentation. */
function inItem(value: Json, indent: string): string {
  return isBlock(value) ? block(value, indent).trimStart() : scalar(value, {indent, column: indent.length});
}

function member(key: string, value: Json, indent: string): string {
  const inner = `${indent}  `;
  if (Buffer.byteLength(key) > MAX_SIMPLE_KEY_BYTES || /[\n\r\u2028\u2029]/.test(key))
    return `? ${inItem(key, inner)}\n${indent}: ${inItem(value, inner)}`;
  const start = `${formatYamlScalar(key, {indent: inner})}:`;
  // A list has the indentation of its key, an object two more spaces.
  if (isBlock(value)) return start + block(value, isJsonList(value) ? indent : inner);
  const column = indent.length + Array.from(start).length + 1;
  return `${start} ${scalar(value, {indent: inner, column})}`;
}

function scalar(value: Json, position: ScalarPosition): string {
  if (typeof value === 'string') return formatYamlScalar(value, position);
  if (typeof value === 'number') return isWhole(value) ? String(value) : formatGoFloat(value);
  if (typeof value === 'object' && value !== null) return isJsonList(value) ? '[]' : '{}';
  return String(value);
}

/** Reports whether a number is an integer within Go's range. */
function isWhole(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 64;
}

/** Reports whether `a` precedes `b` in Go's natural order of keys: signs before letters, numbers by value. */
function isBefore(a: string, b: string): boolean {
  const [left, right] = [Array.from(a), Array.from(b)];
  const at = left.findIndex((char, index) => char !== right[index]);
  const [x, y] = [left[at], right[at]];
  if (at < 0 || x === undefined || y === undefined) return left.length < right.length;
  const [isLetter, otherIsLetter] = [/\p{L}/u.test(x), /\p{L}/u.test(y)];
  if (isLetter && otherIsLetter) return codeOf(x) < codeOf(y);
  if (isLetter || otherIsLetter) return otherIsLetter;
  return isNumberBefore(left, right, at);
}

function isNumberBefore(left: readonly string[], right: readonly string[], at: number): boolean {
  const [a, b] = [digitsFrom(left, at), digitsFrom(right, at)];
  // Zeros inside a number count as digits.
  const hasZero = left[at] === '0' || right[at] === '0';
  const lead = hasZero && /[1-9]\d*$/.test(left.slice(0, at).join('')) ? '1' : '0';
  const [an, bn] = [BigInt(lead + a), BigInt(lead + b)];
  if (an !== bn) return an < bn;
  return a.length === b.length ? codeOf(left[at]) < codeOf(right[at]) : a.length < b.length;
}

function digitsFrom(chars: readonly string[], at: number): string {
  return /^\d*/.exec(chars.slice(at).join(''))?.[0] ?? '';
}

function codeOf(char: string | undefined): number {
  return char?.codePointAt(0) ?? 0;
}
