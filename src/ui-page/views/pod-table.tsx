import type {JSX} from 'preact';
import {useCallback, useLayoutEffect, useRef} from 'preact/hooks';
import type {SortKey, TableRow} from '../model/arrange.js';
import {expandPod, selectedIndex, sortByColumn, type TableState} from '../model/table-state.js';
import {usePage} from './page-context.js';
import {PodRow} from './pod-row.js';
import {useRowWindow} from './use-row-window.js';

interface Column {
  readonly name: string;
  readonly sort?: SortKey;
  readonly isNumber?: boolean;
}

/** Columns as in `kcri top`. Their classes, which are their names, hide them on narrow screens. */
const COLUMNS: readonly Column[] = [
  {name: 'Name', sort: 'name'},
  {name: 'Ready'},
  {name: 'State', sort: 'state'},
  {name: 'Restarts', sort: 'restarts', isNumber: true},
  {name: 'CPU %', sort: 'cpu', isNumber: true},
  {name: 'Memory', sort: 'memory', isNumber: true},
  {name: 'Age', sort: 'age', isNumber: true},
  {name: 'Manager'},
  {name: 'Node', sort: 'node'},
  {name: 'Why'},
];

/** Table of pods with their containers, of which only what is on the screen is rendered. */
export function PodTable({
  table,
  setTable,
  rows,
  hasNodes,
}: {
  readonly table: TableState;
  readonly setTable: (change: (before: TableState) => TableState) => void;
  readonly rows: readonly TableRow[];
  readonly hasNodes: boolean;
}): JSX.Element {
  const body = useRef<HTMLTableSectionElement>(null);
  const {first, end, rowHeight} = useRowWindow(body, rows.length);
  const index = selectedIndex(table, rows);
  useScrollToRow(body, {index, rowHeight, isChosen: table.selected !== undefined});
  const columns = COLUMNS.filter(({sort}) => hasNodes || sort !== 'node');
  const select = useCallback((key: string) => setTable((before) => ({...before, selected: key})), []);
  const expand = useCallback(
    (key: string, isOpen: boolean) => setTable((before) => expandPod(before, key, isOpen)),
    [],
  );
  const {model} = usePage();
  return (
    <table
      class={table.tree ? 'pods tree' : 'pods'}
      role="treegrid"
      aria-label="Pods"
      aria-rowcount={rows.length + 1}
    >
      <thead>
        <tr aria-rowindex={1}>
          {columns.map((column) => (
            <HeaderCell key={column.name} column={column} table={table} setTable={setTable} />
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        <Spacer rows={first} rowHeight={rowHeight} />
        {rows.slice(first, end).map((row, offset) => (
          <PodRow
            key={row.key}
            row={row}
            index={first + offset}
            isSelected={first + offset === index}
            hasNodes={hasNodes}
            nowMs={model.nowMs}
            onSelect={select}
            onExpand={expand}
          />
        ))}
        <Spacer rows={rows.length - end} rowHeight={rowHeight} />
        {rows.length === 0 && <EmptyRow filter={table.filter} />}
      </tbody>
    </table>
  );
}

// Neither this row nor a spacer spans columns: those that are hidden on a narrow screen would get a width.
function EmptyRow({filter}: {readonly filter: string}): JSX.Element {
  return (
    <tr>
      <td class="empty">{filter === '' ? 'No pods' : 'No pod or container matches the filter'}</td>
    </tr>
  );
}

function HeaderCell({
  column: {name, sort, isNumber = false},
  table,
  setTable,
}: {
  readonly column: Column;
  readonly table: TableState;
  readonly setTable: (change: (before: TableState) => TableState) => void;
}): JSX.Element {
  const isSorted = sort !== undefined && table.sort === sort;
  // Texts are sorted from A to Z, numbers from the greatest, unless reversed.
  const isAscending = isNumber === table.reversed;
  const order = isAscending ? 'ascending' : 'descending';
  return (
    <th
      class={`${name.toLowerCase().replace(' %', '')}${isNumber ? ' number' : ''}`}
      scope="col"
      aria-sort={isSorted ? order : undefined}
    >
      {sort === undefined ? (
        name
      ) : (
        <button type="button" onClick={() => setTable((before) => sortByColumn(before, sort))}>
          {name}
          <span aria-hidden="true">{isSorted ? (isAscending ? ' ↑' : ' ↓') : ''}</span>
        </button>
      )}
    </th>
  );
}

/** Takes the place of rows that are not rendered. */
function Spacer({rows, rowHeight}: {readonly rows: number; readonly rowHeight: number}): JSX.Element | null {
  if (rows === 0) return null;
  return (
    <tr class="spacer" aria-hidden="true">
      <td style={{height: `${rows * rowHeight}px`}} />
    </tr>
  );
}

/** Scrolls the selected row onto the screen when another one is selected. */
function useScrollToRow(
  body: {readonly current: HTMLElement | null},
  {
    index,
    rowHeight,
    isChosen,
  }: {readonly index: number; readonly rowHeight: number; readonly isChosen: boolean},
): void {
  useLayoutEffect(() => {
    if (!isChosen || body.current === null) return;
    const top = body.current.getBoundingClientRect().top + index * rowHeight;
    const header = stickyHeight();
    if (top < header) window.scrollBy(0, top - header);
    else if (top + rowHeight > window.innerHeight) window.scrollBy(0, top + rowHeight - window.innerHeight);
  }, [index, isChosen]);
}

/** Returns the height of what covers the upper edge: the bar of the page and the header of the table. */
function stickyHeight(): number {
  return Array.from(document.querySelectorAll('.top-bar, .pods thead')).reduce(
    (height, element) => height + element.getBoundingClientRect().height,
    0,
  );
}
