/**
 * Matches characters that control a terminal or change how the text around them is shown: control characters (C0, DEL,
 * C1) except newlines and tabs, bidirectional embeddings, overrides and isolates, and the separators of lines and
 * paragraphs. Names no property of Unicode, whose table takes the engine a thirtieth of a short command to build.
 */
const CONTROLS = /[\0-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g;

/** Replaces control characters except newlines and tabs by `\x1b`, `\u202e` and so on. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (control) =>
    control < '\u0100' ? `\\x${hex(control, 2)}` : unicodeEscape(control),
  );
}

/** Replaces all control characters, for text that must stay on one line, such as a table cell. */
export function escapeToLine(text: string): string {
  return escapeControls(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** Replaces control characters except newlines and tabs by JSON's escapes, which keeps JSON equal in meaning. */
export function escapeControlsAsJson(text: string): string {
  return text.replace(CONTROLS, unicodeEscape);
}

function unicodeEscape(char: string): string {
  return `\\u${hex(char, 4)}`;
}

function hex(char: string, digits: number): string {
  return char.charCodeAt(0).toString(16).padStart(digits, '0');
}
