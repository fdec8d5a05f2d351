/**
 * docs/pod-fields.md: every field of the Pod API, and whether kcri honours it (with a test that sets it), ignores it
 * or refuses it (why). What is honoured says src/kubelet/pods/field-support/field-rules.ts.
 *
 * `node scripts/field-table.mjs [LOG]` writes the page; LOG is what a run of the tests with KCRI_FIELD_LOG=LOG wrote,
 * without it the tests stay those that the page names. `--check` exits 1 when the page is not what it would write,
 * when it names a test file that isn't there, or when no test sets a field that is honoured.
 */
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const page = join(root, 'docs/pod-fields.md');

const load = async (path) => await import(pathToFileURL(join(root, 'dist', path)).href);
const {pod} = await load('api/schema/schema-pod.js');
const {FIELD_RULES} = await load('kubelet/pods/field-support/field-rules.js');

const HONOURED = {kind: 'honoured'};
const ruleOf = (schema, name) => FIELD_RULES[schema.name]?.[name] ?? HONOURED;
/** A rule that looks at the value refuses only some. */
const isPartly = (rule) => rule.kind === 'refused' && rule.when.length > 0;
const isHonoured = (rule) => rule.kind === 'honoured' || isPartly(rule);

function objectOf(type, path) {
  if (type.kind === 'list') return objectOf(type.item, `${path}[]`);
  return type.kind === 'object' ? {schema: type.schema, path} : undefined;
}

/** Every type that an honoured field leads to, with all its places. */
function reachable() {
  const found = new Map();
  const visit = (schema, path) => {
    const known = found.get(schema.name);
    if (known !== undefined) return known.paths.push(path);
    found.set(schema.name, {schema, paths: [path]});
    for (const [name, {type}] of Object.entries(schema.fields)) {
      const inner = objectOf(type, path === '' ? name : `${path}.${name}`);
      if (inner !== undefined && isHonoured(ruleOf(schema, name))) visit(inner.schema, inner.path);
    }
  };
  visit(pod, '');
  return [...found.values()];
}

/** Of tests that set a field, the one that sets few others tells most; a recorded case and a walk over all tell least. */
function rank({file, fields, test}) {
  const general =
    file.startsWith('test/golden/') || file.endsWith('unsupported-fields.test.ts') || test === '';
  return (general ? 1000 : 0) + fields.length;
}

function testsFromLog(path) {
  const best = new Map();
  for (const line of readFileSync(path, 'utf8').split('\n').filter(Boolean)) {
    const run = JSON.parse(line);
    for (const field of run.fields) {
      const known = best.get(field);
      if (known === undefined || rank(run) < rank(known)) best.set(field, run);
    }
  }
  return new Map([...best].map(([field, {file, test}]) => [field, `${file}: ${cell(test)}`]));
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();
const HEADING = /^### (\w+)/;
const ROW = /^\| `(\w+)` \| honoured(?:[; ][^|]*)? \| (.*) \|$/;

/** What the page names now. */
function testsFromPage() {
  const tests = new Map();
  let type = '';
  for (const line of existsSync(page) ? readFileSync(page, 'utf8').split('\n') : []) {
    type = HEADING.exec(line)?.[1] ?? type;
    const [, field, test] = ROW.exec(line) ?? [];
    if (field !== undefined && test !== 'none') tests.set(`${type}.${field}`, test);
  }
  return tests;
}

function row(schema, name, tests) {
  const rule = ruleOf(schema, name);
  const test = tests.get(`${schema.name}.${name}`) ?? 'none';
  if (rule.kind === 'honoured') return `| \`${name}\` | honoured | ${test} |`;
  if (isPartly(rule))
    return `| \`${name}\` | honoured; some values are refused: ${cell(rule.reason)} | ${test} |`;
  return `| \`${name}\` | ${rule.kind} | ${cell(rule.reason)} |`;
}

function section({schema, paths}, tests) {
  const places = paths.filter(Boolean).map((path) => `\`${path}\``);
  const rows = Object.keys(schema.fields).map((name) => row(schema, name, tests));
  return [
    `### ${schema.name}`,
    '',
    ...(places.length === 0 ? [] : [places.join(', '), '']),
    '| field | kcri | test or reason |',
    '|---|---|---|',
    ...rows,
    '',
  ];
}

const INTRO = `# The fields of a Pod

Made by \`scripts/field-table.mjs\` from the API's schemas, from the rules in \`src/kubelet/pods/field-support/field-rules.ts\` and from the fields that tests set. A field is honoured, as the test after it shows; or ignored, because it is without effect on any node; or refused with the error \`FIELD: Forbidden: not supported by kcri: REASON\`. What needs a kubelet that runs on is honoured by \`kcri kubelet\` and refused elsewhere. There is no other way: nothing is dropped in silence. What is ignored or refused stands for all that it holds.
`;

const types = reachable();
const write = (tests) =>
  [INTRO, ...types.flatMap((type) => section(type, tests))].join('\n').trimEnd() + '\n';

if (process.argv.includes('--check')) {
  const tests = testsFromPage();
  const wanted = types.flatMap(({schema}) =>
    Object.keys(schema.fields)
      .filter((name) => isHonoured(ruleOf(schema, name)))
      .map((name) => `${schema.name}.${name}`),
  );
  const faults = [
    ...wanted.filter((field) => !tests.has(field)).map((field) => `no test sets ${field}`),
    ...[...tests]
      .filter(([, test]) => !existsSync(join(root, test.split(':')[0])))
      .map(([field, test]) => `${field}: there is no ${test}`),
    ...(existsSync(page) && readFileSync(page, 'utf8') === write(tests)
      ? []
      : ['not what scripts/field-table.mjs would write']),
  ];
  if (faults.length > 0) {
    process.stderr.write(`docs/pod-fields.md:\n${faults.map((fault) => `  ${fault}\n`).join('')}`);
    process.exitCode = 1;
  }
} else {
  const log = process.argv[2];
  const known = testsFromPage();
  writeFileSync(page, write(log === undefined ? known : new Map([...known, ...testsFromLog(log)])));
}
