import {appendFileSync} from 'node:fs';
import {relative} from 'node:path';
import {expect} from 'vitest';
import {container as containerSchema, pod as podSchema} from '../src/api/schema/schema-pod.js';
import type {AnySchema, FieldType} from '../src/api/schema/object-schema.js';

/**
 * Notes which test sets which fields of a Pod, when KCRI_FIELD_LOG names a file: what docs/pod-fields.md is made from
 * (scripts/field-table.mjs). Gives the Pod back.
 */
export function logPodFields<T extends object>(pod: T): T {
  log(podSchema, pod);
  return pod;
}

/** The same for a container on its own. */
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

/** `PodSpec.hostUsers` and the like, of the object and of all in it. */
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
