import {Chalk, type ChalkInstance} from 'chalk';
import {escapeToLine} from '../../format/escape-controls.js';

const COLORS = [
  'cyan',
  'yellow',
  'green',
  'magenta',
  'blue',
  'cyanBright',
  'yellowBright',
  'greenBright',
] as const;

/** Returns the line prefixes of several logs: names padded to one width, in different colors on a terminal. */
export function formatLogPrefixes(names: readonly string[], colors: boolean): readonly string[] {
  const chalk: ChalkInstance = new Chalk({level: colors ? 1 : 0});
  const shown = names.map(escapeToLine);
  const width = Math.max(...shown.map((name) => name.length));
  return shown.map((name, index) => {
    const color = COLORS[index % COLORS.length] ?? 'cyan';
    return `${chalk[color](`${name.padEnd(width)} |`)} `;
  });
}
