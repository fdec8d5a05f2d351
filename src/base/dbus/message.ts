import {DBusReader, DBusWriter, MalformedDBusMessage, type DBusValue, type DBusVariant} from './wire.js';

/** Kinds of messages. */
export const METHOD_CALL = 1;
export const METHOD_RETURN = 2;
export const ERROR = 3;
export const SIGNAL = 4;

/** A message. Fields that it does not have are empty, or 0. */
export interface DBusMessage {
  readonly type: number;
  readonly serial: number;
  readonly path?: string;
  readonly interface?: string;
  readonly member?: string;
  readonly errorName?: string;
  readonly replySerial?: number;
  readonly destination?: string;
  readonly sender?: string;
  readonly signature?: string;
  readonly unixFds?: number;
  readonly body?: readonly DBusValue[];
}

/** Header fields by their codes, with their types. */
const FIELDS = [
  [1, 'path', 'o'],
  [2, 'interface', 's'],
  [3, 'member', 's'],
  [4, 'errorName', 's'],
  [5, 'replySerial', 'u'],
  [6, 'destination', 's'],
  [7, 'sender', 's'],
  [8, 'signature', 'g'],
  [9, 'unixFds', 'u'],
] as const;

const PROTOCOL_VERSION = 1;
const LITTLE_ENDIAN = 'l'.charCodeAt(0);
/** Byte order, type, flags and version, lengths of the body and of the header fields, serial. */
const FIXED_BYTES = 16;
/** Longest message that is read. Those of logind have less than a kilobyte. */
const MAX_MESSAGE_BYTES = 1024 * 1024;

/** Returns the bytes of a message. */
export function encodeMessage(message: DBusMessage): Buffer {
  const {type, serial, signature = '', body = []} = message;
  const content = new DBusWriter().write(signature, body).bytes;
  const fields = FIELDS.flatMap(([code, name, fieldType]): readonly DBusValue[] => {
    const value = message[name];
    return value === undefined ? [] : [[code, {signature: fieldType, value}]];
  });
  const header = new DBusWriter()
    .write('yyyyuua(yv)', [LITTLE_ENDIAN, type, 0, PROTOCOL_VERSION, content.length, serial, fields])
    .align(8);
  return Buffer.concat([header.bytes, content]);
}

/** Collects chunks and splits them into messages. */
export class DBusMessageSplitter {
  #bytes: Buffer = Buffer.alloc(0);

  /** Returns the messages that the chunk completes. Throws MalformedDBusMessage. */
  push(chunk: Uint8Array): readonly DBusMessage[] {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    const messages: DBusMessage[] = [];
    for (;;) {
      const length = this.#lengthOfFirst();
      if (length === undefined || length > this.#bytes.length) return messages;
      messages.push(decodeMessage(this.#bytes.subarray(0, length)));
      this.#bytes = this.#bytes.subarray(length);
    }
  }

  #lengthOfFirst(): number | undefined {
    if (this.#bytes.length < FIXED_BYTES) return undefined;
    const isLittle = this.#bytes[0] === LITTLE_ENDIAN;
    const at = (position: number): number =>
      isLittle ? this.#bytes.readUInt32LE(position) : this.#bytes.readUInt32BE(position);
    const header = FIXED_BYTES + at(12);
    const length = header + ((8 - (header % 8)) % 8) + at(4);
    if (length > MAX_MESSAGE_BYTES)
      throw new MalformedDBusMessage(`a message of ${length} bytes is too long`);
    return length;
  }
}

function decodeMessage(bytes: Uint8Array): DBusMessage {
  const reader = new DBusReader(bytes, bytes[0] === LITTLE_ENDIAN);
  const [, type, , , , serial, list] = reader.read('yyyyuua(yv)');
  const fields = Object.fromEntries(
    (list as readonly (readonly [number, DBusVariant])[]).flatMap(([code, {value}]) => {
      const known = FIELDS.find(([each]) => each === code);
      return known === undefined ? [] : [[known[1], value]];
    }),
  ) as Partial<DBusMessage>;
  reader.align(8);
  const body = reader.read(fields.signature ?? '');
  return {...fields, type: Number(type), serial: Number(serial), body};
}
