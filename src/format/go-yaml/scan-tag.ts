import {GoYamlFault, type Cursor} from './cursor.js';
import type {TokenContent} from './token.js';

const WORD = /^[\w-]$/;
/** Characters of a URI in a tag besides those of words. */
const URI = /^[;/?:@&=+$,.!~*'()[\]%]$/;

type Fail = (message: string) => never;

function failing(cursor: Cursor): Fail {
  const {line} = cursor;
  return (message) => {
    throw new GoYamlFault('scanner', message, cursor.line, line);
  };
}

function isWord(cursor: Cursor): boolean {
  return WORD.test(cursor.peek());
}

function skipBlanks(cursor: Cursor): void {
  while (cursor.isBlank()) cursor.skip();
}

/** Scans an alias or an anchor. */
export function scanAnchor(cursor: Cursor): TokenContent {
  const fail = failing(cursor);
  const kind = cursor.take() === '*' ? 'alias' : 'anchor';
  const name = cursor.takeWhile(() => isWord(cursor));
  if (name === '' || !(cursor.isBlankOrEnd() || /^[?:,\]}%@`]$/.test(cursor.peek())))
    fail('did not find expected alphabetic or numeric character');
  return {kind, name};
}

/** Scans a tag. */
export function scanTag(cursor: Cursor): TokenContent {
  const fail = failing(cursor);
  const [handle, suffix] =
    cursor.peek(1) === '<' ? ['', scanVerbatim(cursor, fail)] : scanShort(cursor, fail);
  if (!cursor.isBlankOrEnd()) fail('did not find expected whitespace or line break');
  return {kind: 'tag', handle, suffix};
}

function scanVerbatim(cursor: Cursor, fail: Fail): string {
  cursor.skip(2);
  const uri = scanUri(cursor, '', fail);
  if (cursor.peek() !== '>') fail("did not find the expected '>'");
  cursor.skip();
  return uri;
}

function scanShort(cursor: Cursor, fail: Fail): readonly [handle: string, suffix: string] {
  const handle = scanHandle(cursor, fail, false);
  if (handle.length > 1 && handle.endsWith('!')) return [handle, scanUri(cursor, '', fail)];
  const suffix = scanUri(cursor, handle, fail);
  return suffix === '' ? ['', '!'] : ['!', suffix];
}

function scanHandle(cursor: Cursor, fail: Fail, isDirective: boolean): string {
  if (cursor.peek() !== '!') fail("did not find expected '!'");
  const handle = cursor.take() + cursor.takeWhile(() => isWord(cursor));
  if (cursor.peek() === '!') return handle + cursor.take();
  if (isDirective && handle !== '!') fail("did not find expected '!'");
  return handle;
}

/** Scans the rest of a URI of which the handle, without its first character, is the beginning. */
function scanUri(cursor: Cursor, handle: string, fail: Fail): string {
  const start = cursor.index;
  const bytes: Buffer[] = [Buffer.from(handle.slice(1))];
  while (isWord(cursor) || URI.test(cursor.peek()))
    bytes.push(cursor.peek() === '%' ? scanUriEscape(cursor, fail) : Buffer.from(cursor.take()));
  if (handle === '' && cursor.index === start) fail('did not find expected tag URI');
  return Buffer.concat(bytes).toString();
}

/** Returns the number of bytes of a character that begins with a byte; 0 if none does. */
function utf8Length(first: number): number {
  if (first < 0x80) return 1;
  if ((first & 0xe0) === 0xc0) return 2;
  if ((first & 0xf0) === 0xe0) return 3;
  return (first & 0xf8) === 0xf0 ? 4 : 0;
}

function scanUriEscape(cursor: Cursor, fail: Fail): Buffer {
  const octets: number[] = [];
  for (let length = 1; octets.length < length;) {
    const digits = cursor.peek(1) + cursor.peek(2);
    if (cursor.peek() !== '%' || !/^[\da-f]{2}$/i.test(digits)) fail('did not find URI escaped octet');
    const octet = Number.parseInt(digits, 16);
    if (octets.length > 0 && (octet & 0xc0) !== 0x80) fail('found an incorrect trailing UTF-8 octet');
    if (octets.length === 0) length = utf8Length(octet);
    if (length === 0) fail('found an incorrect leading UTF-8 octet');
    octets.push(octet);
    cursor.skip(3);
  }
  return Buffer.from(octets);
}

/** Scans a directive and the rest of its line. */
export function scanDirective(cursor: Cursor): TokenContent {
  const fail = failing(cursor);
  cursor.skip();
  const name = cursor.takeWhile(() => isWord(cursor));
  if (name === '') fail('could not find expected directive name');
  if (!cursor.isBlankOrEnd()) fail('found unexpected non-alphabetical character');
  if (name !== 'YAML' && name !== 'TAG') fail('found unknown directive name');
  const content = name === 'YAML' ? scanVersion(cursor, fail) : scanTagDirective(cursor, fail);
  skipBlanks(cursor);
  if (cursor.peek() === '#') cursor.skipToBreak();
  if (!cursor.isBreakOrEnd()) fail('did not find expected comment or line break');
  cursor.takeBreak();
  return content;
}

const LONGEST_NUMBER = 2;

function scanVersion(cursor: Cursor, fail: Fail): TokenContent {
  const takeNumber = (): number => {
    let digits = '';
    while (/^\d$/.test(cursor.peek())) {
      if (digits.length === LONGEST_NUMBER) fail('found extremely long version number');
      digits += cursor.take();
    }
    if (digits === '') fail('did not find expected version number');
    return Number(digits);
  };
  skipBlanks(cursor);
  const major = takeNumber();
  if (cursor.peek() !== '.') fail("did not find expected digit or '.' character");
  cursor.skip();
  const minor = takeNumber();
  return {kind: 'version-directive', isSupported: major === 1 && minor === 1};
}

function scanTagDirective(cursor: Cursor, fail: Fail): TokenContent {
  skipBlanks(cursor);
  const handle = scanHandle(cursor, fail, true);
  if (!cursor.isBlank()) fail('did not find expected whitespace');
  skipBlanks(cursor);
  const prefix = scanUri(cursor, '', fail);
  if (!cursor.isBlankOrEnd()) fail('did not find expected whitespace or line break');
  return {kind: 'tag-directive', handle, prefix};
}
