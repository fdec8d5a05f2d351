/**
 * The table of all commands, their flags and the test that proves each, in docs/crictl.md.
 *
 * `node scripts/flag-table.mjs` writes it. A flag is proven by a test that declares it (scripts/evidence/declarations.mjs),
 * or else by a successful command line with that flag in the recordings of crictl, which test/compat compares with kcri.
 * `--check` exits 1 when the table is not what it would write, when a test declares a flag that does not exist, or when
 * more flags are unproven than MOST_UNPROVEN.
 */
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join, relative} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {testsBySubject} from './evidence/declarations.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const page = join(root, 'docs/crictl.md');
const BEGIN = '<!-- flag table: made by scripts/flag-table.mjs -->';
const END = '<!-- end of flag table -->';

const load = async (path) => await import(pathToFileURL(join(root, 'dist', path)).href);
const {GLOBAL_FLAGS} = await load('cli/flags/global-flags.js');
const {tokenize} = await load('cli/parsing/tokenize.js');
const {findCommand} = await load('cli/find-command.js');

const shown = (flags) => Object.fromEntries(Object.entries(flags).filter(([, {hidden}]) => hidden !== true));

/** Every command's flags by its words; those of all commands under `kcri`. */
async function commandFlags() {
  const folder = join(root, 'dist/commands');
  const files = readdirSync(folder, {recursive: true}).filter((name) => name.endsWith('.js'));
  const commands = new Map([['kcri', GLOBAL_FLAGS]]);
  for (const file of files.toSorted()) {
    const {default: command} = await load(join('commands', file));
    if (command.hidden !== true)
      commands.set(relative('.', file).replace(/\.js$/, '').replaceAll('/', ' '), shown(command.flags ?? {}));
  }
  return commands;
}

const VERSION = {version: {type: 'boolean', char: 'v'}};

/** What a command line uses: pairs of a command's words and a flag's name. Nothing for one that can't be read. */
async function uses(args) {
  try {
    const before = tokenize(args, GLOBAL_FLAGS, VERSION, {stopAtPositional: true});
    const found = findCommand(before.positionals);
    const globals = before.flags.map(({name}) => ['kcri', name]);
    if (found === undefined) return globals;
    const command = await found.load();
    const own = command.flags ?? {};
    const {flags} = tokenize(found.argv, own, GLOBAL_FLAGS, {
      stopAtPositional: command.flagsEndAtArgument === true,
    });
    const words = found.words.join(' ');
    return [...globals, [words, ''], ...flags.map(({name}) => [name in own ? words : 'kcri', name])];
  } catch {
    return []; // a test of a wrong command line
  }
}

/** Returns the recorded command lines of crictl that succeeded, the shortest first. */
function recordedCommandLines() {
  const folder = join(root, 'test/compat/recordings');
  return readdirSync(folder)
    .flatMap((file) => Object.entries(JSON.parse(readFileSync(join(folder, file), 'utf8')).outcomes))
    .filter(([title, {exitCode}]) => exitCode === 0 && title.startsWith('crictl '))
    .map(([title]) => title)
    .toSorted((a, b) => a.length - b.length);
}

/** Returns the evidence for each pair of a command's words and a flag's name, which is '' for the command itself. */
async function findEvidence() {
  const evidence = new Map();
  for (const title of recordedCommandLines()) {
    for (const [command, flag] of await uses(title.split(' ').slice(1))) {
      const subject = flag === '' ? command : `${command} --${flag}`;
      if (!evidence.has(subject)) evidence.set(subject, `test/compat/compat.test.ts: ${title}`);
    }
  }
  for (const [subject, [test]] of testsBySubject(root)) evidence.set(subject, test);
  return evidence;
}

function spelling(name, {char, charAliases = []}) {
  return [...[char, ...charAliases].filter(Boolean).map((letter) => `-${letter}`), `--${name}`]
    .map((flag) => `\`${flag}\``)
    .join(', ');
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();

function rows(command, flags, evidence) {
  const all = [['', undefined], ...Object.entries(flags).toSorted(([a], [b]) => (a < b ? -1 : 1))];
  return all.flatMap(([name, flag]) => {
    if (flag === undefined && command === 'kcri') return [];
    const test = cell(evidence.get(flag === undefined ? command : `${command} --${name}`) ?? 'unproven');
    return [`| ${command} | ${flag === undefined ? '' : spelling(name, flag)} | ${test} |`];
  });
}

/** How many flags and commands may be unproven. Lower it whenever a test is added. */
const MOST_UNPROVEN = 200;

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
const made = ['| command | flag | test |', '|---|---|---|', ...body].join('\n');
const written = `${before.trimEnd()}\n\n${BEGIN}\n\n${made}\n\n${END}\n${after.trimStart()}`;

if (process.argv.includes('--check')) {
  const known = new Set(subjects);
  const faults = [
    ...[...testsBySubject(root)]
      .filter(([subject]) => !/^[A-Z]\w*\.\w+$/.test(subject) && !known.has(subject))
      .map(([subject, [test]]) => `${test}: there is no ${subject}`),
    ...(unproven.length > MOST_UNPROVEN ? [`unproven: ${unproven.join(', ')}`] : []),
    ...(written === text ? [] : ['not what scripts/flag-table.mjs would write']),
  ];
  if (faults.length > 0) {
    process.stderr.write(`docs/crictl.md:\n${faults.map((fault) => `  ${fault}\n`).join('')}`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(page, written);
  process.stdout.write(`${unproven.length} of ${subjects.length} commands and flags are unproven\n`);
}
