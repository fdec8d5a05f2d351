import {readFile, writeFile} from 'node:fs/promises';
import {runProgram} from './run-program.js';

/** Flags that crictl's help lists for each command, in all their spellings, without `--help`. */
export type HelpFlags = Readonly<Record<string, readonly string[]>>;

const FILE = 'test/compat/help-flags.json';

const COMMANDS = [
  ...[
    'attach',
    'checkpoint',
    'completion',
    'config',
    'create',
    'create jsonschema',
    'events',
    'exec',
    'images',
  ],
  ...['imagefsinfo', 'info', 'inspect', 'inspecti', 'inspectp', 'logs', 'metricdescs', 'metricsp', 'pods'],
  ...['port-forward', 'ps', 'pull', 'pull jsonschema', 'rm', 'rmi', 'rmp', 'run', 'run jsonschema', 'runp'],
  ...['runp jsonschema', 'runtime-config', 'start', 'stats', 'statsp', 'stop', 'stopp', 'update'],
  ...['update-runtime-config', 'version'],
];

/** Records the flags that the crictl at `crictl` lists. */
export async function recordHelpFlags(crictl: string): Promise<void> {
  const entries: [string, readonly string[]][] = [];
  for (const command of COMMANDS) {
    const {stdout} = await runProgram(crictl, {words: [...command.split(' '), '--help'], env: {}});
    entries.push([command, flagsOfCrictl(stdout)]);
  }
  await writeFile(FILE, `${JSON.stringify(Object.fromEntries(entries), undefined, 1)}\n`);
}

/** Reads what recordHelpFlags wrote. */
export async function readHelpFlags(): Promise<HelpFlags> {
  return JSON.parse(await readFile(FILE, 'utf8')) as HelpFlags;
}

function flagsOfCrictl(help: string): readonly string[] {
  const [, options = ''] = help.split('\nOPTIONS:\n');
  const names = [...options.matchAll(/^ {3}(-.*?)(?: {2}|$)/gm)].flatMap(([, all = '']) =>
    all.split(', ').map((name) => name.replace(/ .*/, '')),
  );
  // A flag that can be repeated is listed twice.
  return [...new Set(names)].filter((name) => name !== '--help' && name !== '-h').toSorted();
}

/** Returns the flags that kcri's help lists, in all their spellings. */
export function flagsOfKcri(help: string): readonly string[] {
  const [, flags = ''] = help.split('\nFLAGS\n');
  const listed = [...flags.matchAll(/^ {2}(?: {4})?(?:(-\w)(?:, )?)?(--[\w-]+)?/gm)];
  const aliases = [...flags.matchAll(/Also\s+(--[\w-]+)\./g)].map(([, alias = '']) => alias);
  return [...listed.flatMap(([, short, long]) => [short ?? '', long ?? '']), ...aliases]
    .filter((name) => name !== '')
    .toSorted();
}
