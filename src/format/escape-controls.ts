/**
 * Replaces control characters except newlines and tabs by `\x1b` and so on, so that the text cannot control a
 * terminal.
 */
export function escapeControls(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]/gu, (control) => {
    const code = control.charCodeAt(0).toString(16);
    return `\\x${code.padStart(2, '0')}`;
  });
}

/** Replaces all control characters, for text that must stay on one line, such as a table cell. */
export function escapeToLine(text: string): string {
  return escapeControls(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}
