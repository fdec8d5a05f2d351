/**
 * The table of all commands, their flags and the test that covers each, in docs/crictl.md.
 *
 * `node scripts/flag-table.mjs LOG` writes it from the command lines that the tests ran: LOG is what a run of all
 * tests with KCRI_ARGV_LOG=LOG wrote. `--check` exits 1 when the table does not name every flag of every command,
 * or names a test file that isn't there.
 */
import {existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join, relative} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

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

/** A test of its own tells more than a recording of crictl, and a short command line more than a long one. */
const rank = ({file, args}) => (file.startsWith('test/compat/') ? 1000 : 0) + args.length;

async function bestTests(log) {
  const best = new Map();
  for (const line of readFileSync(log, 'utf8').split('\n').filter(Boolean)) {
    const run = JSON.parse(line);
    for (const [command, flag] of await uses(run.args)) {
      const key = `${command}\0${flag}`;
      const known = best.get(key);
      if (known === undefined || rank(run) < rank(known)) best.set(key, run);
    }
  }
  return best;
}

function spelling(name, {char, charAliases = []}) {
  return [...[char, ...charAliases].filter(Boolean).map((letter) => `-${letter}`), `--${name}`]
    .map((flag) => `\`${flag}\``)
    .join(', ');
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim();

function rows(command, flags, best) {
  const all = [['', undefined], ...Object.entries(flags).toSorted(([a], [b]) => (a < b ? -1 : 1))];
  return all.flatMap(([name, flag]) => {
    if (flag === undefined && command === 'kcri') return [];
    const run = best.get(`${command}\0${name}`);
    const test = run === undefined ? 'none' : `${run.file}: ${cell(run.test)}`;
    return [`| ${command} | ${flag === undefined ? '' : spelling(name, flag)} | ${test} |`];
  });
}

const text = readFileSync(page, 'utf8');
const [before, rest = ''] = text.split(BEGIN);
const [table, after = ''] = rest.split(END);
const commands = await commandFlags();

if (process.argv.includes('--check')) {
  const lines = table.split('\n').filter((line) => line.startsWith('| '));
  const cells = lines.slice(1).map((line) => line.split(/(?<!\\)\|/).map((part) => part.trim()));
  const named = new Set(cells.map(([, command, flag]) => `${command} ${flag}`));
  const wanted = [...commands].flatMap(([command, flags]) =>
    Object.entries(flags).map(([name, flag]) => `${command} ${spelling(name, flag)}`),
  );
  const faults = [
    ...wanted.filter((row) => !named.has(row)).map((row) => `${row} is not in the table`),
    ...cells
      .filter(([, , , test = '']) => test !== 'none' && !existsSync(join(root, test.split(':')[0])))
      .map(([, command, flag, test]) => `${command} ${flag}: there is no ${test}`),
    ...cells
      .filter(([, , , test]) => test === 'none')
      .map(([, command, flag]) => `no test: ${command} ${flag}`),
  ];
  if (faults.length > 0) {
    process.stderr.write(`docs/crictl.md:\n${faults.map((fault) => `  ${fault}\n`).join('')}`);
    process.exitCode = 1;
  }
} else {
  const best = await bestTests(process.argv[2]);
  const body = [...commands].flatMap(([command, flags]) => rows(command, flags, best));
  const made = ['| command | flag | test |', '|---|---|---|', ...body].join('\n');
  writeFileSync(page, `${before.trimEnd()}\n\n${BEGIN}\n\n${made}\n\n${END}\n${after.trimStart()}`);
}
