/** Reports whether a text is a complete ID as all known runtimes create them. */
export function isFullId(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
