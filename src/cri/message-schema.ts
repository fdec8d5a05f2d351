import {WIRE} from './wire-format.js';
import {ENUMS, MESSAGES} from './gen/schema.js';

/** Kinds of scalar fields that kcri's interfaces use. */
export const SCALARS = ['string', 'bool', 'int32', 'uint32', 'int64', 'uint64', 'double', 'bytes'] as const;
export type ScalarKind = (typeof SCALARS)[number];

/** Type of a field. `keys` of a map are the keys that a field mask selects. */
export type FieldType =
  | {readonly kind: ScalarKind}
  | {readonly kind: 'map'; readonly keys?: ReadonlySet<string>}
  | {readonly kind: 'enum'; readonly values: EnumSchema}
  | MessageType;

/** Type of a message field. Its schema is looked up on first use, since messages may be recursive. */
export interface MessageType {
  readonly kind: 'message';
  readonly name: string;
  readonly schema: () => MessageSchema;
}

/** One field of a message. */
export interface FieldSchema {
  /** Name in proto JSON and in the TypeScript types, such as `podSandboxId`. */
  readonly name: string;
  /** Name in the .proto file, such as `pod_sandbox_id`. */
  readonly protoName: string;
  readonly number: number;
  /** Wire type of one value. */
  readonly wireType: number;
  readonly repeated: boolean;
  readonly type: FieldType;
}

/** Schema of a message. */
export interface MessageSchema {
  readonly name: string;
  /** In the order of the .proto file. */
  readonly fields: readonly FieldSchema[];
  /** Indexed by field number. */
  readonly byNumber: readonly (FieldSchema | undefined)[];
  /** A message with every field at its default, as decoded from an empty message. */
  readonly defaults: Readonly<Record<string, unknown>>;
}

/** Schema of an enum: numbers by name and names by number. */
export interface EnumSchema {
  readonly name: string;
  readonly numbers: ReadonlyMap<string, number>;
  readonly names: ReadonlyMap<number, string>;
}

/** Fields, as `Message.field`, that crictl 1.36 does not know because its CRI is 0.36. */
export const NEWER_THAN_CRICTL: ReadonlySet<string> = new Set([
  'Mount.mount_options',
  'RuntimeFeatures.mount_options',
]);

/** Generated tables of an interface: its messages and enums by name. */
export interface SchemaTables {
  readonly messages: Readonly<Record<string, string>>;
  readonly enums: Readonly<Record<string, string>>;
}

/** Schemas of the messages of an interface, each parsed from the generated tables on first use. */
export class SchemaSet {
  readonly #tables: SchemaTables;
  readonly #messages = new Map<string, MessageSchema>();
  readonly #enums = new Map<string, EnumSchema>();

  constructor(tables: SchemaTables) {
    this.#tables = tables;
  }

  /** Reports whether the interface has a message of that name. */
  has(name: string): boolean {
    return Object.hasOwn(this.#tables.messages, name);
  }

  /** Returns the schema of a message. Throws TypeError for an unknown name. */
  message(name: string): MessageSchema {
    const known = this.#messages.get(name);
    if (known !== undefined) return known;
    const source = this.#tables.messages[name];
    if (source === undefined || !this.has(name)) throw new TypeError(`no message ${name}`);
    const fields = source === '' ? [] : source.split(';').map((text) => this.#parseField(text));
    const schema: MessageSchema = {
      name,
      fields,
      byNumber: indexByNumber(fields),
      defaults: Object.fromEntries(fields.map((field) => [field.name, defaultOf(field)])),
    };
    this.#messages.set(name, schema);
    return schema;
  }

  #parseField(text: string): FieldSchema {
    const [protoName = '', number = '', kind = ''] = text.split(' ');
    const repeated = kind.startsWith('[]');
    const type = this.#fieldType(repeated ? kind.slice(2) : kind);
    return {
      name: protoName.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
      protoName,
      number: Number(number),
      wireType: wireTypeOf(type),
      repeated,
      type,
    };
  }

  #fieldType(kind: string): FieldType {
    if (kind === 'map') return {kind};
    if (kind.startsWith('#')) return {kind: 'enum', values: this.#enumSchema(kind.slice(1))};
    if (!this.has(kind)) return {kind: kind as ScalarKind};
    let schema: MessageSchema | undefined;
    return {kind: 'message', name: kind, schema: () => (schema ??= this.message(kind))};
  }

  #enumSchema(name: string): EnumSchema {
    const known = this.#enums.get(name);
    if (known !== undefined) return known;
    const pairs = (this.#tables.enums[name] ?? '').split(';').map((text): [string, number] => {
      const [value = '', number = ''] = text.split(' ');
      return [value, Number(number)];
    });
    const schema = {
      name,
      numbers: new Map(pairs),
      names: new Map(pairs.map(([value, number]) => [number, value])),
    };
    this.#enums.set(name, schema);
    return schema;
  }
}

