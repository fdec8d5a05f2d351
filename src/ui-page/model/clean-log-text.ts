import {escapeControls} from '../../format/escape-controls.js';

/** Matches sequences that set colors on a terminal. */
const COLORS = /\u001b\[[\d;:]*m/g;

/** Returns log text without colors and carriage returns before line feeds; other control characters are escaped. */
export function cleanLogText(text: string): string {
  return escapeControls(text.replace(COLORS, '').replaceAll('\r\n', '\n'));
}
