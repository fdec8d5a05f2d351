import {decode} from '../../cri/codec.js';
import {CRI_SCHEMAS, type FieldSchema, type FieldType, type MessageSchema} from '../../cri/message-schema.js';
import type {MessageName} from '../../cri/gen/schema.js';
import {enumJson, toJson} from '../../cri/proto-json.js';
import {END_OF_MESSAGE, WIRE, WireReader} from '../../cri/wire-format.js';
import type {Json} from '../../format/json.js';
import type {JsonBuffer} from './json-buffer.js';
import {KnownItems} from './known-items.js';

/** Masks parts of messages wherever they are, and knows which bytes need no mask. */
export interface PartMask {
  /** Masks a message, or a text whose name is plain. */
  mask(json: Json): Json;
  /** Reports whether a text is certainly left as it is by `mask`, and by JSON but for its quotes. */
  isPlainText(bytes: Buffer, start: number, end: number): boolean;
  /** Reports whether the name of a member, which is plain text, changes neither how its value is masked nor its object. */
  isPlainName(bytes: Buffer, start: number, end: number): boolean;
}

/** Plan of a field, by which it is written. */
interface FieldPlan {
  readonly type: FieldType;
  readonly wireType: number;
  readonly isList: boolean;
  /** Position in the order of the members. */
  readonly index: number;
  /** Name and colon, and the start of a list. */
  readonly key: Buffer;
}

/** A field for which its message is not written here: its name changes the masks, or it is a list of numbers. */
const IRREGULAR = 'irregular';

/** Plans by field number. */
type MessagePlan = readonly (FieldPlan | typeof IRREGULAR | undefined)[];

/** No index. */
const NOWHERE = -1;

const COMMA = 0x2c;
const COLON = 0x3a;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;
/** Maximum number of entries of a map that are sorted here. */
const MAX_ENTRIES = 64;
const KEY_TAG = (1 << 3) | WIRE.bytes;
const VALUE_TAG = (2 << 3) | WIRE.bytes;

/** Numbers of an entry of a map: start and end of its key and of its value. */
const ENTRY = 4;

/**
 * Writes messages of the CRI as masked proto JSON, straight from their bytes: the same text as `decode`, `toJson`, the mask and
 * JSON.stringify one after the other, which take ten times as long. A message that is not as runtimes write it, or whose mask
 * depends on a name, still goes through them.
 */
export class MessageJson {
  readonly #mask: PartMask;
  readonly #target: JsonBuffer;
  readonly #known: KnownItems;
  /** Whole messages: an idle runtime answers mostly as before. Apart from the items, which they would push out. */
  readonly #knownMessages: KnownItems;
  readonly #plans = new Map<MessageSchema, MessagePlan>();
  /** Entries of the map that is being read, sorted by their keys. */
  readonly #entries = new Int32Array(ENTRY * MAX_ENTRIES);
  #entriesEnd = 0;

  constructor(mask: PartMask, target: JsonBuffer) {
    this.#mask = mask;
    this.#target = target;
    this.#known = new KnownItems(target);
    this.#knownMessages = new KnownItems(target);
  }

  /** Writes a message. Throws WireError, and has then written a part of it. */
  write(name: MessageName, bytes: Buffer): void {
    this.#repeated(this.#knownMessages, CRI_SCHEMAS.message(name), {bytes, reader: new WireReader(bytes)});
  }

