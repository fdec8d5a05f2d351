import type {Init} from './call-options.js';
import type {MessageName} from './gen/schema.js';
import type {MessageTypes} from './gen/types.js';
import {
  compileFieldMask,
  CRI_SCHEMAS,
  EMPTY_MAP,
  type AnyMask,
  type FieldMask,
  type FieldSchema,
  type FieldType,
  type MessageSchema,
  type ScalarKind,
} from './message-schema.js';
import type {MessageSink} from './transport.js';
import {END_OF_MESSAGE, WireReader, WIRE, WireWriter} from './wire-format.js';

/*
 * Protobuf codec driven by the generated tables: a small interpreter instead of generated functions for 175 messages,
 * because start-up time depends on the amount of code loaded (docs/performance.md). Callers use only `encode`,
 * `decode` and `Decoder`, so that the implementation can change.
 */

type Fields = Record<string, unknown>;

/** Encodes a CRI message. Fields with their default value are omitted, as proto3 requires. */
export function encode<Name extends MessageName>(name: Name, message: Init<MessageTypes[Name]>): Buffer {
  return encodeMessage(CRI_SCHEMAS.message(name), message as Fields);
}

/**
 * Decodes a CRI message. Unknown fields are skipped; absent fields get their default (`''`, `0`, `0n`, `false`, `[]`,
 * `{}`, the first enum value), absent sub-messages are undefined. With `fields`, all other fields are skipped. Throws
 * WireError.
 */
export function decode<Name extends MessageName>(
  name: Name,
  bytes: Buffer,
  fields?: FieldMask<MessageTypes[Name]>,
): MessageTypes[Name] {
  return decodeMessage(CRI_SCHEMAS.message(name), bytes, fields) as MessageTypes[Name];
}

/** Decodes a message of any interface, as `decode` does. Throws WireError. */
export function decodeMessage(schema: MessageSchema, bytes: Buffer, mask?: AnyMask): unknown {
  return decodeFields(narrowed(schema, mask), new WireReader(bytes));
}

/** Number of buffered bytes from which decoding starts. */
const DECODE_THRESHOLD_BYTES = 64 * 1024;

/** Minimum size of a grown buffer: usually enough for the buffered bytes and the next chunk. */
const MIN_BUFFER_BYTES = 2 * DECODE_THRESHOLD_BYTES;

/** Decodes a message while its bytes arrive, and buffers only incomplete fields. */
export class Decoder implements MessageSink {
  readonly #schema: MessageSchema;
  readonly #message: Fields;
  #buffer = Buffer.allocUnsafe(0);
  #length = 0;
  /** Number of buffered bytes from which decoding is worth while again. */
  #threshold = DECODE_THRESHOLD_BYTES;
  #failure: Error | undefined;

  /** With `mask`, all other fields are skipped. */
  constructor(schema: MessageSchema, mask?: AnyMask) {
    this.#schema = narrowed(schema, mask);
    this.#message = {...this.#schema.defaults};
  }

