/** A value of a D-Bus message: arrays and structs are lists, 64-bit integers are bigints. */
export type DBusValue = number | bigint | boolean | string | DBusVariant | readonly DBusValue[];

/** A value with its type. */
export interface DBusVariant {
  readonly signature: string;
  readonly value: DBusValue;
}

/** Bytes to which a value of a type is aligned (D-Bus Specification, Marshaling). */
const ALIGNMENTS: Readonly<Record<string, number>> = {
  ...{y: 1, n: 2, q: 2, i: 4, u: 4, x: 8, t: 8, d: 8, b: 4, h: 4, s: 4, o: 4, g: 1, v: 1, a: 4},
  ...{'(': 8, '{': 8},
};
/** Deepest nesting of containers. */
const MAX_DEPTH = 32;

/** A message that does not follow the specification. */
export class MalformedDBusMessage extends Error {
  override readonly name = 'MalformedDBusMessage';
}

/** Splits a signature into complete types: `ua(yv)s` into `u`, `a(yv)` and `s`. */
export function splitSignature(signature: string): readonly string[] {
  const types: string[] = [];
  for (let start = 0; start < signature.length;) {
    const end = endOfType(signature, start);
    types.push(signature.slice(start, end));
    start = end;
  }
  return types;
}

function endOfType(signature: string, start: number): number {
  let at = start;
  while (signature[at] === 'a') at += 1;
  let depth = 0;
  for (; at < signature.length; at += 1) {
    const code = signature.charAt(at);
    if (code === '(' || code === '{') depth += 1;
    if (code === ')' || code === '}') depth -= 1;
    if (depth === 0) return at + 1;
  }
  throw new MalformedDBusMessage(`invalid signature ${JSON.stringify(signature)}`);
}

/** Writes values in little-endian order. */
export class DBusWriter {
  #bytes = Buffer.alloc(256);
  #length = 0;

  /** Writes the values of a signature. */
  write(signature: string, values: readonly DBusValue[]): this {
    for (const [index, type] of splitSignature(signature).entries()) this.#value(type, values[index] ?? 0);
    return this;
  }

  align(size: number): this {
    this.#reserve((size - (this.#length % size)) % size);
    return this;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  #value(type: string, value: DBusValue): void {
    const code = type.charAt(0);
    this.align(ALIGNMENTS[code] ?? 1);
    const writeFixed = FIXED[code];
    if (writeFixed !== undefined) {
      const at = this.#reserve(ALIGNMENTS[code] ?? 1);
      writeFixed(this.#bytes, at, value);
    } else if (code === 's' || code === 'o') this.#text(value as string, 'u');
    else if (code === 'g') this.#text(value as string, 'y');
    else if (code === 'v') this.#variant(value as DBusVariant);
    else if (code === 'a') this.#array(type.slice(1), value as readonly DBusValue[]);
    else if (code === '(') this.write(type.slice(1, -1), value as readonly DBusValue[]);
    else throw new MalformedDBusMessage(`cannot write a value of type ${type}`);
  }

  #variant({signature, value}: DBusVariant): void {
    this.write('g', [signature]).write(signature, [value]);
  }

  #text(text: string, lengthType: 'u' | 'y'): void {
    const bytes = Buffer.from(text);
    this.#value(lengthType, bytes.length);
    const at = this.#reserve(bytes.length + 1);
    bytes.copy(this.#bytes, at);
  }

