import {displayWidth} from '../../../format/display-width.js';
import {humanSize} from '../../../format/human-size.js';
import {formatPercent} from '../../../cli/output/views/format-percent.js';
import {itemTitle, type TopItem} from '../model/top-item.js';
import {headerHeight, selectedIndex, selectedItem, tableHeight, type TopState} from '../model/top-state.js';
import type {NodeUsageView} from '../model/node-usage-view.js';
import {HISTORY_LENGTH, NODE_KEY, type Resource, type UsageHistory} from '../model/usage-history.js';
import {restyle, safeText, segment, type Glyphs, type ScreenLine} from './screen-lines.js';
import {drawSparkline} from './sparkline.js';
import {chooseColumns, headerSegments, rowSegments, type CellContext} from './top-columns.js';

/** Facts besides the state that the view depends on. */
export interface ViewContext {
  readonly nowMs: number;
  readonly history: UsageHistory;
  readonly glyphs: Glyphs;
}

/** Returns the lines about the node. */
export function nodeLines(state: TopState, {history, glyphs}: ViewContext): readonly ScreenLine[] {
  const {node, size, groups} = state;
  const containers = groups.reduce((sum, group) => sum + group.containers.length, 0);
  const parts: ScreenLine[] = [
    [segment(' kcri top ', 'title')],
    [segment('  CPU '), segment(cpuText(node), 'accent')],
    [segment('  MEM '), segment(memoryText(node), 'accent')],
    [segment('  PODS '), segment(String(groups.length), 'accent')],
    [segment('  CONTAINERS '), segment(String(containers), 'accent')],
    [segment(`  ${safeText(node.name)}`, 'dim')],
  ];
  const title = joinFitting(parts, size.columns);
  if (headerHeight(size) === 1) return [title];
  const width = Math.min(Math.max(size.columns - 20, 10), HISTORY_LENGTH);
  const isOfPods = node.cores === undefined;
  const line = (name: string, resource: Resource, total: number | undefined): ScreenLine => {
    const numbers = history.last(NODE_KEY, resource, width);
    const max = isOfPods ? Math.max(...numbers, 0) : (total ?? 0);
    const label = ` ${isOfPods ? 'pods' : 'node'} ${name}`;
    return [
      segment(`${label.padEnd(10)} `, 'dim'),
      segment(drawSparkline(numbers, {width, max, bars: glyphs.bars}), 'good'),
    ];
  };
  return [title, line('CPU', 'cpu', 100), line('MEM', 'memory', node.memoryTotalBytes)];
}

function cpuText({cpuPercent, cores}: NodeUsageView): string {
  const percent = cpuPercent === undefined ? '-' : `${cpuPercent.toFixed(0)}%`;
  return cores === undefined ? percent : `${percent} of ${cores}`;
}

function memoryText({memoryBytes, memoryTotalBytes, cores}: NodeUsageView): string {
  if (memoryBytes === undefined) return '-';
  if (cores === undefined) return humanSize(memoryBytes, 3);
  return memoryTotalBytes === undefined
    ? '-'
    : `${humanSize(memoryBytes, 3)}/${humanSize(memoryTotalBytes, 3)}`;
}

/** Joins parts as long as they fit; the first one is always shown. */
function joinFitting(parts: readonly ScreenLine[], width: number): ScreenLine {
  const line: ScreenLine[number][] = [];
  let used = 0;
  for (const part of parts) {
    used += part.reduce((sum, {text}) => sum + displayWidth(text), 0);
    if (used > width && line.length > 0) break;
    line.push(...part);
  }
  return line;
}

/** Returns the column headers and the visible rows. */
export function tableLines(state: TopState, context: ViewContext): readonly ScreenLine[] {
  const {rows, size, tree, sort, reversed, node, top} = state;
  const height = tableHeight(size);
  const visible = rows.slice(top, top + height);
  const longest = rows.reduce((width, item) => Math.max(width, nameLength(item, tree)), 0);
  const nodes = state.groups.map(({pod}) => displayWidth(pod.node ?? ''));
  const columns = chooseColumns(size.columns, {
    longestName: longest,
    longestState: Math.max(0, ...rows.map(({state: text}) => displayWidth(safeText(text)))),
    longestNode: Math.max(...nodes, 0),
    hasShare: node.cores !== undefined,
    isPinned: rows.some(({exclusiveCpus}) => exclusiveCpus !== ''),
  });
  const cells: CellContext = {
    ...context,
    tree,
    memoryTotalBytes: node.memoryTotalBytes,
    isLast: (item) => rows[rows.indexOf(item) + 1]?.kind !== 'container',
  };
  const selected = selectedIndex(state) - top;
  const lines = visible.map((item, index): ScreenLine => {
    const cellsOfRow = rowSegments(columns, item, cells);
    const line = item.isStale ? restyle(cellsOfRow, 'dim') : cellsOfRow;
    return index === selected ? [...restyle(line, 'selected'), segment('', 'selected')] : line;
  });
  const headers = [
    ...headerSegments(columns, {sort, reversed, glyphs: context.glyphs}),
    segment('', 'header'),
  ];
  const empty = lines.length > 0 ? [] : [[segment(emptyText(state), 'dim')]];
  const blank = Array.from({length: height - lines.length - empty.length}, () => [segment('')]);
  return [headers, ...lines, ...empty, ...blank];
}

function nameLength(item: TopItem, tree: boolean): number {
  const isBranch = tree && item.kind === 'container';
  return displayWidth(safeText(isBranch ? item.name : itemTitle(item))) + (isBranch ? 3 : 0);
}

function emptyText({sampledMs, filter, groups}: TopState): string {
  if (sampledMs === undefined) return ' Reading pods...';
  if (filter !== '' && groups.length > 0) return ` No pod or container contains "${safeText(filter)}"`;
  return ' No pods';
}

/** Returns the lines with the history of the selected row: one for each resource if there is room, or both in one. */
export function selectionLines(state: TopState, {history, glyphs}: ViewContext): readonly ScreenLine[] {
  const item = selectedItem(state);
  const isTall = headerHeight(state.size) > 1;
  if (item === undefined) return isTall ? [[segment('')], [segment('')]] : [[segment('')]];
  const {columns} = state.size;
  const labels = isTall ? 22 : 24;
  const width = Math.max(
    4,
    Math.min(isTall ? columns - labels : Math.floor((columns - 2 * labels) / 2), HISTORY_LENGTH),
  );
  const graph = (resource: Resource): string => {
    const numbers = history.last(item.key, resource, width);
    return drawSparkline(numbers, {width, max: Math.max(...numbers, 0), bars: glyphs.bars});
  };
  const cpu = [segment(` CPU ${cpuCell(item).padStart(8)} `, 'dim'), segment(graph('cpu'), 'good')];
  const memory = [
    segment(` MEM ${memoryCell(item).padStart(8)} `, 'dim'),
    segment(graph('memory'), 'accent'),
  ];
  return isTall ? [cpu, memory] : [[...cpu, ...memory]];
}

function cpuCell({cpuPercent}: TopItem): string {
  return cpuPercent === undefined ? '-' : `${formatPercent(cpuPercent)}%`;
}

function memoryCell({memoryBytes}: TopItem): string {
  return memoryBytes === undefined ? '-' : humanSize(memoryBytes);
}
