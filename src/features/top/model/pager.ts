import {displayWidth, wrapToWidth} from '../../../format/display-width.js';
import type {TopItem} from './top-item.js';

/** Kind of text in the pager. */
export type PagerView = 'logs' | 'events' | 'describe' | 'why';

/** Text of a row that fills the screen and can be scrolled. */
export interface Pager {
  readonly kind: 'pager';
  readonly view: PagerView;
  readonly item: TopItem;
  /** Lines without control characters. */
  readonly lines: readonly string[];
  /** True until the first lines arrive. */
  readonly isLoading: boolean;
  /** Index of the first line on the screen, unless the end is followed. */
  readonly top: number;
  /** First column on the screen, if lines are not wrapped. */
  readonly left: number;
  readonly wrap: boolean;
  /** True if the end of the text stays on the screen. */
  readonly follow: boolean;
  /** Text to search for; empty for none. */
  readonly search: string;
  /** Line of the current match. */
  readonly match: number | undefined;
  /** Text that is being typed after `/`. */
  readonly typed: string | undefined;
}

/** Width and height of the text of a pager, in cells. */
export interface PagerArea {
  readonly width: number;
  readonly height: number;
}

/** Maximum number of lines of a pager; the oldest are dropped. */
export const MAX_LINES = 10_000;

/** Returns an empty pager. */
export function openPager(view: PagerView, item: TopItem): Pager {
  return {
    kind: 'pager',
    view,
    item,
    lines: [],
    isLoading: true,
    top: 0,
    left: 0,
    wrap: view !== 'describe',
    follow: view === 'logs',
    search: '',
    match: undefined,
    typed: undefined,
  };
}

/** Returns the pager with more lines at the end. */
export function appendLines(pager: Pager, added: readonly string[]): Pager {
  const lines = [...pager.lines, ...added];
  const dropped = Math.max(lines.length - MAX_LINES, 0);
  const match = pager.match === undefined || pager.match < dropped ? undefined : pager.match - dropped;
  return {
    ...pager,
    lines: dropped === 0 ? lines : lines.slice(dropped),
    isLoading: false,
    top: Math.max(pager.top - dropped, 0),
    match,
  };
}

/** Reports whether more lines would push out lines that are being read: the log waits until its end is followed. */
export function isFull({lines, follow}: Pager): boolean {
  return !follow && lines.length >= MAX_LINES;
}

/** Returns the pager with other lines, scrolled to the same place. */
export function replaceLines(pager: Pager, lines: readonly string[]): Pager {
  return {...pager, lines: lines.slice(-MAX_LINES), isLoading: false};
}

/** Returns the number of rows that a line takes. */
export function rowsOfLine(pager: Pager, line: string, {width}: PagerArea): number {
  if (!pager.wrap || line.length * 2 <= width) return 1;
  return displayWidth(line) <= width ? 1 : wrapToWidth(line, width).length;
}

/** Returns the index of the first line on the screen when the text is scrolled to its end. */
export function lastTop(pager: Pager, area: PagerArea): number {
  let rows = 0;
  let index = pager.lines.length;
  while (index > 0) {
    rows += rowsOfLine(pager, pager.lines[index - 1] ?? '', area);
    if (rows > area.height) break;
    index -= 1;
  }
  return Math.min(index, Math.max(pager.lines.length - 1, 0));
}

/** Returns the index of the first line on the screen. */
export function firstLine(pager: Pager, area: PagerArea): number {
  const last = lastTop(pager, area);
  return pager.follow ? last : Math.min(pager.top, last);
}

/** Scrolls by lines; scrolling up stops following, and the end of a log is followed again. */
export function scrollBy(pager: Pager, lines: number, area: PagerArea): Pager {
  const last = lastTop(pager, area);
  const top = Math.max(0, Math.min(firstLine(pager, area) + lines, last));
  return {...pager, top, follow: pager.view === 'logs' && top === last && lines > 0};
}

/** Moves to the next line that contains the search text, in either direction; wraps around at the end. */
export function findNext(pager: Pager, step: 1 | -1, area: PagerArea): Pager {
  const search = pager.search.toLowerCase();
  const count = pager.lines.length;
  if (search === '' || count === 0) return {...pager, match: undefined};
  const start = pager.match ?? firstLine(pager, area) - step;
  for (let distance = 1; distance <= count; distance += 1) {
    const index = (((start + step * distance) % count) + count) % count;
    if (pager.lines[index]?.toLowerCase().includes(search) === true)
      return {...pager, match: index, top: index, follow: false};
  }
  return {...pager, match: undefined};
}
