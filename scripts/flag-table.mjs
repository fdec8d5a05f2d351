/**
 * Generates the table of commands, flags and tests in docs/crictl.md.
 *
 * `node scripts/flag-table.mjs` writes it. A flag is proven by a test that declares it
 * (scripts/evidence/declarations.mjs), or else by a successful command line with that flag in the recordings of
 * crictl, which test/compat compares with kcri. `--check` exits with 1 if the table is stale, if a test declares a
 * flag that does not exist, or if more flags are unproven than MAX_UNPROVEN.
 */
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join, relative} from 'node:path';
import {testsBySubject} from './evidence/declarations.mjs';
import {cell, load, ROOT} from './evidence/table-support.mjs';

const page = join(ROOT, 'docs/crictl.md');
const BEGIN = '<!-- flag table: made by scripts/flag-table.mjs -->';
const END = '<!-- end of flag table -->';

const {GLOBAL_FLAGS} = await load('cli/flags/global-flags.js');
const {tokenize} = await load('cli/parsing/tokenize.js');
const {UsageError} = await load('base/errors.js');
const {findCommand} = await load('cli/catalog/find-command.js');

/** Groups of flags that are not listed: docs/kubelet-config.md has those of fields, and others have no effect to prove. */
const OTHER_GROUPS = ['FIELD', 'IGNORED'];

const visibleFlags = (flags) =>
  Object.fromEntries(
    Object.entries(flags).filter(
      ([, {hidden, helpGroup}]) => hidden !== true && !OTHER_GROUPS.includes(helpGroup),
    ),
  );

/** Returns the flags of every command by its words, with the global flags under `kcri`. */
async function commandFlags() {
  const folder = join(ROOT, 'dist/commands');
  const files = readdirSync(folder, {recursive: true}).filter((name) => name.endsWith('.js'));
  const commands = new Map([['kcri', GLOBAL_FLAGS]]);
  for (const file of files.toSorted()) {
    const {default: command} = await load(join('commands', file));
    if (command.hidden !== true)
      commands.set(
        relative('.', file).replace(/\.js$/, '').replaceAll('/', ' '),
        visibleFlags(command.flags ?? {}),
      );
  }
  return commands;
}

const VERSION = {version: {type: 'boolean', char: 'v'}};

/** Returns the pairs of command and flag that a command line uses, or none if it cannot be parsed. */
async function usedFlags(args) {
  try {
    const before = tokenize(args, GLOBAL_FLAGS, VERSION, {flagsEndAfter: () => true});
    const found = findCommand(before.positionals);
    const globals = before.flags.map(({name}) => ['kcri', name]);
    if (found === undefined) return globals;
    const command = await found.load();
    const own = command.flags ?? {};
    const {flags} = tokenize(found.argv, own, GLOBAL_FLAGS, {
      flagsEndAfter: command.flagsEndAfter,
    });
    const words = found.words.join(' ');
    return [...globals, [words, ''], ...flags.map(({name}) => [name in own ? words : 'kcri', name])];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [];
  }
}

/** Returns the recorded command lines of crictl that succeeded, the shortest first. */
function recordedCommandLines() {
  const folder = join(ROOT, 'test/compat/recordings');
  return readdirSync(folder)
    .flatMap((file) => Object.entries(JSON.parse(readFileSync(join(folder, file), 'utf8')).outcomes))
    .filter(([title, {exitCode}]) => exitCode === 0 && title.startsWith('crictl '))
    .map(([title]) => title)
    .toSorted((a, b) => a.length - b.length);
}

/** Returns the evidence for each pair of command and flag, where '' is the command itself. */
async function findEvidence() {
  const evidence = new Map();
  for (const title of recordedCommandLines()) {
    for (const [command, flag] of await usedFlags(title.split(' ').slice(1))) {
      const subject = flag === '' ? command : `${command} --${flag}`;
      if (!evidence.has(subject)) evidence.set(subject, `test/compat/compat.test.ts: ${title}`);
    }
  }
  for (const [subject, [test]] of testsBySubject(ROOT)) evidence.set(subject, test);
  return evidence;
}

function spelling(name, {char, charAliases = []}) {
  return [...[char, ...charAliases].filter(Boolean).map((letter) => `-${letter}`), `--${name}`]
    .map((flag) => `\`${flag}\``)
    .join(', ');
}

function rows(command, flags, evidence) {
  const all = [['', undefined], ...Object.entries(flags).toSorted(([a], [b]) => (a < b ? -1 : 1))];
  return all.flatMap(([name, flag]) => {
    if (flag === undefined && command === 'kcri') return [];
    const test = cell(evidence.get(flag === undefined ? command : `${command} --${name}`) ?? 'unproven');
    return [`| ${command} | ${flag === undefined ? '' : spelling(name, flag)} | ${test} |`];
  });
}

/** Maximum number of unproven flags and commands. Lower it whenever a test is added. */
const MAX_UNPROVEN = 204;

const text = readFileSync(page, 'utf8');
const [before, rest = ''] = text.split(BEGIN);
const [, after = ''] = rest.split(END);
const commands = await commandFlags();
const subjects = [...commands].flatMap(([command, flags]) => [
  ...(command === 'kcri' ? [] : [command]),
  ...Object.keys(flags).map((name) => `${command} --${name}`),
]);
const evidence = await findEvidence();
const unproven = subjects.filter((subject) => !evidence.has(subject));
const body = [...commands].flatMap(([command, flags]) => rows(command, flags, evidence));
const lines = ['| command | flag | test |', '|---|---|---|', ...body].join('\n');
const updated = `${before.trimEnd()}\n\n${BEGIN}\n\n${lines}\n\n${END}\n${after.trimStart()}`;

if (process.argv.includes('--check')) {
  const known = new Set(subjects);
  const problems = [
    ...[...testsBySubject(ROOT)]
      .filter(([subject]) => !/^[A-Z]\w*\.\w+$/.test(subject) && !known.has(subject))
      .map(([subject, [test]]) => `${test}: unknown flag ${subject}`),
    ...(unproven.length > MAX_UNPROVEN ? [`unproven: ${unproven.join(', ')}`] : []),
    ...(updated === text ? [] : ['stale: run "npm run regenerate"']),
  ];
  if (problems.length > 0) {
    process.stderr.write(`docs/crictl.md:\n${problems.map((problem) => `  ${problem}\n`).join('')}`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(page, updated);
  process.stdout.write(`${unproven.length} of ${subjects.length} commands and flags are unproven\n`);
}
