import {byKey} from '../base/compare.js';

/** Data as JSON has it, with whole numbers of any size as bigint. */
export type Json = string | number | bigint | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** How JSON is written. */
export interface JsonTextOptions {
  /** Write the keys of objects in alphabetical order, as Go does for maps. */
  readonly sortKeys?: boolean;
  /** Escape `<`, `>`, `&` and the line separators of Unicode, as Go does. */
  readonly escapeHtml?: boolean;
}

/** JSON text with an indentation of two blanks and no line end behind it. */
export function jsonText(value: Json, options: JsonTextOptions = {}): string {
  return write(value, '\n', options);
}

/** JSON text without any blanks, as Go's encoder writes it: keys sorted, `<`, `>` and `&` escaped. */
export function jsonLine(value: Json): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return quote(value, {escapeHtml: true});
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isJsonList(value)) return `[${value.map(jsonLine).join(',')}]`;
  const members = Object.entries(value).sort(byKey);
  return `{${members.map(([key, item]) => `${quote(key, {escapeHtml: true})}:${jsonLine(item)}`).join(',')}}`;
}

/** An object's own member, or undefined. */
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

/** True for a list, which TypeScript does not tell from an object when it is readonly. */
export function isJsonList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}

function wrap(members: readonly string[], brackets: '[]' | '{}', newline: string): string {
  if (members.length === 0) return brackets;
  return `${brackets.charAt(0)}${newline}  ${members.join(`,${newline}  `)}${newline}${brackets.charAt(1)}`;
}

/** What Go's encoder escapes besides what JSON needs. */
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

/** The same data without members that are null, at every depth. */
export function withoutNulls(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (isJsonList(value)) return value.map(withoutNulls);
  const kept = Object.entries(value).filter(([, item]) => item !== null);
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutNulls(item)]));
}

/** The same data with all numbers as JavaScript's and Go's float64 hold them. */
export function asFloat64(value: Json): Json {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object' || value === null) return value;
  if (isJsonList(value)) return value.map(asFloat64);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asFloat64(item)]));
}

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const BIG = '\u0000big:';
/** Fewer digits always fit into a JavaScript number. */
const MAY_BE_BIG = /\d{16}/;

/**
 * The data in JSON text; whole numbers that a JavaScript number can't hold exactly become bigint. Throws
 * SyntaxError.
 */
export function parseJson(text: string): Json {
  if (!MAY_BE_BIG.test(text)) return JSON.parse(text) as Json;
  const marked = text.replace(STRING_OR_NUMBER, (token) =>
    /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? JSON.stringify(BIG + token) : token,
  );
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(BIG) ? BigInt(value.slice(BIG.length)) : value,
  ) as Json;
}
