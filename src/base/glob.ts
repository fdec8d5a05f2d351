/**
 * Reports whether a whole text matches a pattern in which `*` matches any characters, including none. Takes time
 * proportional to the product of the lengths at most, whatever the pattern.
 */
export function matchesGlob(glob: string, text: string): boolean {
  const [first = '', ...parts] = glob.split('*');
  const last = parts.pop();
  if (last === undefined) return text === first;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const part of parts) {
    // The earliest occurrence leaves the most text to the other parts.
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
