/**
 * Writes the manual pages to man/ from the texts of the built commands: kcri.1, and one page per command. With
 * `--check` it writes nothing and exits with 1 if the pages are stale.
 */
import {mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {dirname, join, relative} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const commandsDir = join(root, 'dist/commands');
const {version} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const {GLOBAL_FLAGS} = await import(pathToFileURL(join(root, 'dist/cli/flags/global-flags.js')).href);

function commandFiles(dir) {
  return readdirSync(dir, {withFileTypes: true})
    .flatMap((entry) => {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) return commandFiles(path);
      return entry.name.endsWith('.js') ? [path] : [];
    })
    .sort();
}

/** Escapes characters that roff interprets: backslashes, and dots and quotes at the start of a line. */
const escape = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');

/** Separates paragraphs with a roff macro. */
const paragraphs = (text) => escape(text).split('\n\n').join('\n.PP\n');

const header = (name) =>
  `.TH ${name.toUpperCase().replaceAll('-', '\\-')} 1 "November 2026" "kcri ${version}" "kcri manual"\n`;

function flagTerm(name, flag) {
  const value = flag.type === 'boolean' ? '' : `=\\fI${escape(flag.helpValue ?? 'VALUE')}\\fR`;
  const short = flag.char === undefined ? '' : `\\fB\\-${flag.char}\\fR, `;
  return `${short}\\fB\\-\\-${escape(name)}\\fR${value}`;
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
  const usage = typeof command.usage === 'string' ? command.usage : `${words.join(' ')} [FLAGS]`;
  const aliases = command.aliases ?? [];
  const examples = (command.examples ?? [])
    .map((example) => `.PP\n.EX\n${escape(example.replaceAll('<%= config.bin %>', 'kcri'))}\n.EE\n`)
    .join('');
  const args = argumentList(command.args ?? {});
  const isOptions = name === 'kcri-options';
  const flags = flagList(isOptions ? GLOBAL_FLAGS : (command.flags ?? {}));
  return [
    header(name),
    `.SH NAME\n${escape(name)} \\- ${escape(command.summary ?? '')}\n`,
    `.SH SYNOPSIS\n.B kcri\n${escape(usage)}\n`,
    command.description ? `.SH DESCRIPTION\n${paragraphs(command.description)}\n` : '',
    aliases.length > 0 ? `.SH ALIASES\n${escape(aliases.join(', '))}\n` : '',
    args === '' ? '' : `.SH ARGUMENTS\n${args}`,
    flags === '' ? '' : `.SH ${isOptions ? 'GLOBAL OPTIONS' : 'OPTIONS'}\n${flags}`,
    isOptions ? '' : GLOBAL_OPTIONS,
    examples === '' ? '' : `.SH EXAMPLES\n${examples}`,
    `.SH SEE ALSO\n.BR kcri (1)\n`,
  ].join('');
}

const GLOBAL_OPTIONS =
  '.SH GLOBAL OPTIONS\nFor the flags that all commands accept, see\n.BR kcri\\-options (1).\n';

const EXIT_CODES = [
  ['0', 'Success.'],
  ['1', 'Error.'],
  ['3', 'Unknown command.'],
  ['124', 'Timeout of sync.'],
  ['130', 'Interrupted by Ctrl-C.'],
  ['N', 'Exit code of the container, for exec, attach and sync --wait=complete.'],
];
const FILES = [
  ['/etc/crictl.yaml', 'Default config file, the same as that of crictl.'],
  ['/var/lib/kcri', 'Default root directory: state of the pods and of the private containerd.'],
  ['/var/log/pods', 'Container logs.'],
];
const list = (rows) => rows.map(([term, text]) => `.TP\n\\fB${escape(term)}\\fR\n${escape(text)}\n`).join('');

function mainPage(commands) {
  return [
    header('kcri'),
    '.SH NAME\nkcri \\- CRI client, drop-in replacement for crictl, and kubelet\n',
    '.SH SYNOPSIS\n.B kcri\n[GLOBAL FLAGS] COMMAND [FLAGS] [ARGUMENTS]\n',
    '.SH DESCRIPTION\n',
    escape(
      'kcri talks to containerd, CRI-O and other container runtimes through the Container Runtime Interface (CRI). It has all commands of crictl, and it runs Kubernetes Pods, from manifests or as a node of a cluster, with the CRI calls that a kubelet makes.',
    ),
    '\n.SH COMMANDS\n',
    list(commands.map(([words, command]) => [words.join(' '), command.summary ?? ''])),
    GLOBAL_OPTIONS,
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
    process.stderr.write(`man/ is stale (${names.join(', ')}): run "npm run regenerate"\n`);
    process.exitCode = 1;
  }
} else {
  for (const [name, text] of pages) writeFileSync(join(dir, name), text);
  for (const name of superfluous) rmSync(join(dir, name));
  // npm installs the listed pages; scripts/check-package.mjs checks the list.
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  manifest.man = [...pages.keys()].sort().map((name) => `./dist/man/${name}.gz`);
  writeFileSync(join(root, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}
