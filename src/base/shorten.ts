/** Returns a text of at most `limit` UTF-16 code units; a longer one is cut and ends in `…`. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // A cut must not leave half of a character.
  return `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
