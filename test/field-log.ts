import {appendFileSync} from 'node:fs';
import {relative} from 'node:path';
import {expect} from 'vitest';
import {container as containerSchema, pod as podSchema} from '../src/api/schema/schema-pod.js';
import type {AnySchema, FieldType} from '../src/api/schema/object-schema.js';

/**
 * Appends the fields a Pod sets and the running test to the file that KCRI_FIELD_LOG names, and returns the Pod.
 * scripts/field-table.mjs generates docs/pod-fields.md from it.
 */
export function logPodFields<T extends object>(pod: T): T {
  log(podSchema, pod);
  return pod;
}

/** Does the same for a single container. */
export function logContainerFields<T extends object>(container: T): T {
  log(containerSchema, container);
  return container;
}

function log(schema: AnySchema, object: object): void {
  const path = process.env['KCRI_FIELD_LOG'];
  if (path === undefined) return;
  const {testPath = '', currentTestName = ''} = expect.getState();
  const fields = [...new Set(fieldsOf(schema, object))];
  const line = {file: relative(process.cwd(), testPath), test: currentTestName, fields};
  appendFileSync(path, `${JSON.stringify(line)}\n`);
}

/** Returns the names of the fields set in an object and in all nested objects, such as `PodSpec.hostUsers`. */
function* fieldsOf(schema: AnySchema, object: object): Generator<string> {
  for (const [name, value] of Object.entries(object)) {
    const field = Object.hasOwn(schema.fields, name) ? schema.fields[name] : undefined;
    if (field === undefined || value === undefined) continue;
    yield `${schema.name}.${name}`;
    yield* inValue(field.type, value);
  }
}

function* inValue(type: FieldType, value: unknown): Generator<string> {
  if (type.kind === 'object' && typeof value === 'object' && value !== null)
    yield* fieldsOf(type.schema, value);
  if (type.kind === 'list' && Array.isArray(value))
    for (const item of value as readonly unknown[]) yield* inValue(type.item, item);
}
