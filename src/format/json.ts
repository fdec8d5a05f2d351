import {byKey} from '../base/compare.js';

/** JSON data, with large integers as bigint. */
export type Json = string | number | bigint | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Options of formatJson. */
export interface JsonTextOptions {
  /** True to sort the keys of objects alphabetically, as Go does for maps. */
  readonly sortKeys?: boolean;
  /** True to escape `<`, `>`, `&` and Unicode line separators, as Go does. */
  readonly escapeHtml?: boolean;
}

/** Formats JSON with an indentation of two spaces and without a final newline. */
export function formatJson(value: Json, options: JsonTextOptions = {}): string {
  return write(value, '\n', options);
}

/** Formats JSON without spaces like Go's encoder: keys sorted, and by default `<`, `>` and `&` escaped. */
export function formatCompactJson(
  value: Json,
  {escapeHtml = true}: {readonly escapeHtml?: boolean} = {},
): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return quote(value, {escapeHtml});
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isJsonList(value)) return `[${value.map((item) => formatCompactJson(item, {escapeHtml})).join(',')}]`;
  const members = Object.entries(value)
    .sort(byKey)
    .map(([key, item]) => `${quote(key, {escapeHtml})}:${formatCompactJson(item, {escapeHtml})}`);
  return `{${members.join(',')}}`;
}

/** Returns an object's own member, or undefined. */
export function memberOf(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function write(value: Json, newline: string, options: JsonTextOptions): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return quote(value, options);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${newline}  `;
  if (isJsonList(value))
    return wrap(
      value.map((item) => write(item, inner, options)),
      '[]',
      newline,
    );
  const entries = Object.entries(value);
  if (options.sortKeys === true) entries.sort(byKey);
  const members = entries.map(([key, item]) => `${quote(key, options)}: ${write(item, inner, options)}`);
  return wrap(members, '{}', newline);
}

/** Reports whether data is a list; Array.isArray does not narrow readonly arrays. */
export function isJsonList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}

function wrap(members: readonly string[], brackets: '[]' | '{}', newline: string): string {
  if (members.length === 0) return brackets;
  return `${brackets.charAt(0)}${newline}  ${members.join(`,${newline}  `)}${newline}${brackets.charAt(1)}`;
}

/** Additional escapes of Go's encoder. */
const HTML: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};

function quote(text: string, {escapeHtml}: JsonTextOptions): string {
  const quoted = JSON.stringify(text);
  return escapeHtml === true ? quoted.replace(/[<>&\u2028\u2029]/g, (char) => HTML[char] ?? char) : quoted;
}

/** Returns the data without null members, at every depth. */
export function omitNulls(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (isJsonList(value)) return value.map(omitNulls);
  const present = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(present.map(([key, item]) => [key, omitNulls(item)]));
}

/** Returns the data with all numbers as float64. */
export function toFloat64Numbers(value: Json): Json {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object' || value === null) return value;
  if (isJsonList(value)) return value.map(toFloat64Numbers);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toFloat64Numbers(item)]));
}

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const BIG = '\u0000big:';
/** Pattern of numbers that may not fit a JavaScript number; numbers with fewer digits always do. */
const MAY_BE_BIG = /\d{16}/;

/** Parses JSON. Integers that a JavaScript number cannot represent become bigint. Throws SyntaxError. */
export function parseJson(text: string): Json {
  if (!MAY_BE_BIG.test(text)) return JSON.parse(text) as Json;
  const marked = text.replace(STRING_OR_NUMBER, (token) =>
    /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? JSON.stringify(BIG + token) : token,
  );
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(BIG) ? BigInt(value.slice(BIG.length)) : value,
  ) as Json;
}
