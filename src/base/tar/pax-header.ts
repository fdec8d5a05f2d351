import {TarError} from './tar-header.js';

/** Records of a pax extended header by keyword. Values are bytes, because names need not be UTF-8. */
export type PaxRecords = ReadonlyMap<string, Buffer>;

/** Encodes records: `LENGTH KEY=VALUE`, where the length includes its own digits. */
export function encodePax(records: PaxRecords): Buffer {
  return Buffer.concat(
    [...records].flatMap(([key, value]) => {
      const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from('\n')]);
      let length = rest.length;
      while (length !== rest.length + String(length).length) length = rest.length + String(length).length;
      return [Buffer.from(String(length)), rest];
    }),
  );
}

/** Longest number that begins a record. */
const MAX_DIGITS = 10;

/** Decodes records. Throws TarError if they are damaged. */
export function decodePax(content: Buffer): PaxRecords {
  const records = new Map<string, Buffer>();
  for (let at = 0; at < content.length;) {
    const digits = /^(\d+) /.exec(content.toString('latin1', at, at + MAX_DIGITS))?.[1] ?? '';
    const end = at + Number(digits);
    const equals = content.indexOf('=', at + digits.length + 1);
    // Some programs fill the last block with zeros and include them in the size.
    if (digits === '' && content.subarray(at).every((byte) => byte === 0)) break;
    if (digits === '' || end > content.length || equals < 0 || equals >= end || content[end - 1] !== 0x0a)
      throw new TarError('the archive is damaged: invalid extended header');
    records.set(
      content.toString('utf8', at + digits.length + 1, equals),
      content.subarray(equals + 1, end - 1),
    );
    at = end;
  }
  return records;
}
