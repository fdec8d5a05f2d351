import type {JSX, RefObject} from 'preact';
import type {TableRow} from '../model/arrange.js';
import type {TableState} from '../model/table-state.js';
import {usePage} from './page-context.js';

/** Filter of the table, how many rows it shows, and whether pods or containers. */
export function FilterBar({
  table,
  setTable,
  rows,
  inputRef,
}: {
  readonly table: TableState;
  readonly setTable: (change: (before: TableState) => TableState) => void;
  readonly rows: readonly TableRow[];
  readonly inputRef: RefObject<HTMLInputElement>;
}): JSX.Element {
  return (
    <div class="filter-bar">
      <input
        ref={inputRef}
        type="search"
        aria-label="Filter"
        placeholder="Filter: name, state:crash, node:…"
        spellcheck={false}
        autocomplete="off"
        value={table.filter}
        onInput={({currentTarget: {value}}) => setTable((before) => ({...before, filter: value}))}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setTable((before) => ({...before, filter: ''}));
          if (event.key === 'Escape' || event.key === 'Enter') event.currentTarget.blur();
        }}
      />
      <kbd title="Key that moves to the filter">/</kbd>
      <Counts rows={rows} tree={table.tree} />
      <div class="choice" role="group" aria-label="Rows">
        {[true, false].map((tree) => (
          <button
            key={String(tree)}
            type="button"
            aria-pressed={table.tree === tree}
            onClick={() => setTable((before) => ({...before, tree}))}
          >
            {tree ? 'Pods' : 'Containers'}
          </button>
        ))}
      </div>
    </div>
  );
}

function Counts({rows, tree}: {readonly rows: readonly TableRow[]; readonly tree: boolean}): JSX.Element {
  const {model} = usePage();
  const pods = new Set(rows.map(({pod}) => pod.key));
  const count = tree ? pods.size : rows.length;
  const bad = [...pods].filter((key) => model.pods.get(key)?.tone === 'bad').length;
  const word = tree ? 'pod' : 'container';
  return (
    <p class="counts" role="status">
      {count} {count === 1 ? word : `${word}s`}
      {tree && pods.size < model.pods.size && ` of ${model.pods.size}`}
      {bad > 0 && <span class="state bad">{bad} failing</span>}
    </p>
  );
}
