import type {Init} from './call.js';
import type {MessageName} from './gen/schema.js';
import type {MessageTypes} from './gen/types.js';
import {messageSchema, type FieldSchema, type FieldType, type ScalarKind} from './schema.js';
import {Reader, WIRE, Writer} from './wire.js';

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
 * `false`, `[]`, `{}`, the enum's first value), absent sub-messages are undefined. Throws WireError.
 */
export function decode<Name extends MessageName>(name: Name, bytes: Buffer): MessageTypes[Name] {
  return decodeFields(name, new Reader(bytes)) as MessageTypes[Name];
}

function decodeFields(name: MessageName, reader: Reader): unknown {
  const schema = messageSchema(name);
  const message: Fields = {...schema.defaults};
  while (!reader.done) {
    const tag = reader.uint32();
    const field = schema.byNumber.get(tag >>> 3);
    if (field === undefined) reader.skip(tag & 7);
    else decodeField(message, field, tag & 7, reader);
  }
  return message;
}

function decodeField(message: Fields, field: FieldSchema, wireType: number, reader: Reader): void {
  const {type, name} = field;
  const expected = wireTypeOf(type);
  if (field.repeated && wireType === WIRE.bytes && expected !== WIRE.bytes) {
    const packed = reader.nested();
    while (!packed.done) append(message, name, decodeValue(type, packed));
    return;
  }
  if (wireType !== expected) {
    reader.skip(wireType);
    return;
  }
  if (type.kind === 'map') decodeMapEntry(message, name, reader.nested());
  else if (field.repeated) append(message, name, decodeValue(type, reader));
  else message[name] = decodeValue(type, reader);
}

/** Frozen defaults are replaced by the message's own list at its first item. */
function append(message: Fields, name: string, value: unknown): void {
  const list = message[name] as unknown[];
  if (list.length === 0) message[name] = [value];
  else list.push(value);
}

function decodeMapEntry(message: Fields, name: string, entry: Reader): void {
  let key = '';
  let value = '';
  while (!entry.done) {
    const tag = entry.uint32();
    if (tag === ((1 << 3) | WIRE.bytes)) key = entry.string();
    else if (tag === ((2 << 3) | WIRE.bytes)) value = entry.string();
    else entry.skip(tag & 7);
  }
  let map = message[name] as Record<string, string>;
  if (Object.isFrozen(map)) message[name] = map = {};
  // A plain assignment of "__proto__" would change the prototype: keys come from the runtime.
  if (key === '__proto__')
    Object.defineProperty(map, key, {value, enumerable: true, writable: true, configurable: true});
  else map[key] = value;
}

function wireTypeOf(type: FieldType): number {
  switch (type.kind) {
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

const DECODERS: Readonly<Record<ScalarKind, (reader: Reader) => unknown>> = {
  string: (reader) => reader.string(),
  bytes: (reader) => reader.bytes(),
  bool: (reader) => reader.uint64() !== 0n,
  int32: (reader) => reader.uint32() | 0,
  uint32: (reader) => reader.uint32(),
  int64: (reader) => BigInt.asIntN(64, reader.uint64()),
  uint64: (reader) => reader.uint64(),
  double: (reader) => reader.double(),
};

function decodeValue(type: FieldType, reader: Reader): unknown {
  if (type.kind === 'message') return decodeFields(type.name, reader.nested());
  if (type.kind === 'map') throw new TypeError('a map entry can only be decoded into its message');
  if (type.kind !== 'enum') return DECODERS[type.kind](reader);
  const number = reader.uint32() | 0;
  // A newer runtime may know more values than we do: the number then stands for itself.
  return type.values.names.get(number) ?? String(number);
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
  const tag = (field.number << 3) | wireTypeOf(type);
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
  const packed = wireTypeOf(type) !== WIRE.bytes;
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
