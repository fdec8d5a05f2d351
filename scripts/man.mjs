/**
 * Writes the manual pages to man/ from the built commands' own words: kcri.1, and one page a command. `--check`
 * writes nothing and exits 1 when the pages are stale.
 */
import {mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join, relative} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const commandsDir = join(root, 'dist/commands');
const {version} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const {GLOBAL_FLAGS} = await import(pathToFileURL(join(root, 'dist/cli/global-flags.js')).href);

function commandFiles(dir) {
  return readdirSync(dir, {withFileTypes: true})
    .flatMap((entry) => {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) return commandFiles(path);
      return entry.name.endsWith('.js') ? [path] : [];
    })
    .sort();
}

/** roff reads backslashes, and dots and quotes at the beginning of a line. */
const escape = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');

const header = (name) =>
  `.TH ${name.toUpperCase().replaceAll('-', '\\-')} 1 "November 2026" "kcri ${version}" "kcri manual"\n`;

function flagTerm(name, flag) {
  const value = flag.type === 'boolean' ? '' : ` ${flag.helpValue ?? flag.options?.join('|') ?? 'VALUE'}`;
  const short = flag.char === undefined ? '' : `\\fB\\-${flag.char}\\fR, `;
  return `${short}\\fB\\-\\-${escape(name)}\\fR${escape(value)}`;
}

function flagList(flags) {
  return Object.entries(flags)
    .filter(([, flag]) => flag.hidden !== true)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, flag]) => `.TP\n${flagTerm(name, flag)}\n${escape(flag.description ?? '')}\n`)
    .join('');
}

function argumentList(args) {
  return Object.entries(args)
    .map(([name, arg]) => `.TP\n\\fI${escape(name.toUpperCase())}\\fR\n${escape(arg.description ?? '')}\n`)
    .join('');
}

function commandPage(words, command) {
  const name = `kcri-${words.join('-')}`;
  const usage = typeof command.usage === 'string' ? command.usage : `${words.join(' ')} [OPTIONS]`;
  const aliases = command.aliases ?? [];
  const examples = (command.examples ?? [])
    .map((example) => `.PP\n.nf\n${escape(example.replaceAll('<%= config.bin %>', 'kcri'))}\n.fi\n`)
    .join('');
  const args = argumentList(command.args ?? {});
  const flags = flagList(command.flags ?? {});
  return [
    header(name),
    `.SH NAME\n${escape(name)} \\- ${escape(command.summary ?? '')}\n`,
    `.SH SYNOPSIS\n.B kcri\n${escape(usage)}\n`,
    command.description ? `.SH DESCRIPTION\n${escape(command.description)}\n` : '',
    aliases.length > 0 ? `.PP\nOther names: ${escape(aliases.join(', '))}.\n` : '',
    args === '' ? '' : `.SH ARGUMENTS\n${args}`,
    flags === '' ? '' : `.SH OPTIONS\n${flags}`,
    `The options of every command are in\n.BR kcri (1).\n`,
    examples === '' ? '' : `.SH EXAMPLES\n${examples}`,
    `.SH SEE ALSO\n.BR kcri (1)\n`,
  ].join('');
}

const EXIT_CODES = [
  ['0', 'Success.'],
  ['1', 'An error.'],
  ['3', 'No command of that name.'],
  ['124', 'The time limit of sync was reached.'],
  ['130', 'Ctrl-C.'],
  ['N', "With exec, and sync --wait complete: the container's own exit code."],
];
const FILES = [
  ['/etc/crictl.yaml', "crictl's config file, read when no other is named."],
  ['/var/lib/kcri', "The state of kcri's pods and its private runtime; see --root-dir."],
  ['/var/log/pods', 'Container logs.'],
];
const list = (rows) => rows.map(([term, text]) => `.TP\n\\fB${escape(term)}\\fR\n${escape(text)}\n`).join('');

function mainPage(commands) {
  return [
    header('kcri'),
    '.SH NAME\nkcri \\- talk to container runtimes, and run Pods on them as a kubelet does\n',
    '.SH SYNOPSIS\n.B kcri\n[GLOBAL OPTIONS] COMMAND [OPTIONS] [ARGUMENTS]\n',
    '.SH DESCRIPTION\n',
    escape(
      "kcri speaks CRI to containerd, CRI-O and other runtimes. It has crictl's commands, and runs Kubernetes Pod manifests without a cluster, with the CRI calls that a kubelet would make.",
    ),
    '\n.SH COMMANDS\n',
    list(commands.map(([words, command]) => [words.join(' '), command.summary ?? ''])),
    `.SH GLOBAL OPTIONS\n${flagList(GLOBAL_FLAGS)}`,
    `.SH EXIT STATUS\n${list(EXIT_CODES)}`,
    `.SH FILES\n${list(FILES)}`,
    `.SH SEE ALSO\n${commands.map(([words]) => `.BR ${escape(`kcri-${words.join('-')}`)} (1)`).join(',\n')}\n`,
  ].join('');
}

const commands = [];
for (const file of commandFiles(commandsDir)) {
  const {default: command} = await import(pathToFileURL(file).href);
  commands.push([relative(commandsDir, file).replace(/\.js$/, '').split('/'), command]);
}
const pages = new Map([
  ['kcri.1', mainPage(commands)],
  ...commands.map(([words, command]) => [`kcri-${words.join('-')}.1`, commandPage(words, command)]),
]);

const dir = join(root, 'man');
mkdirSync(dir, {recursive: true});
const present = readdirSync(dir).filter((name) => name.endsWith('.1'));
const superfluous = present.filter((name) => !pages.has(name));
if (process.argv.includes('--check')) {
  const stale = [...pages].filter(
    ([name, text]) => !present.includes(name) || readFileSync(join(dir, name), 'utf8') !== text,
  );
  const names = [...stale.map(([name]) => name), ...superfluous];
  if (names.length > 0) {
    process.stderr.write(`man/ is stale (${names.join(', ')}): run "npm run build && npm run man"\n`);
    process.exitCode = 1;
  }
} else {
  for (const [name, text] of pages) writeFileSync(join(dir, name), text);
  for (const name of superfluous) rmSync(join(dir, name));
  // npm installs the pages that are listed here; scripts/check-package.mjs compares.
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  manifest.man = [...pages.keys()].sort().map((name) => `./dist/man/${name}.gz`);
  writeFileSync(join(root, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}
