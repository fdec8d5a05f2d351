import {segment, type ScreenLine} from './screen-lines.js';

/** Keys and what they do, by topic. */
const HELP: readonly (readonly [keys: string, text: string] | string)[] = [
  'Move',
  ['Up Down  k j', 'select a row'],
  ['PgUp PgDn', 'move by a page; also Ctrl-B and Ctrl-F'],
  ['Home End  g G', 'select the first or last row'],
  'Rows',
  ['<  >', 'sort by the column to the left or right'],
  ['C M N A R O', 'sort by CPU, memory, name, age, restarts or node'],
  ['I', 'reverse the order'],
  ['t', 'tree of pods, or only containers'],
  ['/', 'filter by name, state, manager or node; Esc clears the filter'],
  'Selected row',
  ['l', 'logs: all containers of a pod, or one'],
  ['e', 'events of the pod'],
  ['d', 'describe the pod'],
  ['w', 'why the pod or container is in its state, and what to do'],
  ['Enter', 'logs of a container, description of a pod'],
  ['s', 'open a shell in the container'],
  ['r', 'restart the container, or all of the pod; asks first'],
  ['x  Ctrl-D', 'delete the pod; asks first'],
  'Logs and texts',
  ['Up Down Space b', 'scroll; Left and Right without wrapping'],
  ['f', 'follow the end of a log'],
  ['w', 'wrap long lines'],
  ['/  n  N', 'search, next and previous match'],
  ['Esc  q', 'go back'],
  'Other',
  ['?', 'this help'],
  ['Ctrl-Z', 'suspend; fg continues'],
  ['q  Ctrl-C', 'quit'],
];

/** Returns the lines of the help from `top` on. */
export function helpLines(top: number, height: number): readonly ScreenLine[] {
  const lines = HELP.map((row): ScreenLine => {
    if (typeof row === 'string') return [segment(row, 'accent')];
    const [keys, text] = row;
    return [segment(`  ${keys.padEnd(16)} `, 'key'), segment(text)];
  });
  const first = Math.max(0, Math.min(top, lines.length - height));
  return lines.slice(first, first + height);
}
