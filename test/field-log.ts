import {container as containerSchema, pod as podSchema} from '../src/api/schema/schema-pod.js';
import type {AnySchema, FieldType} from '../src/api/schema/object-schema.js';
import {noteOmission, OMITTED_SUBJECT} from './omitted-subject.js';

/** Returns the Pod, without the field that `npm run prove` takes away. */
export function logPodFields<T extends object>(pod: T): T {
  return OMITTED_SUBJECT === undefined ? pod : (omit(podSchema, pod) as T);
}

/** Returns the container, without the field that `npm run prove` takes away. */
export function logContainerFields<T extends object>(container: T): T {
  return OMITTED_SUBJECT === undefined ? container : (omit(containerSchema, container) as T);
}

function omit(schema: AnySchema, object: object): object {
  return Object.fromEntries(
    Object.entries(object).flatMap(([name, value]: [string, unknown]) => {
      const field = Object.hasOwn(schema.fields, name) ? schema.fields[name] : undefined;
      if (field === undefined || value === undefined) return [[name, value]];
      if (`${schema.name}.${name}` !== OMITTED_SUBJECT) return [[name, omitInValue(field.type, value)]];
      noteOmission();
      return [];
    }),
  );
}

function omitInValue(type: FieldType, value: unknown): unknown {
  if (type.kind === 'object' && typeof value === 'object' && value !== null) return omit(type.schema, value);
  if (type.kind === 'list' && Array.isArray(value))
    return value.map((item: unknown) => omitInValue(type.item, item));
  return value;
}
