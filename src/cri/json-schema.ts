import type {MessageName} from './gen/schema.js';
import {
  CRI_SCHEMAS,
  NEWER_THAN_CRICTL,
  type FieldSchema,
  type FieldType,
  type ScalarKind,
} from './message-schema.js';

/** A JSON schema, or a part of one. */
export interface JsonSchema {
  readonly [keyword: string]: string | boolean | JsonSchema | readonly JsonSchema[];
}

const SCALAR_TYPES = {
  string: 'string',
  bytes: 'string',
  bool: 'boolean',
  int32: 'integer',
  uint32: 'integer',
  int64: 'integer',
  uint64: 'integer',
  double: 'number',
} as const satisfies Record<ScalarKind, string>;

/** Options of messageJsonSchema. */
export interface JsonSchemaOptions {
  /** Includes only the fields that crictl 1.36 has; the schema then equals crictl's byte for byte. */
  readonly crictl?: boolean;
}

/** Returns the JSON schema of a message as written in config files, with the field names of the .proto. */
export function messageJsonSchema(name: MessageName, {crictl = false}: JsonSchemaOptions = {}): JsonSchema {
  const names = [...reachable(name)].sort();
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `https://k8s.io/cri-api/pkg/apis/runtime/v1/${kebab(name)}`,
    $ref: reference(name),
    $defs: Object.fromEntries(names.map((each) => [each, definition(each, crictl)])),
  };
}

/** Returns the name of a message and of all messages that it refers to. */
function reachable(name: string, known = new Set<string>()): ReadonlySet<string> {
  if (known.has(name)) return known;
  known.add(name);
  for (const {type} of CRI_SCHEMAS.message(name).fields)
    if (type.kind === 'message') reachable(type.name, known);
  return known;
}

function definition(name: string, crictl: boolean): JsonSchema {
  const properties = CRI_SCHEMAS.message(name)
    .fields.filter(({protoName}) => !crictl || !NEWER_THAN_CRICTL.has(`${name}.${protoName}`))
    .map((field) => [field.protoName, fieldSchema(field)] as const);
  return {properties: Object.fromEntries(properties), additionalProperties: false, type: 'object'};
}

function fieldSchema({type, repeated}: FieldSchema): JsonSchema {
  const one = typeSchema(type);
  return repeated ? {items: one, type: 'array'} : one;
}

function typeSchema(type: FieldType): JsonSchema {
  switch (type.kind) {
    case 'message':
      return {$ref: reference(type.name)};
    case 'map':
      return {additionalProperties: {type: 'string'}, type: 'object'};
    case 'enum':
      return {oneOf: [{type: 'string'}, {type: 'integer'}]};
    default:
      return {type: SCALAR_TYPES[type.kind]};
  }
}

function reference(name: string): string {
  return `#/$defs/${name}`;
}

function kebab(name: string): string {
  return name.replace(/(?!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
}
