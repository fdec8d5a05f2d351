import type {FieldError, FieldErrors} from '../field-error.js';
import {invalidValue, requiredValue, unsupportedValue} from '../field-error.js';
import type {FieldPath} from '../field-path.js';
import type {AnySchema, EnumerationType, FieldType} from '../schema/object-schema.js';

function problemWith(type: EnumerationType, word: string, path: FieldPath): FieldError | undefined {
  if (type.values.includes(word)) return undefined;
  if (type.invalid !== undefined) return invalidValue(path, word, type.invalid);
  return word === '' ? requiredValue(path, type.required) : unsupportedValue(path, word, type.values);
}

function* validateWords(type: FieldType, value: unknown, path: FieldPath): FieldErrors {
  if (type.kind === 'enumeration' && typeof value === 'string') {
    const problem = problemWith(type, value, path);
    if (problem !== undefined) yield problem;
  } else if (type.kind === 'list' && Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* validateWords(type.item, item, path.index(index));
  } else if (type.kind === 'object' && typeof value === 'object' && value !== null) {
    yield* validateEnumerations(type.schema, value, path);
  }
}

/**
 * Checks every enumeration field of an object against its schema. The API server has these checks in many places.
 */
export function* validateEnumerations(schema: AnySchema, object: object, path: FieldPath): FieldErrors {
  for (const [name, value] of Object.entries(object)) {
    const field = Object.hasOwn(schema.fields, name) ? schema.fields[name] : undefined;
    if (field !== undefined) yield* validateWords(field.type, value, path.child(name));
  }
}