  #array(element: string, values: readonly DBusValue[]): void {
    const lengthAt = this.#reserve(4);
    this.align(ALIGNMENTS[element.charAt(0)] ?? 1);
    const start = this.#length;
    for (const value of values) this.#value(element, value);
    this.#bytes.writeUInt32LE(this.#length - start, lengthAt);
  }

  /** Appends zeros; returns their position. */
  #reserve(size: number): number {
    const at = this.#length;
    this.#length += size;
    if (this.#length > this.#bytes.length)
      this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(Math.max(this.#length, this.#bytes.length))]);
    return at;
  }
}

/** Writers of the types of a fixed size that messages of kcri have. */
const FIXED: Readonly<Record<string, (bytes: Buffer, at: number, value: DBusValue) => void>> = {
  y: (bytes, at, value) => void bytes.writeUInt8(Number(value), at),
  i: (bytes, at, value) => void bytes.writeInt32LE(Number(value), at),
  u: (bytes, at, value) => void bytes.writeUInt32LE(Number(value), at),
  b: (bytes, at, value) => void bytes.writeUInt32LE(Number(value), at),
  h: (bytes, at, value) => void bytes.writeUInt32LE(Number(value), at),
  t: (bytes, at, value) => void bytes.writeBigUInt64LE(value as bigint, at),
};

/** Reads values in the byte order of their message. Throws MalformedDBusMessage. */
export class DBusReader {
  readonly #view: DataView;
  readonly #isLittle: boolean;
  #at: number;

  constructor(bytes: Uint8Array, isLittleEndian: boolean, start = 0) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#isLittle = isLittleEndian;
    this.#at = start;
  }

  get position(): number {
    return this.#at;
  }

  read(signature: string): readonly DBusValue[] {
    try {
      return splitSignature(signature).map((type) => this.#value(type, 0));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new MalformedDBusMessage('the message ends within a value', {cause: error});
    }
  }

  align(size: number): void {
    this.#at += (size - (this.#at % size)) % size;
  }

  #value(type: string, depth: number): DBusValue {
    if (depth > MAX_DEPTH) throw new MalformedDBusMessage('values are nested too deeply');
    const code = type.charAt(0);
    this.align(ALIGNMENTS[code] ?? 1);
    switch (code) {
      case 's':
      case 'o':
        return this.#text(Number(this.#number('u')));
      case 'g':
        return this.#text(Number(this.#number('y')));
      case 'v': {
        const signature = this.#text(Number(this.#number('y')));
        return {signature, value: this.#value(signature, depth + 1)};
      }
      case 'b':
        return this.#number('u') === 1;
      case 'a':
        return this.#array(type.slice(1), depth + 1);
      case '(':
      case '{':
        return splitSignature(type.slice(1, -1)).map((field) => this.#value(field, depth + 1));
      default:
        return this.#number(code);
    }
  }

  #array(element: string, depth: number): readonly DBusValue[] {
    const length = Number(this.#number('u'));
    this.align(ALIGNMENTS[element.charAt(0)] ?? 1);
    const end = this.#at + length;
    if (end > this.#view.byteLength) throw new MalformedDBusMessage('the message ends within an array');
    const values: DBusValue[] = [];
    while (this.#at < end) values.push(this.#value(element, depth));
    return values;
  }

  #text(length: number): string {
    const {buffer, byteOffset, byteLength} = this.#view;
    const start = this.#at;
    if (start + length + 1 > byteLength) throw new MalformedDBusMessage('the message ends within a text');
    this.#at += length + 1;
    return Buffer.from(buffer, byteOffset + start, length).toString('utf8');
  }

  #number(code: string): number | bigint {
    const read = NUMBERS[code];
    if (read === undefined) throw new MalformedDBusMessage(`unknown type ${JSON.stringify(code)}`);
    const at = this.#at;
    this.#at += ALIGNMENTS[code] ?? 1;
    return read(this.#view, at, this.#isLittle);
  }
}

const NUMBERS: Readonly<
  Record<string, (view: DataView, at: number, isLittleEndian: boolean) => number | bigint>
> = {
  y: (view, at) => view.getUint8(at),
  n: (view, at, little) => view.getInt16(at, little),
  q: (view, at, little) => view.getUint16(at, little),
  i: (view, at, little) => view.getInt32(at, little),
  u: (view, at, little) => view.getUint32(at, little),
  h: (view, at, little) => view.getUint32(at, little),
  x: (view, at, little) => view.getBigInt64(at, little),
  t: (view, at, little) => view.getBigUint64(at, little),
  d: (view, at, little) => view.getFloat64(at, little),
};
