import {goJson} from '../../../../api/container-hash.js';
import type {AnySchema, FieldType, ObjectSchema} from '../../../../api/schema/object-schema.js';

/**
 * Encodes an API object byte for byte like Go's encoding/json: fields in the order of the Go type, optional fields with
 * zero values omitted.
 */
export function encodeApiJson<T extends object>(schema: ObjectSchema<T>, value: T): string {
  return goJson(orderFields(schema, value as Readonly<Record<string, unknown>>));
}

/** Encodes a list of API objects like encodeApiJson. */
export function encodeApiJsonList<T extends object>(schema: ObjectSchema<T>, values: readonly T[]): string {
  return `[${values.map((value) => encodeApiJson(schema, value)).join(',')}]`;
}

function orderFields(schema: AnySchema, value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const ordered: Record<string, unknown> = {};
  for (const [name, {type, required}] of Object.entries(schema.fields)) {
    const field = value[name];
    if (field !== undefined && (required || !isZero(field))) ordered[name] = orderValue(type, field);
  }
  return ordered;
}

function orderValue(type: FieldType, value: unknown): unknown {
  if (type.kind === 'object') return orderFields(type.schema, value as Readonly<Record<string, unknown>>);
  if (type.kind === 'list') return (value as readonly unknown[]).map((item) => orderValue(type.item, item));
  return value;
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false || (Array.isArray(value) && value.length === 0);
}
