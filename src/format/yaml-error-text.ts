import {messageOf} from '../base/errors.js';
import {shorten} from '../base/shorten.js';

/** Maximum length of a text, in which the parser may quote a token of any length. */
const LONGEST = 200;

/** Returns the first line of a YAML parser's error, shortened. The other lines are an excerpt of the file. */
export function yamlErrorText(error: unknown): string {
  return shorten(messageOf(error).replace(/:?\n[^]*/, ''), LONGEST);
}
