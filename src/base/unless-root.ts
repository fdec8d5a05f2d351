/** Returns the text, or `forRoot` if this process runs as root, to whom a hint to become root is of no use. */
export function unlessRoot(text: string, forRoot: string): string {
  return process.getuid?.() === 0 ? forRoot : text;
}