  /** Writes the message that `reader` has entered. */
  #message(schema: MessageSchema, bytes: Buffer, reader: WireReader): void {
    const target = this.#target;
    const before = target.length;
    const start = reader.position;
    const {end} = reader;
    target.byte(OPEN);
    if (this.#members(this.#planOf(schema), bytes, reader)) {
      target.byte(CLOSE);
      return;
    }
    target.truncate(before);
    const name = schema.name as MessageName;
    target.text(JSON.stringify(this.#mask.mask(toJson(name, decode(name, reader.skipFrom(start, end))))));
  }

  /** Returns false if the message is irregular. */
  #members(plans: MessagePlan, bytes: Buffer, reader: WireReader): boolean {
    const first = this.#target.length;
    let last: FieldPlan | undefined;
    for (let tag = reader.tag(); tag !== END_OF_MESSAGE; tag = reader.tag()) {
      const plan = plans[tag >>> 3];
      if (plan === undefined) {
        reader.skip(tag & 7);
        continue;
      }
      if (plan === IRREGULAR || plan.wireType !== (tag & 7)) return false;
      if (plan === last) {
        if (!this.#next(plan, bytes, reader)) return false;
        continue;
      }
      if (last !== undefined && (plan.index < last.index || !this.#end(last, bytes, reader))) return false;
      last = plan;
      if (!this.#begin(plan, {bytes, reader, isFirst: this.#target.length === first})) return false;
    }
    return last === undefined || this.#end(last, bytes, reader);
  }

  /** Begins a member. */
  #begin(plan: FieldPlan, {bytes, reader, isFirst}: Place & {readonly isFirst: boolean}): boolean {
    const target = this.#target;
    const before = target.length;
    if (!isFirst) target.byte(COMMA);
    target.copy(plan.key, 0, plan.key.length);
    if (plan.type.kind === 'map') {
      this.#entriesEnd = 0;
      return this.#readEntry(bytes, reader);
    }
    if (!this.#value(plan, bytes, reader)) target.truncate(before);
    return true;
  }

  /** Continues a list or a map. Of other fields, the last one counts. */
  #next(plan: FieldPlan, bytes: Buffer, reader: WireReader): boolean {
    if (plan.type.kind === 'map') return this.#readEntry(bytes, reader);
    if (!plan.isList) return false;
    this.#target.byte(COMMA);
    this.#value(plan, bytes, reader);
    return true;
  }

  #end({type, isList}: FieldPlan, bytes: Buffer, reader: WireReader): boolean {
    if (isList) this.#target.byte(CLOSE_LIST);
    return type.kind !== 'map' || this.#writeMap(bytes, reader);
  }

  /** Writes a value. Returns false, and writes nothing, if it is a default outside of a list. */
  #value({type, isList}: FieldPlan, bytes: Buffer, reader: WireReader): boolean {
    if (type.kind === 'message') {
      const outerEnd = reader.enterMessage();
      if (isList) this.#repeated(this.#known, type.schema(), {bytes, reader});
      else this.#message(type.schema(), bytes, reader);
      reader.leaveMessage(outerEnd);
      return true;
    }
    if (type.kind === 'string') {
      const start = reader.span();
      if (start === reader.position && !isList) return false;
      this.#text(bytes, start, {end: reader.position, reader});
      return true;
    }
    const text = this.#scalar(type, reader);
    this.#target.text(text);
    return text !== '';
  }

  /** Writes the message that `reader` has entered, as the last time if it is among the known ones. */
  #repeated(known: KnownItems, schema: MessageSchema, {bytes, reader}: Place): void {
    const start = reader.position;
    const {end} = reader;
    if (known.write(schema, bytes, [start, end])) {
      reader.skipFrom(start, end);
      return;
    }
    const jsonStart = this.#target.length;
    this.#message(schema, bytes, reader);
    known.keep(schema, bytes, {start, end, jsonStart});
  }

