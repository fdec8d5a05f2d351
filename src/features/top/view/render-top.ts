import {displayWidth, wrapToWidth} from '../../../format/display-width.js';
import {itemPlace} from '../model/top-item.js';
import {pagerArea, selectedIndex, type TopScreen, type TopState} from '../model/top-state.js';
import type {Pager} from '../model/pager.js';
import {helpLines} from './help-lines.js';
import {pagerLines, pagerTitle} from './pager-lines.js';
import {fitLine, safeText, segment, type ScreenLine, type Segment} from './screen-lines.js';
import {nodeLines, selectionLines, tableLines, type ViewContext} from './table-lines.js';

/** Smallest terminal that the view is drawn on. */
const MIN_COLUMNS = 24;
const MIN_ROWS = 8;

/** Keys below the screen, the most important first. */
const TABLE_KEYS = [
  '? help',
  'q quit',
  '/ filter',
  'l logs',
  'd describe',
  'w why',
  'e events',
  's shell',
  'r restart',
  'x delete',
  '< > sort',
  't tree',
];
const LOG_KEYS = ['Esc back', '/ search', 'n next', 'f follow', 'w wrap', 'g top', 'G end'];
const TEXT_KEYS = ['Esc back', '/ search', 'n next', 'w wrap', 'g top', 'G end'];
const TYPING_KEYS = ['Enter accept', 'Esc cancel', 'Ctrl-U clear'];
const CONFIRM_KEYS = ['y yes', 'n no'];
const HELP_KEYS = ['Esc back', 'Up Down scroll'];

/** Returns the lines of the screen, as many and as wide as the terminal. */
export function renderTop(state: TopState, context: ViewContext): readonly ScreenLine[] {
  const {columns, rows} = state.size;
  const {ellipsis} = context.glyphs;
  if (columns < MIN_COLUMNS || rows < MIN_ROWS) return tooSmall(state);
  const body = bodyLines(state, context);
  const status = wrapLine(statusLine(state, context), columns).slice(0, Math.floor(rows / 2));
  const room = rows - 1 - status.length;
  const above = body.slice(0, room);
  const filler = Array.from({length: room - above.length}, () => [segment('')]);
  const lines = [...above, ...filler, ...status, keyLine(keysOf(state.screen), columns)];
  return lines.map((line) => fitLine(line, columns, ellipsis));
}

function tooSmall({size: {columns, rows}}: TopState): readonly ScreenLine[] {
  const texts = ['terminal too small', `${MIN_COLUMNS} by ${MIN_ROWS} needed`];
  return Array.from({length: rows}, (_, index) => fitLine([segment(texts[index] ?? '')], columns, ''));
}

function bodyLines(state: TopState, context: ViewContext): readonly ScreenLine[] {
  const {screen, size} = state;
  const area = pagerArea(size);
  if (screen.kind === 'pager') return [pagerTitle(screen, area), ...pagerLines(screen, area)];
  if (screen.kind === 'help') return [[segment(' Keys ', 'title')], ...helpLines(screen.top, area.height)];
  return [...nodeLines(state, context), ...tableLines(state, context), ...selectionLines(state, context)];
}

/** Returns a line of one segment as the lines that show it in full; others are not changed. */
function wrapLine(line: ScreenLine, width: number): readonly ScreenLine[] {
  const [only, ...others] = line;
  if (only === undefined || others.length > 0) return [line];
  return wrapToWidth(only.text, width).map((text) => [{...only, text}]);
}

/** Returns the line with a question, typed text, a failure, or the result of the last action. */
function statusLine(state: TopState, {glyphs}: ViewContext): ScreenLine {
  const {screen, message, failure} = state;
  if (screen.kind === 'filter')
    return [segment(' filter: ', 'key'), segment(`${safeText(state.filter)}${glyphs.cursor}`)];
  if (screen.kind === 'pager' && screen.typed !== undefined)
    return [segment(' search: ', 'key'), segment(`${safeText(screen.typed)}${glyphs.cursor}`)];
  if (screen.kind === 'confirm') return [segment(` ${confirmText(screen)}`, 'warning')];
  if (message !== undefined) return [segment(` ${safeText(message.text)}`, message.isError ? 'bad' : 'good')];
  if (failure !== undefined) return [segment(` ${safeText(failure)}`, 'bad')];
  return screen.kind === 'pager' ? searchStatus(screen) : tableStatus(state);
}

function confirmText({action, item}: Extract<TopScreen, {readonly kind: 'confirm'}>): string {
  const title = safeText(itemPlace(item));
  if (action === 'delete') return `Delete ${item.kind} ${title}? (y/n)`;
  return item.kind === 'pod'
    ? `Restart all containers of ${title}? (y/n)`
    : `Restart container ${title}? (y/n)`;
}

function searchStatus({search, match}: Pager): ScreenLine {
  if (search === '') return [segment('')];
  const text = match === undefined ? 'not found' : `line ${match + 1}`;
  return [segment(` search: ${safeText(search)}  ${text}`, match === undefined ? 'warning' : 'dim')];
}

function tableStatus(state: TopState): ScreenLine {
  const {rows, filter} = state;
  const position = rows.length === 0 ? '' : ` ${selectedIndex(state) + 1} of ${rows.length}`;
  return [segment(position, 'dim'), segment(filter === '' ? '' : `  filter: ${safeText(filter)}`, 'key')];
}

function keysOf(screen: TopScreen): readonly string[] {
  if (screen.kind === 'filter' || (screen.kind === 'pager' && screen.typed !== undefined)) return TYPING_KEYS;
  if (screen.kind === 'confirm') return CONFIRM_KEYS;
  if (screen.kind === 'help') return HELP_KEYS;
  if (screen.kind === 'pager') return screen.view === 'logs' ? LOG_KEYS : TEXT_KEYS;
  return TABLE_KEYS;
}

function keyLine(keys: readonly string[], width: number): ScreenLine {
  const line: Segment[] = [];
  let used = 0;
  for (const key of keys) {
    used += displayWidth(key) + 2;
    if (used > width) break;
    const space = key.indexOf(' ', key.startsWith('< >') ? 2 : 0);
    line.push(segment(` ${key.slice(0, space)}`, 'key'), segment(`${key.slice(space)} `, 'dim'));
  }
  return line;
}
