import {readFileSync} from 'node:fs';

/**
 * Returns the arguments with each byte that is not UTF-8 as the lone surrogate U+DC00 + byte. Node.js replaces these
 * bytes, and another object could have the resulting name. `commandLine` is the kernel's record of the process; where
 * there is none, or it is of other arguments, they are returned as they are.
 */
export function withInvalidBytes(
  argv: readonly string[],
  commandLine: () => Buffer = () => readFileSync('/proc/self/cmdline'),
): readonly string[] {
  let given: readonly string[];
  try {
    given = commandLine().toString('latin1').split('\0').slice(0, -1).slice(-argv.length);
  } catch {
    return argv;
  }
  return argv.map((argument, index) => {
    const bytes = Buffer.from(given[index] ?? '', 'latin1');
    return bytes.toString() === argument ? decode(bytes) : argument;
  });
}

function decode(bytes: Buffer): string {
  let text = '';
  for (let start = 0; start < bytes.length;) {
    const size = sequenceLength(bytes[start] ?? 0);
    const sequence = bytes.subarray(start, start + size);
    const isValid = Buffer.from(sequence.toString()).equals(sequence);
    text += isValid ? sequence.toString() : String.fromCharCode(0xdc00 + (bytes[start] ?? 0));
    start += isValid ? size : 1;
  }
  return text;
}

/** Returns the length of the UTF-8 sequence that starts with a byte. */
function sequenceLength(first: number): number {
  if (first < 0xc0) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}
