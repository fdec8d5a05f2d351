import {goJson} from '../../api/hash.js';
import type {AnySchema, FieldType, ObjectSchema} from '../../api/schema.js';

/**
 * An object of the API in the very bytes that Go's encoding/json gives: fields in upstream's order, optional
 * fields at their zero value left out.
 */
export function apiJson<T extends object>(schema: ObjectSchema<T>, value: T): string {
  return goJson(orderFields(schema, value as Readonly<Record<string, unknown>>));
}

/** The same for a list of objects. */
export function apiJsonList<T extends object>(schema: ObjectSchema<T>, values: readonly T[]): string {
  return `[${values.map((value) => apiJson(schema, value)).join(',')}]`;
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
