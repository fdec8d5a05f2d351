import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {commandPaths} from './commands.mjs';

/**
 * Resolves to the manual pages by file name: `kcri.1`, which man/kcri.1.in begins, and a page per command from its texts in
 * dist.
 *
 * @param {string} root the checkout
 * @returns {Promise<ReadonlyMap<string, string>>}
 */
export async function manualPages(root) {
  const load = (file) => import(pathToFileURL(join(root, 'dist', file)).href);
  const {version} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const {GLOBAL_FLAGS: globalFlags} = await load('cli/flags/global-flags.js');
  const commands = [];
  for (const path of commandPaths(root))
    commands.push([path.split('/'), (await load(`commands/${path}.js`)).default]);
  const template = readFileSync(join(root, 'man/kcri.1.in'), 'utf8');
  return new Map([
    ['kcri.1', mainPage(template, commands, version)],
    ...commands.map(([words, command]) => [
      `${pageName(words)}.1`,
      commandPage(words, command, {version, globalFlags}),
    ]),
  ]);
}

/** Returns the page of kcri: the template with the version and the commands. */
export function mainPage(template, commands, version) {
  const summaries = commands.map(
    ([words, command]) => `.TP\n\\fB${escape(words.join(' '))}\\fR\n${escape(command.summary ?? '')}`,
  );
  const pages = commands.map(([words]) => `.BR ${escape(pageName(words))} (1)`);
  const values = {VERSION: version, COMMANDS: summaries.join('\n'), PAGES: pages.join(',\n')};
  return template.replace(/@([A-Z]+)@/g, (_, name) => values[name]);
}

const pageName = (words) => `kcri-${words.join('-')}`;

/** Escapes characters that roff interprets: backslashes, and dots and quotes at the start of a line. */
const escape = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');

/** Separates paragraphs with a roff macro. */
const paragraphs = (text) => escape(text).split('\n\n').join('\n.PP\n');

const header = (name, version) =>
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

/** Returns the page of a command. That of `options` describes the flags of all commands. */
export function commandPage(words, command, {version, globalFlags}) {
  const name = pageName(words);
  const usage = typeof command.usage === 'string' ? command.usage : `${words.join(' ')} [FLAGS]`;
  const aliases = command.aliases ?? [];
  const examples = (command.examples ?? [])
    .map((example) => `.PP\n.EX\n${escape(example.replaceAll('<%= config.bin %>', 'kcri'))}\n.EE\n`)
    .join('');
  const args = argumentList(command.args ?? {});
  const isOptions = name === 'kcri-options';
  const flags = flagList(isOptions ? globalFlags : (command.flags ?? {}));
  return [
    header(name, version),
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
