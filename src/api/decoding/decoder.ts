import {findClosestMatch} from '../../base/closest-match.js';
import type {FieldError} from '../field-error.js';
import {describeFieldError} from '../field-error.js';
import type {FieldPath} from '../field-path.js';
import {toJson, type ManifestNode, type MapNode} from './manifest-node.js';
import {describeMismatch, describeType, isSecretKind, decodeScalar} from './decode-scalar.js';
import type {
  AnyField,
  AnySchema,
  EnumerationType,
  FieldType,
  ObjectSchema,
  ScalarType,
} from '../schema/object-schema.js';

/** A mismatch between a manifest and the schema, at an offset of the text. */
export interface DecodeProblem {
  readonly offset: number;
  readonly path: FieldPath;
  /** Full message. */
  readonly message: string;
  /** An unknown field is an error, or a warning with --lenient; everything else is always an error. */
  readonly kind: 'unknown-field' | 'wrong-type';
}

/** Returns Go's zero value, which a required field has if the manifest omits it. */
function zeroValue(type: FieldType): unknown {
  switch (type.kind) {
    case 'list':
      return [];
    case 'map':
      return {};
    case 'object':
      return emptyObject(type.schema);
    case 'bool':
      return false;
    case 'int32':
    case 'int64':
    case 'intOrString':
      return 0;
    case 'quantity':
      return '0';
    case 'bytes':
      return new Uint8Array();
    case 'anything':
      return null;
    default:
      return '';
  }
}

function emptyObject(schema: AnySchema): object {
  const fields = Object.entries(schema.fields).filter(([, field]) => field.required);
  return Object.fromEntries(fields.map(([name, {type}]) => [name, zeroValue(type)]));
}

function isNull(node: ManifestNode): boolean {
  return node.kind === 'scalar' && node.value === null;
}

/** Decodes trees according to schemas and collects all problems. */
export class Decoder {
  readonly problems: DecodeProblem[] = [];

  /** Decodes an object; mismatching parts are omitted and added to `problems`. */
  decode<T>(schema: ObjectSchema<T>, node: ManifestNode, path: FieldPath): T {
    // The compiler checked the schema against T (see Fields), so the result is a T.
    return (this.#decodeNode({kind: 'object', schema}, node, path) ?? emptyObject(schema)) as T;
  }

  /** Adds a problem that is not a matter of the schema, such as an unknown kind. */
  report(error: FieldError, offset: number): void {
    this.#problem(error.path, offset, describeFieldError(error));
  }

  #problem(
    path: FieldPath,
    offset: number,
    message: string,
    kind: DecodeProblem['kind'] = 'wrong-type',
  ): void {
    this.problems.push({offset, path, message, kind});
  }

  /** Decodes a value; undefined for null and for a mismatch. */
  #decodeNode(type: FieldType, node: ManifestNode, path: FieldPath): unknown {
    if (isNull(node)) return undefined;
    if (type.kind === 'anything') return toJson(node);
    if (type.kind === 'list') return this.#decodeList(type.item, node, path);
    if (type.kind === 'map') return this.#decodeMap(type.value, node, path);
    if (type.kind === 'object') return this.#decodeObject(type.schema, node, path);
    return this.#decodeScalar(type, node, path);
  }

  #decodeScalar(type: ScalarType | EnumerationType, node: ManifestNode, path: FieldPath): unknown {
    if (node.kind !== 'scalar') return this.#wrongKind(node, describeType(type), path);
    const reading = decodeScalar(type, node);
    if ('value' in reading) return reading.value;
    this.report({path, message: reading.problem}, node.offset);
    return undefined;
  }

  #decodeList(item: FieldType, node: ManifestNode, path: FieldPath): unknown {
    if (node.kind !== 'list') return this.#wrongKind(node, 'a list', path, isSecretKind(item.kind));
    return node.items.map((child, index) => this.#decodeMember(item, child, path.index(index)));
  }

  #decodeMap(value: FieldType, node: ManifestNode, path: FieldPath): unknown {
    if (node.kind !== 'map') return this.#wrongKind(node, 'an object', path, isSecretKind(value.kind));
    const entries = [...node.entries].flatMap(([key, entry]) => {
      const decoded = this.#decodeNode(value, entry.value, path.key(key));
      // Validation must not compare an invalid quantity, as zero, with another one.
      if (decoded === undefined && value.kind === 'quantity' && !isNull(entry.value)) return [];
      return [[key, decoded ?? zeroValue(value)] as const];
    });
    return Object.fromEntries(entries);
  }

  /** Decodes an item of a list or map, where null is the zero value. */
  #decodeMember(type: FieldType, node: ManifestNode, path: FieldPath): unknown {
    return this.#decodeNode(type, node, path) ?? zeroValue(type);
  }

  #decodeObject(schema: AnySchema, node: ManifestNode, path: FieldPath): unknown {
    if (node.kind !== 'map') return this.#wrongKind(node, 'an object', path);
    for (const [name, {keyOffset}] of node.entries) {
      if (!Object.hasOwn(schema.fields, name)) this.#unknownField(schema, path.child(name), name, keyOffset);
    }
    const members = Object.entries(schema.fields).map(([name, field]) => {
      return [name, this.#decodeField(field, node, path.child(name), name)] as const;
    });
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  }

  #decodeField(field: AnyField, node: MapNode, path: FieldPath, name: string): unknown {
    const entry = node.entries.get(name);
    const value = entry && this.#decodeNode(field.type, entry.value, path);
    return value === undefined && field.required ? zeroValue(field.type) : value;
  }

  #unknownField(schema: AnySchema, path: FieldPath, name: string, offset: number): void {
    const guess = findClosestMatch(name, Object.keys(schema.fields));
    const suggestion = guess === undefined ? '' : `, did you mean ${JSON.stringify(guess)}?`;
    this.#problem(
      path,
      offset,
      `unknown field ${JSON.stringify(path.toString())}${suggestion}`,
      'unknown-field',
    );
  }

  #wrongKind(node: ManifestNode, wanted: string, path: FieldPath, isSecret = false): unknown {
    this.report({path, message: `Invalid value: ${describeMismatch(node, wanted, isSecret)}`}, node.offset);
    return undefined;
  }
}
