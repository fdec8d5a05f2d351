import {container as containerSchema, pod as podSchema} from '../../src/api/types/v1-pod.js';
import type {AnySchema, FieldType} from '../../src/api/schema/object-schema.js';
import {noteOmission, readOmittedSubject} from './omitted-subject.js';

/** Returns the Pod, without the field that `npm run prove` takes away. */
export function omitPodField<T extends object>(pod: T): T {
  const subject = readOmittedSubject();
  return subject === undefined ? pod : (omit(subject, podSchema, pod) as T);
}

/** Returns the container, without the field that `npm run prove` takes away. */
export function omitContainerField<T extends object>(container: T): T {
  const subject = readOmittedSubject();
  return subject === undefined ? container : (omit(subject, containerSchema, container) as T);
}

function omit(subject: string, schema: AnySchema, object: object): object {
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, value]: [string, unknown]) => {
      const field = Object.hasOwn(schema.fields, name) ? schema.fields[name] : undefined;
      if (field === undefined || value === undefined) return [[name, value]];
      if (`${schema.name}.${name}` !== subject) return [[name, omitInValue(subject, field.type, value)]];
      noteOmission();
      return [];
    }),
  );
}

function omitInValue(subject: string, type: FieldType, value: unknown): unknown {
  if (type.kind === 'object' && typeof value === 'object' && value !== null)
    return omit(subject, type.schema, value);
  if (type.kind === 'list' && Array.isArray(value))
    return value.map((item: unknown) => omitInValue(subject, type.item, item));
  return value;
}
