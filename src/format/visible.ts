/** A text with its control characters, but for line ends and tabs, written as `\x1b`: it cannot steer a terminal. */
export function visibleControls(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, (control) => {
    const code = control.charCodeAt(0).toString(16);
    return `\\x${code.padStart(2, '0')}`;
  });
}

/** The same for what must stay in one line, such as a cell of a table: line ends and tabs are written out too. */
export function visibleInLine(text: string): string {
  return visibleControls(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}
