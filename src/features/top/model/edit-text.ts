/** Maximum length of a filter or a search text. */
const MAX_LENGTH = 200;

/** Returns a text after a key while it is typed. */
export function editText(text: string, key: string): string {
  if (key === 'BACKSPACE') return Array.from(text).slice(0, -1).join('');
  if (key === 'CTRL_U') return '';
  if (key === 'CTRL_W') return text.replace(/\S+\s*$/, '');
  // Other keys have names of several characters.
  return Array.from(key).length === 1 && text.length < MAX_LENGTH ? text + key : text;
}