  push(chunk: Buffer): void {
    if (this.#failure !== undefined) return;
    const length = this.#length + chunk.length;
    if (length > this.#buffer.length) {
      const isFirst = this.#length === 0;
      const larger = Buffer.allocUnsafe(
        isFirst ? length : Math.max(length, this.#buffer.length * 2, MIN_BUFFER_BYTES),
      );
      larger.set(this.#buffer.subarray(0, this.#length));
      this.#buffer = larger;
    }
    this.#buffer.set(chunk, this.#length);
    this.#length = length;
    if (length < this.#threshold) return;
    try {
      this.#decodeCompleteFields();
    } catch (error) {
      this.#failure = error as Error;
    }
  }

  #decodeCompleteFields(): void {
    const buffered = new WireReader(this.#buffer.subarray(0, this.#length));
    let completeEnd = 0;
    let missing = 0;
    while (missing === 0) {
      completeEnd = buffered.position;
      missing = buffered.skipIfComplete();
    }
    decodeFields(this.#schema, new WireReader(this.#buffer.subarray(0, completeEnd)), this.#message);
    this.#buffer.copyWithin(0, completeEnd, this.#length);
    this.#length -= completeEnd;
    this.#threshold = Math.max(DECODE_THRESHOLD_BYTES, this.#length + missing);
  }

  /** Returns the message after the last chunk. Throws WireError. */
  end(): unknown {
    if (this.#failure !== undefined) throw this.#failure;
    const remaining = new WireReader(this.#buffer.subarray(0, this.#length));
    return decodeFields(this.#schema, remaining, this.#message);
  }
}

function narrowed(schema: MessageSchema, mask: AnyMask | undefined): MessageSchema {
  return mask === undefined ? schema : compileFieldMask(schema, mask);
}

function decodeFields(
  {defaults, byNumber}: MessageSchema,
  reader: WireReader,
  message: Fields = {...defaults},
): unknown {
  for (let tag = reader.tag(); tag !== END_OF_MESSAGE; tag = reader.tag()) {
    const field = byNumber[tag >>> 3];
    if (field === undefined) reader.skip(tag & 7);
    else if (field.wireType !== (tag & 7)) decodeMismatched(message, field, tag & 7, reader);
    else if (field.type.kind === 'map') decodeMapEntry(message, field.name, field.type.keys, reader);
    else if (field.repeated) append(message, field.name, decodeValue(field.type, reader));
    else message[field.name] = decodeValue(field.type, reader);
  }
  return message;
}

/** Decodes a field whose wire type is not that of its schema: a packed list, or a field to skip. */
function decodeMismatched(message: Fields, field: FieldSchema, wireType: number, reader: WireReader): void {
  if (field.repeated && wireType === WIRE.bytes) decodePacked(message, field, reader);
  else reader.skip(wireType);
}

function decodePacked(message: Fields, {type, name}: FieldSchema, reader: WireReader): void {
  const outerEnd = reader.enterMessage();
  while (!reader.done) append(message, name, decodeValue(type, reader));
  reader.leaveMessage(outerEnd);
}

/** Appends to a list; the first item replaces the frozen default by a new list. */
function append(message: Fields, name: string, value: unknown): void {
  const list = message[name] as unknown[];
  if (list.length === 0) message[name] = [value];
  else list.push(value);
}

function decodeMapEntry(
  message: Fields,
  name: string,
  wanted: ReadonlySet<string> | undefined,
  reader: WireReader,
): void {
  let key = '';
  let value = '';
  const outerEnd = reader.enterMessage();
  for (let tag = reader.tag(); tag !== END_OF_MESSAGE; tag = reader.tag()) {
    if (tag === ((1 << 3) | WIRE.bytes)) key = reader.internedString();
    else if (tag === ((2 << 3) | WIRE.bytes) && (key === '' || isWanted(key, wanted)))
      value = reader.string();
    else reader.skip(tag & 7);
  }
  reader.leaveMessage(outerEnd);
  if (!isWanted(key, wanted)) return;
  let map = message[name] as Record<string, string>;
  if (map === EMPTY_MAP) message[name] = map = {};
  // Assigning to "__proto__" would change the prototype, and keys come from the runtime.
  if (key === '__proto__')
    Object.defineProperty(map, key, {value, enumerable: true, writable: true, configurable: true});
  else map[key] = value;
}

function isWanted(key: string, wanted: ReadonlySet<string> | undefined): boolean {
  return wanted === undefined || wanted.has(key);
}

function decodeValue(type: FieldType, reader: WireReader): unknown {
  switch (type.kind) {
    case 'string':
      return reader.string();
    case 'message':
      return decodeNested(type.schema(), reader);
    case 'enum': {
      const number = reader.uint32() | 0;
      // A newer runtime may send values that the schema lacks; they are returned as their number.
      return type.values.names.get(number) ?? String(number);
    }
    case 'map':
      throw new TypeError('a map entry can only be decoded into its message');
    default:
      return decodeOther(type.kind, reader);
  }
}

function decodeNested(schema: MessageSchema, reader: WireReader): unknown {
  const outerEnd = reader.enterMessage();
  const message = decodeFields(schema, reader);
  reader.leaveMessage(outerEnd);
  return message;
}

function decodeOther(kind: Exclude<ScalarKind, 'string'>, reader: WireReader): unknown {
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

/** Encodes a message of any interface, as `encode` does. */
export function encodeMessage({fields}: MessageSchema, message: Readonly<Fields>): Buffer {
  const writer = new WireWriter();
  for (const field of fields) {
    const value = message[field.name];
    if (value !== undefined && value !== null) encodeField(writer, field, value);
  }
  return writer.finish();
}

function encodeField(writer: WireWriter, field: FieldSchema, value: unknown): void {
  const {type} = field;
  const tag = (field.number << 3) | field.wireType;
  if (type.kind === 'map') encodeMap(writer, tag, value as Record<string, string>);
  else if (field.repeated) encodeRepeated(writer, field, value as readonly unknown[]);
  else if (type.kind === 'message' || !isDefault(type, value)) {
    writer.uint32(tag);
    encodeValue(writer, type, value);
  }
}

function encodeRepeated(writer: WireWriter, field: FieldSchema, list: readonly unknown[]): void {
  if (list.length === 0) return;
  const {type} = field;
  const packed = field.wireType !== WIRE.bytes;
  const target = packed ? new WireWriter() : writer;
  for (const item of list) {
    if (!packed) target.uint32((field.number << 3) | WIRE.bytes);
    encodeValue(target, type, item);
  }
  if (!packed) return;
  writer.uint32((field.number << 3) | WIRE.bytes);
  writer.bytes(target.finish());
}

function encodeMap(writer: WireWriter, tag: number, map: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(map)) {
    const entry = new WireWriter();
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

const ENCODERS: Readonly<Record<ScalarKind, (writer: WireWriter, value: never) => void>> = {
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

function encodeValue(writer: WireWriter, type: FieldType, value: unknown): void {
  if (type.kind === 'message') writer.bytes(encodeMessage(type.schema(), value as Fields));
  else if (type.kind === 'enum') writer.uint64(BigInt(enumNumber(type, value)));
  else if (type.kind === 'map') throw new TypeError('a map can only be encoded as a field');
  else ENCODERS[type.kind](writer, value as never);
}
