import {cutToWidth, wrapToWidth} from '../../../format/display-width.js';
import {itemPlace} from '../model/top-item.js';
import {firstLine, lastTop, type Pager, type PagerArea} from '../model/pager.js';
import {safeText, segment, type ScreenLine, type Segment} from './screen-lines.js';

const TITLES = {logs: 'Logs', events: 'Events', describe: 'Description', why: 'Why'} as const;

/** Returns the title of a pager with its position. */
export function pagerTitle(pager: Pager, area: PagerArea): ScreenLine {
  const {view, item, lines, wrap, follow} = pager;
  const subject = itemPlace(view === 'logs' ? item : {...item, kind: 'pod'});
  const modes = [...(follow ? ['following'] : []), ...(wrap ? ['wrapped'] : [])];
  const first = firstLine(pager, area) + 1;
  return [
    segment(` ${TITLES[view]} `, 'title'),
    segment(` ${safeText(subject)}`, 'accent'),
    segment(lines.length === 0 ? '' : `  line ${first} of ${lines.length}`, 'dim'),
    segment(modes.length === 0 ? '' : `  ${modes.join(', ')}`, 'dim'),
  ];
}

/** Returns the visible lines of a pager. */
export function pagerLines(pager: Pager, area: PagerArea): readonly ScreenLine[] {
  if (pager.lines.length === 0) return [[segment(pager.isLoading ? ' Reading...' : emptyText(pager), 'dim')]];
  const shown: ScreenLine[] = [];
  for (let index = firstLine(pager, area); index < pager.lines.length; index += 1) {
    if (shown.length >= area.height) break;
    shown.push(...rowsOf(pager, pager.lines[index] ?? '', area));
  }
  // A line that is longer than the screen is shown from its start, except at the end of a log.
  return isAtEnd(pager, area) ? shown.slice(-area.height) : shown.slice(0, area.height);
}

function isAtEnd(pager: Pager, area: PagerArea): boolean {
  return pager.follow && firstLine(pager, area) === lastTop(pager, area);
}

function emptyText({view, item}: Pager): string {
  if (view === 'events')
    return item.manager === 'kcri'
      ? ' No events'
      : ' No events so far; events of the runtime appear here when they happen';
  return view === 'logs' ? ' The log is empty' : ' Nothing to show';
}

function rowsOf({wrap, left, search}: Pager, line: string, {width}: PagerArea): readonly ScreenLine[] {
  const pieces = wrap ? wrapToWidth(line, width) : [cutToWidth(line.slice(left), width)];
  return pieces.map((piece) => highlight(piece, search));
}

/** Marks the occurrences of the search text, in any case. */
function highlight(text: string, search: string): ScreenLine {
  const found = search.toLowerCase();
  const lower = text.toLowerCase();
  // Some characters have a lower case of another length, so positions would not match.
  if (found === '' || lower.length !== text.length) return [segment(text)];
  const segments: Segment[] = [];
  let from = 0;
  for (let at = lower.indexOf(found); at >= 0; at = lower.indexOf(found, from)) {
    segments.push(segment(text.slice(from, at)), segment(text.slice(at, at + found.length), 'match'));
    from = at + found.length;
  }
  return [...segments, segment(text.slice(from))];
}