/** Schemas of the CRI. */
export const CRI_SCHEMAS = new SchemaSet({messages: MESSAGES, enums: ENUMS});

/**
 * The fields of a message to decode. `true` selects a field completely; an object selects fields of the sub-message,
 * of each list item, or keys of the map.
 */
export type FieldMask<T> = {
  readonly [Key in keyof T]?:
    | true
    | (NonNullable<T[Key]> extends readonly (infer Item)[] ? FieldMask<Item> : FieldMask<NonNullable<T[Key]>>)
    | undefined;
};

/** A field mask of any message. */
export type AnyMask = {readonly [name: string]: true | AnyMask | undefined};

/** Compiles a mask to a schema with only the selected fields; a decoder skips the others like unknown fields. */
export function compileFieldMask(schema: MessageSchema, mask: AnyMask): MessageSchema {
  const byNumber = schema.byNumber.map((field) => {
    const selected = field === undefined ? undefined : mask[field.name];
    return field === undefined || selected === undefined ? undefined : narrowedField(field, selected);
  });
  return {...schema, byNumber};
}

function narrowedField(field: FieldSchema, mask: true | AnyMask): FieldSchema {
  const {type} = field;
  if (mask !== true && type.kind === 'message') {
    const narrowed = compileFieldMask(type.schema(), mask);
    return {...field, type: {...type, schema: () => narrowed}};
  }
  if (mask !== true && type.kind === 'map')
    return {...field, type: {...type, keys: new Set(Object.keys(mask))}};
  return field;
}

function wireTypeOf({kind}: FieldType): number {
  switch (kind) {
    case 'string':
    case 'bytes':
    case 'map':
    case 'message':
      return WIRE.bytes;
    case 'double':
      return WIRE.fixed64;
    default:
      return WIRE.varint;
  }
}

function indexByNumber(fields: readonly FieldSchema[]): readonly (FieldSchema | undefined)[] {
  const last = Math.max(0, ...fields.map(({number}) => number));
  const indexed = Array<FieldSchema | undefined>(last + 1).fill(undefined);
  for (const field of fields) indexed[field.number] = field;
  return indexed;
}

const SCALAR_DEFAULTS = {
  string: '',
  bool: false,
  int32: 0,
  uint32: 0,
  double: 0,
  int64: 0n,
  uint64: 0n,
  bytes: new Uint8Array(),
} as const satisfies Record<ScalarKind, unknown>;

/** Frozen, since messages share their empty lists and maps. */
const EMPTY_LIST: readonly unknown[] = Object.freeze([]);
export const EMPTY_MAP: Readonly<Record<string, string>> = Object.freeze({});

function defaultOf(field: FieldSchema): unknown {
  if (field.repeated) return EMPTY_LIST;
  switch (field.type.kind) {
    case 'map':
      return EMPTY_MAP;
    case 'message':
      return undefined;
    case 'enum':
      return field.type.values.names.get(0);
    default:
      return SCALAR_DEFAULTS[field.type.kind];
  }
}
