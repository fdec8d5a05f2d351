import {Chalk, type ChalkInstance} from 'chalk';
import {visibleInLine} from '../format/visible.js';

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

/** What stands in front of the lines of each log: names of one width, each in a colour of its own on a terminal. */
export function logPrefixes(names: readonly string[], colors: boolean): readonly string[] {
  const chalk: ChalkInstance = new Chalk({level: colors ? 1 : 0});
  const shown = names.map(visibleInLine);
  const width = Math.max(...shown.map((name) => name.length));
  return shown.map((name, index) => {
    const color = COLORS[index % COLORS.length] ?? 'cyan';
    return `${chalk[color](`${name.padEnd(width)} |`)} `;
  });
}
