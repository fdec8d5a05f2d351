import type {Init} from './call.js';
import type {MessageName} from './gen/schema.js';
import type {MessageTypes} from './gen/types.js';
import {
  EMPTY_MAP,
  messageSchema,
  narrowedSchema,
  type FieldMask,
  type FieldSchema,
  type FieldType,
  type MessageSchema,
  type ScalarKind,
} from './schema.js';
import type {MessageSink} from './transport.js';
import {END, Reader, WIRE, Writer} from './wire.js';

/*
 * Protobuf, driven by the generated tables: one small interpreter instead of generated functions for 175
 * messages, because at start-up only what is loaded counts (docs/performance.md). Callers see `encode` and
 * `decode` alone, so that the way they work can change.
 */

type Fields = Record<string, unknown>;

/** The bytes of a message. Fields at their default are left out, as proto3 does. */
export function encode<Name extends MessageName>(name: Name, message: Init<MessageTypes[Name]>): Buffer {
  return encodeFields(name, message as Fields);
}

/**
 * A message from its bytes: unknown fields are skipped, absent ones get their default (`''`, `0`, `0n`,
 * `false`, `[]`, `{}`, the enum's first value), absent sub-messages are undefined. With `fields` the others are skipped
 * as well. Throws WireError.
 */
export function decode<Name extends MessageName>(
  name: Name,
  bytes: Buffer,
  fields?: FieldMask<MessageTypes[Name]>,
): MessageTypes[Name] {
  return decodeFields(schemaOf(name, fields), new Reader(bytes)) as MessageTypes[Name];
}

/** How much of a message is gathered before it is decoded. */
const WORTHWHILE = 64 * 1024;

/** Room for what is gathered and what came with it, mostly. */
const ROOM = 2 * WORTHWHILE;

/** Decodes a message while its bytes come in, of which it keeps only what is not a whole field yet. */
export class Decoder<Name extends MessageName> implements MessageSink {
  readonly #schema: MessageSchema;
  readonly #message: Fields;
  #buffer = Buffer.alloc(0);
  #length = 0;
  /** How much must be there until it is worth while to decode again. */
  #enough = WORTHWHILE;
  #failure: Error | undefined;

  /** As `decode` does. */
  constructor(name: Name, fields?: FieldMask<MessageTypes[Name]>) {
    this.#schema = schemaOf(name, fields);
    this.#message = {...this.#schema.defaults};
  }

