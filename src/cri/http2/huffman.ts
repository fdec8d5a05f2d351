import type {NativeBuffer} from '../../base/native-buffer.js';
import {HUFFMAN_LENGTHS} from './hpack-tables.js';
import {ERROR_CODE, ProtocolError} from './protocol-constants.js';

const MAX_LENGTH = 30;
/** End-of-string symbol, of which only a prefix may occur, as padding. */
const END_OF_STRING = 256;

/** Canonical code by length: the first code, the number of codes, and the index of the first symbol. */
interface Code {
  readonly first: Int32Array;
  readonly count: Int32Array;
  readonly start: Int32Array;
  readonly symbols: readonly number[];
}

let code: Code | undefined;

function buildCode(): Code {
  const [first, count, start] = [1, 2, 3].map(() => new Int32Array(MAX_LENGTH + 2)) as [
    Int32Array,
    Int32Array,
    Int32Array,
  ];
  const symbols = HUFFMAN_LENGTHS.map((_, symbol) => symbol);
  const lengthOf = (symbol: number): number => HUFFMAN_LENGTHS[symbol] ?? 0;
  symbols.sort((a, b) => lengthOf(a) - lengthOf(b) || a - b);
  for (const length of HUFFMAN_LENGTHS) count[length] = at(count, length) + 1;
  for (let length = 1; length <= MAX_LENGTH; length += 1) {
    first[length + 1] = (at(first, length) + at(count, length)) << 1;
    start[length + 1] = at(start, length) + at(count, length);
  }
  return {first, count, start, symbols};
}

/**
 * Codes of the strings in the responses of all gRPC servers, in hexadecimal. A short command receives no others, and need
 * not build the table of codes, which takes longer than its request.
 */
export const FREQUENT_CODES: Readonly<Record<string, string>> = {
  '1d75d0620d263d4c4d6564': 'application/grpc',
  '9acac8b21234da8f': 'grpc-status',
  '9acac8b5254207317f': 'grpc-message',
};

/** Decodes a Huffman-coded string, with one character per byte. Throws ProtocolError if it is malformed. */
export function decodeHuffman(coded: Buffer): string {
  return (
    FREQUENT_CODES[(coded as NativeBuffer).hexSlice()] ?? (decodeBits(coded) as NativeBuffer).latin1Slice()
  );
}

/** Decodes a string bit by bit. */
export function decodeBits(coded: Buffer): Buffer {
  code ??= buildCode();
  const decoded = Buffer.allocUnsafe(Math.floor((coded.length * 8) / 5));
  let length = 0;
  let bits = 0;
  let bitCount = 0;
  for (const byte of coded)
    for (let shift = 7; shift >= 0; shift -= 1) {
      bits = (bits << 1) | ((byte >> shift) & 1);
      bitCount += 1;
      const offset = bits - at(code.first, bitCount);
      if (offset >= at(code.count, bitCount)) continue;
      const symbol = code.symbols[at(code.start, bitCount) + offset] ?? END_OF_STRING;
      if (symbol === END_OF_STRING) throw malformed();
      decoded[length++] = symbol;
      bits = bitCount = 0;
    }
  if (bitCount > 7 || bits !== 2 ** bitCount - 1) throw malformed();
  return decoded.subarray(0, length);
}

function at(array: Int32Array, index: number): number {
  return array[index] ?? 0;
}

function malformed(): ProtocolError {
  return new ProtocolError(ERROR_CODE.compression, 'a malformed Huffman code');
}
