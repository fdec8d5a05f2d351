import type {JSX} from 'preact';
import {useMemo, useRef} from 'preact/hooks';
import {arrangeRows} from '../model/arrange.js';
import {pressTableKey, type TableEffect, type TableState} from '../model/table-state.js';
import {FilterBar} from './filter-bar.js';
import {useKeys} from './hooks.js';
import {NodeStrip} from './node-strip.js';
import {usePage} from './page-context.js';
import {PodTable} from './pod-table.js';

/** Nodes, and the pods of all managers. */
export function PodsPage({
  table,
  setTable,
}: {
  readonly table: TableState;
  readonly setTable: (change: (before: TableState) => TableState) => void;
}): JSX.Element {
  const {model, go, ask} = usePage();
  const filterInput = useRef<HTMLInputElement>(null);
  const hasNodes = model.nodes.size > 1;
  const {sort, reversed, tree, filter, expanded} = table;
  const rows = useMemo(
    () => arrangeRows(model.pods.values(), table),
    [model.pods, sort, reversed, tree, filter, expanded],
  );
  const perform = (effect: TableEffect): void => {
    if (effect.kind === 'filter') {
      filterInput.current?.focus();
      filterInput.current?.select();
    } else if (effect.kind === 'ask') ask(effect.action, effect.row);
    else {
      const {pod, container} = effect.row;
      go({view: 'pod', key: pod.key, tab: effect.tab, ...(container && {container: container.name})});
    }
  };
  useKeys((key) => {
    const page = Math.max(Math.floor(window.innerHeight / 2 / 32), 1);
    const result = pressTableKey(table, key, {rows, page, hasNodes});
    if (result === undefined) return false;
    setTable(() => result.state);
    if (result.effect !== undefined) perform(result.effect);
    return true;
  });
  return (
    <>
      <h1 class="hidden">Pods</h1>
      <NodeStrip />
      <FilterBar table={table} setTable={setTable} rows={rows} inputRef={filterInput} />
      <PodTable table={table} setTable={setTable} rows={rows} hasNodes={hasNodes} />
    </>
  );
}