  push(piece: Buffer): void {
    if (this.#failure !== undefined) return;
    const length = this.#length + piece.length;
    if (length > this.#buffer.length) {
      const isFirst = this.#length === 0;
      const larger = Buffer.allocUnsafe(isFirst ? length : Math.max(length, this.#buffer.length * 2, ROOM));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    piece.copy(this.#buffer, this.#length);
    this.#length = length;
    if (length < this.#enough) return;
    try {
      this.#decodeWhole();
    } catch (error) {
      this.#failure = error as Error;
    }
  }

  #decodeWhole(): void {
    const gathered = new Reader(this.#buffer.subarray(0, this.#length));
    let whole = 0;
    let missing = 0;
    while (missing === 0) {
      whole = gathered.position;
      missing = gathered.skipWhole();
    }
    decodeFields(this.#schema, new Reader(this.#buffer.subarray(0, whole)), this.#message);
    this.#buffer.copyWithin(0, whole, this.#length);
    this.#length -= whole;
    this.#enough = Math.max(WORTHWHILE, this.#length + missing);
  }

  /** The message, when all of it has come. Throws WireError. */
  end(): MessageTypes[Name] {
    if (this.#failure !== undefined) throw this.#failure;
    const rest = new Reader(this.#buffer.subarray(0, this.#length));
    return decodeFields(this.#schema, rest, this.#message) as MessageTypes[Name];
  }
}

function schemaOf<Name extends MessageName>(
  name: Name,
  fields: FieldMask<MessageTypes[Name]> | undefined,
): MessageSchema {
  return fields === undefined ? messageSchema(name) : narrowedSchema(name, fields);
}

function decodeFields(
  {defaults, byNumber}: MessageSchema,
  reader: Reader,
  message: Fields = {...defaults},
): unknown {
  for (let tag = reader.tag(); tag !== END; tag = reader.tag()) {
    const field = byNumber[tag >>> 3];
    if (field === undefined) reader.skip(tag & 7);
    else if (field.wireType !== (tag & 7)) decodeOddly(message, field, tag & 7, reader);
    else if (field.type.kind === 'map') decodeMapEntry(message, field.name, field.type.keys, reader);
    else if (field.repeated) append(message, field.name, decodeValue(field.type, reader));
    else message[field.name] = decodeValue(field.type, reader);
  }
  return message;
}

/** A field that is written otherwise than its type is: numbers in one piece, or what can't be it. */
function decodeOddly(message: Fields, field: FieldSchema, wireType: number, reader: Reader): void {
  if (field.repeated && wireType === WIRE.bytes) decodePacked(message, field, reader);
  else reader.skip(wireType);
}

function decodePacked(message: Fields, {type, name}: FieldSchema, reader: Reader): void {
  const outerEnd = reader.enter();
  while (!reader.done) append(message, name, decodeValue(type, reader));
  reader.leave(outerEnd);
}

/** Frozen defaults are replaced by the message's own list at its first item. */
function append(message: Fields, name: string, value: unknown): void {
  const list = message[name] as unknown[];
  if (list.length === 0) message[name] = [value];
  else list.push(value);
}

function decodeMapEntry(
  message: Fields,
  name: string,
  wanted: ReadonlySet<string> | undefined,
  reader: Reader,
): void {
  let key = '';
  let value = '';
  const outerEnd = reader.enter();
  for (let tag = reader.tag(); tag !== END; tag = reader.tag()) {
    if (tag === ((1 << 3) | WIRE.bytes)) key = reader.name();
    else if (tag === ((2 << 3) | WIRE.bytes) && (key === '' || isWanted(key, wanted)))
      value = reader.string();
    else reader.skip(tag & 7);
  }
  reader.leave(outerEnd);
  if (!isWanted(key, wanted)) return;
  let map = message[name] as Record<string, string>;
  if (map === EMPTY_MAP) message[name] = map = {};
  // A plain assignment of "__proto__" would change the prototype: keys come from the runtime.
  if (key === '__proto__')
    Object.defineProperty(map, key, {value, enumerable: true, writable: true, configurable: true});
  else map[key] = value;
}

function isWanted(key: string, wanted: ReadonlySet<string> | undefined): boolean {
  return wanted === undefined || wanted.has(key);
}

function decodeValue(type: FieldType, reader: Reader): unknown {
  switch (type.kind) {
    case 'string':
      return reader.string();
    case 'message':
      return decodeNested((type.schema ??= messageSchema(type.name)), reader);
    case 'enum': {
      const number = reader.uint32() | 0;
      // A newer runtime may know more values than we do: the number then stands for itself.
      return type.values.names.get(number) ?? String(number);
    }
    case 'map':
      throw new TypeError('a map entry can only be decoded into its message');
    default:
      return decodeOther(type.kind, reader);
  }
}

function decodeNested(schema: MessageSchema, reader: Reader): unknown {
  const outerEnd = reader.enter();
  const message = decodeFields(schema, reader);
  reader.leave(outerEnd);
  return message;
}

function decodeOther(kind: Exclude<ScalarKind, 'string'>, reader: Reader): unknown {
  switch (kind) {
    case 'bytes':
      return reader.bytes();
    case 'bool':
      return reader.bool();
    case 'int32':
      return reader.uint32() | 0;
    case 'uint32':
      return reader.uint32();
    case 'int64':
      return reader.int64();
    case 'uint64':
      return reader.uint64();
    case 'double':
      return reader.double();
    default:
      return kind satisfies never;
  }
}

function encodeFields(name: MessageName, message: Fields): Buffer {
  const writer = new Writer();
  for (const field of messageSchema(name).fields) {
    const value = message[field.name];
    if (value !== undefined && value !== null) encodeField(writer, field, value);
  }
  return writer.finish();
}

function encodeField(writer: Writer, field: FieldSchema, value: unknown): void {
  const {type} = field;
  const tag = (field.number << 3) | field.wireType;
  if (type.kind === 'map') encodeMap(writer, tag, value as Record<string, string>);
  else if (field.repeated) encodeRepeated(writer, field, value as readonly unknown[]);
  else if (type.kind === 'message' || !isDefault(type, value)) {
    writer.uint32(tag);
    encodeValue(writer, type, value);
  }
}

function encodeRepeated(writer: Writer, field: FieldSchema, list: readonly unknown[]): void {
  if (list.length === 0) return;
  const {type} = field;
  const packed = field.wireType !== WIRE.bytes;
  const target = packed ? new Writer() : writer;
  for (const item of list) {
    if (!packed) target.uint32((field.number << 3) | WIRE.bytes);
    encodeValue(target, type, item);
  }
  if (!packed) return;
  writer.uint32((field.number << 3) | WIRE.bytes);
  writer.bytes(target.finish());
}

function encodeMap(writer: Writer, tag: number, map: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(map)) {
    const entry = new Writer();
    entry.uint32((1 << 3) | WIRE.bytes);
    entry.string(key);
    entry.uint32((2 << 3) | WIRE.bytes);
    entry.string(value);
    writer.uint32(tag);
    writer.bytes(entry.finish());
  }
}

function isDefault(type: FieldType, value: unknown): boolean {
  switch (type.kind) {
    case 'enum':
      return enumNumber(type, value) === 0;
    case 'bytes':
      return (value as Uint8Array).length === 0;
    case 'double':
      return Object.is(value, 0);
    default:
      return value === '' || value === 0 || value === 0n || value === false;
  }
}

function enumNumber(type: FieldType & {kind: 'enum'}, value: unknown): number {
  const text = String(value);
  const number = type.values.numbers.get(text) ?? Number(text);
  if (!Number.isInteger(number))
    throw new TypeError(`${type.values.name} has no value ${JSON.stringify(text)}`);
  return number;
}

const ENCODERS: Readonly<Record<ScalarKind, (writer: Writer, value: never) => void>> = {
  string: (writer, value: string) => {
    writer.string(value);
  },
  bytes: (writer, value: Uint8Array) => {
    writer.bytes(value);
  },
  bool: (writer, value: boolean) => {
    writer.uint32(value ? 1 : 0);
  },
  int32: (writer, value: number) => {
    writer.uint64(BigInt(value));
  },
  uint32: (writer, value: number) => {
    writer.uint32(value);
  },
  int64: (writer, value: bigint) => {
    writer.uint64(value);
  },
  uint64: (writer, value: bigint) => {
    writer.uint64(value);
  },
  double: (writer, value: number) => {
    writer.double(value);
  },
};

function encodeValue(writer: Writer, type: FieldType, value: unknown): void {
  if (type.kind === 'message') writer.bytes(encodeFields(type.name, value as Fields));
  else if (type.kind === 'enum') writer.uint64(BigInt(enumNumber(type, value)));
  else if (type.kind === 'map') throw new TypeError('a map can only be encoded as a field');
  else ENCODERS[type.kind](writer, value as never);
}
