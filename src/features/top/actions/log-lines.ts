import {StringDecoder} from 'node:string_decoder';
import {safeText} from '../view/screen-lines.js';

/** Maximum length of a line on the screen, in characters. */
const MAX_LENGTH = 16 * 1024;
/** Control sequences for colors and styles, which programs often write to their logs. */
const STYLES = /\u001B\[[\d;:]*m/g;

/** Splits output into lines that can be shown on a terminal; an unterminated line waits for its end. */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';

  /** Returns the lines that end in the bytes. */
  add(bytes: Uint8Array): readonly string[] {
    const pieces = (this.#rest + this.#decoder.write(Buffer.from(bytes))).split('\n');
    const rest = pieces.pop() ?? '';
    this.#rest = rest.length > MAX_LENGTH ? '' : rest;
    if (rest.length > MAX_LENGTH) pieces.push(rest);
    return pieces.map(showLine);
  }
}

/** Returns a line of a log without control characters: colors are dropped, of overwritten text the last is shown. */
export function showLine(line: string): string {
  const plain = line.slice(0, MAX_LENGTH).replace(STYLES, '').replace(/\r+$/, '');
  return safeText(plain.slice(plain.lastIndexOf('\r') + 1).replaceAll('\t', '    '));
}
