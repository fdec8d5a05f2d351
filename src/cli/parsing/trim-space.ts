/**
 * Removes white space at both ends as Go's strings.TrimSpace does: U+0085 is white space, and the byte order mark is
 * not.
 */
export function trimSpace(text: string): string {
  return text.replace(/^[\p{White_Space}]+|[\p{White_Space}]+$/gu, '');
}
