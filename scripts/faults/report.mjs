import {readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

const PAGE = fileURLToPath(new URL('../../docs/reliability.md', import.meta.url));
const MARKERS = ['<!-- faults -->', '<!-- /faults -->'];

/** Names of the kinds of faults other than those of the runtime, which have their own. */
const NAMES = {
  none: 'no fault',
  kill: 'kill -9',
  'kill twice': 'kill -9, and its successor',
  driver: 'CSI driver',
  'driver and kill': 'CSI driver, then kill -9',
};

/** Returns the results as a Markdown table: points and violations by kind of fault. */
export function summaryTable({reports, cases, minutes, seed, every}) {
  const rows = new Map();
  for (const {kind, fault, wasReached, violations} of reports) {
    const name = kind === 'rpc' ? fault : NAMES[kind];
    const row = rows.get(name) ?? {points: 0, reached: 0, broken: 0};
    row.points += 1;
    row.reached += wasReached ? 1 : 0;
    row.broken += violations.length > 0 ? 1 : 0;
    rows.set(name, row);
  }
  const sum = (field) => [...rows.values()].reduce((total, row) => total + row[field], 0);
  const lines = [...rows].map(([name, row]) => [name, row.points, row.reached, row.broken]);
  const table = [
    ['fault', 'points', 'reached', 'violations'],
    ['---', '---', '---', '---'],
    ...lines,
    ['all', sum('points'), sum('reached'), sum('broken')],
  ].map((cells) => `| ${cells.join(' | ')} |`);
  const share = every === '1' ? 'every point' : `one point in ${every}`;
  return `${cases} cases, ${share}, seed ${seed}, ${minutes.toFixed(0)} minutes:\n\n${table.join('\n')}`;
}

/** Replaces the results in docs/reliability.md. */
export function writeResults(table) {
  const page = readFileSync(PAGE, 'utf8');
  const [start, end] = MARKERS.map((marker) => page.indexOf(marker));
  if (start < 0 || end < start) throw new Error(`${PAGE} lacks the markers ${MARKERS.join(' and ')}`);
  writeFileSync(PAGE, `${page.slice(0, start + MARKERS[0].length)}\n\n${table}\n\n${page.slice(end)}`);
}
