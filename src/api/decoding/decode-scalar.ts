import {messageOf} from '../../base/errors.js';
import type {ManifestNode, ScalarNode} from './manifest-node.js';
import {findBase64Error} from './base64.js';
import {canonicalizeQuantity} from '../quantity.js';
import type {ScalarValue} from './plain-scalar.js';
import {suggestQuantities} from './suggest-quantities.js';
import type {EnumerationType, FieldType, ScalarType} from '../schema/object-schema.js';

/** A decoded scalar (undefined if absent), or the problem with it. */
export type ScalarResult = {readonly value: unknown} | {readonly problem: string};

type Kind = ScalarType['kind'] | EnumerationType['kind'];

const WANTED: Readonly<Record<Kind, string>> = {
  text: 'a string',
  secretText: 'a string',
  bytes: 'a string in base64',
  enumeration: 'a string',
  bool: 'a boolean',
  int32: 'an integer',
  int64: 'an integer',
  quantity: 'a quantity',
  time: 'a time such as "2026-01-31T12:00:00Z"',
  intOrString: 'an integer or a string',
};

/** Describes a type, such as `a string`. */
export function describeType(type: ScalarType | EnumerationType): string {
  return WANTED[type.kind];
}

function nameOf(value: ScalarValue): string {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'a string';
  return typeof value === 'boolean' ? 'a boolean' : 'a number';
}

function show(value: ScalarValue): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}

/** Types whose values are never shown. */
export function isSecretKind(kind: FieldType['kind']): boolean {
  return kind === 'secretText' || kind === 'bytes';
}

/** Describes a type mismatch: `true: must be a string, not a boolean (write "yes")`. */
export function describeMismatch(node: ManifestNode, wanted: string, isSecret = false): string {
  if (node.kind !== 'scalar')
    return `must be ${wanted}, not ${node.kind === 'list' ? 'a list' : 'an object'}`;
  if (isSecret) {
    const hint = typeof node.value === 'string' ? '' : ' (put it in quotes)';
    return `must be ${wanted}, not ${nameOf(node.value)}${hint}`;
  }
  const suggestion = wanted === WANTED.text ? ` (write ${JSON.stringify(node.source)})` : '';
  return `${show(node.value)}: must be ${wanted}, not ${nameOf(node.value)}${suggestion}`;
}

function mismatch(node: ScalarNode, kind: Kind): ScalarResult {
  return {problem: `Invalid value: ${describeMismatch(node, WANTED[kind], isSecretKind(kind))}`};
}

function readText(node: ScalarNode): ScalarResult {
  return typeof node.value === 'string' ? {value: node.value} : mismatch(node, 'text');
}

function readSecretText(node: ScalarNode): ScalarResult {
  return typeof node.value === 'string' ? {value: node.value} : mismatch(node, 'secretText');
}

/** Decodes standard base64 with padding; line breaks are accepted (encoding/base64). */
function readBytes(node: ScalarNode): ScalarResult {
  const {value} = node;
  if (typeof value !== 'string') return mismatch(node, 'bytes');
  const fault = findBase64Error(value);
  if (fault === undefined) return {value: Buffer.from(value, 'base64')};
  return {problem: `Invalid value: illegal base64 data at input byte ${fault}`};
}

function readBool(node: ScalarNode): ScalarResult {
  return typeof node.value === 'boolean' ? {value: node.value} : mismatch(node, 'bool');
}

/** Decodes an integer; `1.0` and `1e3` are integers too, because JSON does not distinguish them. */
function readInteger(node: ScalarNode, least: number, most: number): ScalarResult {
  const {value} = node;
  if (typeof value !== 'bigint' && !Number.isInteger(value)) return mismatch(node, 'int64');
  const number = Number(value);
  if (number >= least && number <= most) return {value: number};
  return {problem: `Invalid value: ${show(value)}: must be between ${least} and ${most}, inclusive`};
}

function readInt32(node: ScalarNode): ScalarResult {
  return readInteger(node, -(2 ** 31), 2 ** 31 - 1);
}

function readInt64(node: ScalarNode): ScalarResult {
  return readInteger(node, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
}

function readQuantity(node: ScalarNode): ScalarResult {
  if (typeof node.value === 'boolean') return mismatch(node, 'quantity');
  try {
    return {value: canonicalizeQuantity(String(node.value).trim())};
  } catch (error) {
    const suggestions = suggestQuantities(String(node.value)).map((one) => JSON.stringify(one));
    const hint = suggestions.length === 0 ? '' : `, did you mean ${suggestions.join(' or ')}?`;
    return {problem: `Invalid value: ${show(node.value)}: ${messageOf(error)}${hint}`};
  }
}

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[-+]\d\d:\d\d)$/;

function readTime(node: ScalarNode): ScalarResult {
  const {value} = node;
  if (typeof value !== 'string') return mismatch(node, 'time');
  if (RFC_3339.test(value) && !Number.isNaN(Date.parse(value))) return {value};
  return {problem: `Invalid value: ${show(value)}: must be ${WANTED.time}`};
}

function readIntOrString(node: ScalarNode): ScalarResult {
  if (typeof node.value === 'string') return {value: node.value};
  return typeof node.value === 'boolean' ? mismatch(node, 'intOrString') : readInt32(node);
}

const READERS: Readonly<Record<ScalarType['kind'], (node: ScalarNode) => ScalarResult>> = {
  text: readText,
  secretText: readSecretText,
  bytes: readBytes,
  bool: readBool,
  int32: readInt32,
  int64: readInt64,
  quantity: readQuantity,
  time: readTime,
  intOrString: readIntOrString,
};

/**
 * Decodes a non-null scalar as a value of the type. Values of enumerations are checked by validation.
 */
export function decodeScalar(type: ScalarType | EnumerationType, node: ScalarNode): ScalarResult {
  if (type.kind !== 'enumeration') return READERS[type.kind](node);
  // In Go an empty string is the same as an absent one.
  return node.value === '' && !type.values.includes('') ? {value: undefined} : readText(node);
}
