import {goQuote} from './go-quote.js';
import {jsonLine} from './json.js';

/** Shorter lines of a secret are in too many words; the whole of it is hidden all the same. */
const SHORTEST_LINE = 8;

/**
 * The texts to hide for a secret value: itself, without the blanks around it, each of its lines that is long enough to
 * be told by, and how JSON and Go quote these.
 */
export function hiddenTexts(value: string): readonly string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  const texts = [value, value.trim(), ...lines.filter((line) => line.length >= SHORTEST_LINE)];
  const forms = texts.flatMap((text) => [
    text,
    ...[JSON.stringify(text), jsonLine(text), goQuote(text)].map(unquoted),
  ]);
  return [...new Set(forms)];
}

function unquoted(text: string): string {
  return text.slice(1, -1);
}
