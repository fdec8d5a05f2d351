/**
 * Generates the table of all cases recorded from the kubelet in docs/kubelet-parity.md, from the list that the tests
 * verify (test/golden/parity.ts, test/golden/api/api-parity.ts).
 *
 * `node scripts/parity-table.mjs` writes it. `--check` exits with 1 if it is stale.
 */
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import ts from 'typescript';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const page = join(root, 'docs/kubelet-parity.md');
const BEGIN = '<!-- parity table: made by scripts/parity-table.mjs -->';
const END = '<!-- end of parity table -->';

const API_BEGIN = '<!-- API parity table: made by scripts/parity-table.mjs -->';
const API_END = '<!-- end of API parity table -->';

/** Texts of the columns `kcri kubelet` and `kcri sync`. */
const CELLS = {
  equal: 'equal',
  rejected: 'rejected',
  explained: 'rejected, better explained',
  accepted: 'accepted',
  runs: 'runs',
  reported: 'equal, and explained',
  missing: 'not available',
};
/** The drivers, in the order of the columns. */
const DRIVERS = ['daemon', 'foreground'];

async function importList(path) {
  const source = readFileSync(join(root, path), 'utf8');
  const {outputText} = ts.transpileModule(source, {compilerOptions: {module: ts.ModuleKind.ESNext}});
  return await import(`data:text/javascript,${encodeURIComponent(outputText)}`);
}

const {parityOf} = await importList('test/golden/parity.ts');
const {apiParityOf} = await importList('test/golden/api/api-parity.ts');
const cases = readdirSync(join(root, 'test/golden/traces')).toSorted();
const rows = cases.map((name) => {
  const parities = DRIVERS.map((driver) => parityOf(name, driver));
  const reasons = new Set(parities.flatMap(({why}) => why ?? []));
  return `| ${[name, ...parities.map(({kind}) => CELLS[kind]), [...reasons].join('; ')].join(' | ')} |`;
});

function sumOf(driver) {
  const count = (...kinds) => cases.filter((name) => kinds.includes(parityOf(name, driver).kind)).length;
  const rejected = count('rejected', 'explained');
  const more = count('accepted', 'runs', 'reported');
  return `${count('equal')} equal, ${rejected} rejected by both, ${more} in which kcri does more than a kubelet without an API server, ${count('missing')} not available`;
}

const table = [
  `${cases.length} cases.`,
  '',
  `- \`kcri kubelet\`: ${sumOf('daemon')}.`,
  `- \`kcri sync\`: ${sumOf('foreground')}.`,
  '',
  '| case | kcri kubelet | kcri sync | |',
  '|---|---|---|---|',
  ...rows,
].join('\n');

const API_CELLS = {equal: 'equal', racing: 'equal but for timing', different: 'differs on purpose'};
const apiCases = readdirSync(join(root, 'test/golden/api/cases'))
  .map((file) => file.replace(/\.json$/, ''))
  .toSorted();
const apiCount = (kind) => apiCases.filter((name) => apiParityOf(name).kind === kind).length;
const apiTable = [
  `${apiCases.length} cases: ${apiCount('equal')} equal, ${apiCount('racing')} but for timing, ${apiCount('different')} with a difference on purpose.`,
  '',
  '| case | kcri kubelet --kubeconfig | |',
  '|---|---|---|',
  ...apiCases.map((name) => {
    const {kind, units = [], why = ''} = apiParityOf(name);
    const where = units.map((unit) => `\`${unit}\``).join(', ');
    return `| ${[name, API_CELLS[kind], [where, why].filter((part) => part !== '').join(': ')].join(' | ')} |`;
  }),
].join('\n');

const text = readFileSync(page, 'utf8');

function replaceBetween(current, begin, end, content) {
  const [before, rest = ''] = current.split(begin);
  const [, after = ''] = rest.split(end);
  return `${before.trimEnd()}\n\n${begin}\n\n${content}\n\n${end}\n${after === '' ? '' : `\n${after.trimStart()}`}`;
}

const updated = replaceBetween(replaceBetween(text, BEGIN, END, table), API_BEGIN, API_END, apiTable);
if (!process.argv.includes('--check')) writeFileSync(page, updated);
else if (text !== updated) {
  process.stderr.write('docs/kubelet-parity.md is stale: run "npm run regenerate"\n');
  process.exitCode = 1;
}