  #text(
    bytes: Buffer,
    start: number,
    {end, reader}: {readonly end: number; readonly reader: WireReader},
  ): void {
    if (this.#mask.isPlainText(bytes, start, end)) this.#target.quoted(bytes, start, end);
    else this.#target.text(JSON.stringify(this.#mask.mask(reader.text(start, end))));
  }

  /** Returns the JSON of a value, empty for a default. */
  #scalar(type: FieldType, reader: WireReader): string {
    switch (type.kind) {
      case 'bool':
        return reader.bool() ? 'true' : '';
      case 'int32':
        return textOf(reader.uint32() | 0);
      case 'uint32':
        return textOf(reader.uint32());
      case 'int64':
        return quotedText(reader.int64());
      case 'uint64':
        return quotedText(reader.uint64());
      case 'double':
        return textOf(reader.double());
      case 'enum': {
        const number = reader.uint32() | 0;
        return number === 0 ? '' : JSON.stringify(enumJson(type.values.names.get(number) ?? String(number)));
      }
      default: {
        const content = Buffer.from(reader.bytes());
        return content.length === 0 ? '' : JSON.stringify(this.#mask.mask(content.toString('base64')));
      }
    }
  }

  /** Reads an entry of a map. Returns false if it is not a new key and a value. */
  #readEntry(bytes: Buffer, reader: WireReader): boolean {
    const outerEnd = reader.enterMessage();
    if (reader.tag() !== KEY_TAG) return false;
    const keyStart = reader.span();
    const keyEnd = reader.position;
    if (reader.tag() !== VALUE_TAG) return false;
    const valueStart = reader.span();
    const entries = this.#entries;
    const at = this.#placeOf(bytes, keyStart, keyEnd);
    if (at === NOWHERE || !reader.done) return false;
    for (let to = this.#entriesEnd + ENTRY - 1; to >= at + ENTRY; to -= 1)
      entries[to] = entries[to - ENTRY] ?? 0;
    entries[at] = keyStart;
    entries[at + 1] = keyEnd;
    entries[at + 2] = valueStart;
    entries[at + 3] = reader.position;
    this.#entriesEnd += ENTRY;
    reader.leaveMessage(outerEnd);
    return true;
  }

  /** Returns the index of a new entry; NOWHERE if its key is there, or there are too many. */
  #placeOf(bytes: Buffer, keyStart: number, keyEnd: number): number {
    const entries = this.#entries;
    if (this.#entriesEnd === entries.length) return NOWHERE;
    for (let at = this.#entriesEnd; at > 0; at -= ENTRY) {
      const order = this.#compareKey(bytes, at - ENTRY, {keyStart, keyEnd});
      if (order === 0) return NOWHERE;
      if (order < 0) return at;
    }
    return 0;
  }

  /** Compares the key of an entry with another. The order of characters other than ASCII does not matter. */
  #compareKey(bytes: Buffer, entry: number, {keyStart, keyEnd}: Key): number {
    const start = this.#entries[entry] ?? 0;
    const size = (this.#entries[entry + 1] ?? 0) - start;
    const length = Math.min(size, keyEnd - keyStart);
    for (let at = 0; at < length; at += 1) {
      const difference = (bytes[start + at] ?? 0) - (bytes[keyStart + at] ?? 0);
      if (difference !== 0) return difference;
    }
    return size - (keyEnd - keyStart);
  }

  /** Writes a map. Returns false if its keys are not plain, or JavaScript would sort them otherwise. */
  #writeMap(bytes: Buffer, reader: WireReader): boolean {
    const target = this.#target;
    const entries = this.#entries;
    for (let at = 0; at < this.#entriesEnd; at += ENTRY) {
      const keyStart = entries[at] ?? 0;
      const keyEnd = entries[at + 1] ?? 0;
      if (!this.#isPlainKey(bytes, keyStart, keyEnd)) return false;
      target.byte(at === 0 ? OPEN : COMMA);
      target.quoted(bytes, keyStart, keyEnd);
      target.byte(COLON);
      this.#text(bytes, entries[at + 2] ?? 0, {end: entries[at + 3] ?? 0, reader});
    }
    target.byte(CLOSE);
    return true;
  }

  #isPlainKey(bytes: Buffer, start: number, end: number): boolean {
    const mask = this.#mask;
    return (
      !isDigit(bytes[start] ?? 0) &&
      mask.isPlainText(bytes, start, end) &&
      mask.isPlainName(bytes, start, end)
    );
  }

  #planOf(schema: MessageSchema): MessagePlan {
    const known = this.#plans.get(schema);
    if (known !== undefined) return known;
    const plan = schema.byNumber.map((field) =>
      field === undefined ? undefined : this.#planField(field, schema.fields.indexOf(field)),
    );
    this.#plans.set(schema, plan);
    return plan;
  }

  #planField({name, type, wireType, repeated}: FieldSchema, index: number): FieldPlan | typeof IRREGULAR {
    const bytes = Buffer.from(name);
    if (!this.#mask.isPlainName(bytes, 0, bytes.length)) return IRREGULAR;
    if (repeated && type.kind !== 'string' && type.kind !== 'message') return IRREGULAR;
    return {type, wireType, isList: repeated, index, key: Buffer.from(`"${name}":${repeated ? '[' : ''}`)};
  }
}

interface Key {
  readonly keyStart: number;
  readonly keyEnd: number;
}

interface Place {
  readonly bytes: Buffer;
  readonly reader: WireReader;
}

function textOf(value: number): string {
  return value === 0 ? '' : JSON.stringify(value);
}

function quotedText(value: bigint): string {
  return value === 0n ? '' : `"${value}"`;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
