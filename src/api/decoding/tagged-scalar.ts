import {findBase64Error} from './base64.js';
import {INT64_LIMIT, resolvePlainScalar, type ScalarValue} from './plain-scalar.js';

/** Value of a scalar with a tag, or the problem with it. */
export type TaggedScalar = {readonly value: ScalarValue} | {readonly problem: string};

const PREFIX = 'tag:yaml.org,2002:';
const TIMESTAMP =
  /^\d{4}-\d{1,2}-\d{1,2}([Tt]\d{1,2}:\d{1,2}:\d{1,2}(\.\d+)?(Z|[-+]\d\d:\d\d)| \d{1,2}:\d{1,2}:\d{1,2}(\.\d+)?)?$/;

/** Returns the name of go-yaml's tag for a value. */
function tagOf(value: ScalarValue): string {
  if (value === null) return 'null';
  if (typeof value === 'bigint') return 'int';
  if (typeof value === 'number') return 'float';
  return typeof value === 'boolean' ? 'bool' : 'str';
}

function readBinary(text: string): TaggedScalar {
  if (findBase64Error(text) !== undefined) return {problem: '!!binary value contains invalid base64 data'};
  return {value: Buffer.from(text, 'base64').toString()};
}

/** Resolves the text of a scalar, quoted or not, to the type that its tag names. */
function readAs(wanted: string, text: string): TaggedScalar {
  if (wanted === 'timestamp' && TIMESTAMP.test(text)) return {value: text};
  const value = resolvePlainScalar(text);
  const found = tagOf(value);
  if (found === wanted) return {value};
  if (wanted === 'float' && typeof value === 'bigint' && value < INT64_LIMIT) return {value: Number(value)};
  return {problem: `cannot decode !!${found} \`${text}\` as a !!${wanted}`};
}

/** Resolves a scalar with a tag as go-yaml 2 does; with a tag that YAML does not define it is a string. */
export function resolveTaggedScalar(tag: string, text: string): TaggedScalar {
  const name = tag.startsWith(PREFIX) ? tag.slice(PREFIX.length) : '';
  switch (name) {
    case 'binary':
      return readBinary(text);
    case 'null':
    case 'bool':
    case 'int':
    case 'float':
    case 'timestamp':
      return readAs(name, text);
    default:
      return {value: text};
  }
}
