/**
 * The table of all cases that were recorded from the kubelet, in docs/kubelet-parity.md, from the list that the test
 * of them holds (test/golden/parity.ts).
 *
 * `node scripts/parity-table.mjs` writes it; `--check` exits 1 when it says anything else than the list.
 */
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import ts from 'typescript';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const page = join(root, 'docs/kubelet-parity.md');
const BEGIN = '<!-- parity table: made by scripts/parity-table.mjs -->';
const END = '<!-- end of parity table -->';

/** What stands under calls, status and events. */
const CELLS = {
  equal: ['equal', 'equal', 'equal'],
  ahead: ['equal', 'further', 'equal'],
  refused: ['refused', 'none', 'none'],
  explained: ['refused', 'none', 'none'],
  runs: ['kcri runs it', 'kcri runs it', 'kcri runs it'],
  told: ['equal', 'kcri shows it', 'kcri explains it'],
  loop: ['not yet', 'not yet', 'not yet'],
};
const WORDS = {refused: "in the kubelet's words"};

async function parityList() {
  const source = readFileSync(join(root, 'test/golden/parity.ts'), 'utf8');
  const {outputText} = ts.transpileModule(source, {compilerOptions: {module: ts.ModuleKind.ESNext}});
  return await import(`data:text/javascript,${encodeURIComponent(outputText)}`);
}

const {parityOf} = await parityList();
const cases = readdirSync(join(root, 'test/golden/traces')).toSorted();
const rows = cases.map((name) => {
  const {kind, why = WORDS[kind] ?? ''} = parityOf(name);
  return `| ${[name, ...CELLS[kind], why].join(' | ')} |`;
});
const count = (...kinds) => cases.filter((name) => kinds.includes(parityOf(name).kind)).length;
const sum = `${cases.length} cases: ${count('equal', 'ahead')} played to the end, ${count('refused', 'explained')} refused by both, ${count('runs', 'told')} in which kcri does more than a kubelet without an API server, ${count('loop')} that need a kubelet that runs on.`;
const table = [sum, '', '| case | calls | status | events | |', '|---|---|---|---|---|', ...rows].join('\n');

const text = readFileSync(page, 'utf8');
const [before, rest = ''] = text.split(BEGIN);
const [, after = ''] = rest.split(END);
const made = `${before.trimEnd()}\n\n${BEGIN}\n\n${table}\n\n${END}\n${after.trimStart()}`;
if (!process.argv.includes('--check')) writeFileSync(page, made);
else if (text !== made) {
  process.stderr.write(
    'docs/kubelet-parity.md differs from test/golden/parity.ts: run "node scripts/parity-table.mjs"\n',
  );
  process.exitCode = 1;
}
