import {deprecationOf} from './as-kubelet.js';
import {isRemovedFlag} from './ignored-flags.js';
import {kubeletFlagDefault} from './kubelet-defaults.js';

/** Part of an oclif command that its help shows. */
export interface DescribedCommand {
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
  readonly flags: Readonly<Record<string, DescribedFlag>>;
}

interface DescribedFlag {
  readonly type: 'boolean' | 'option';
  readonly description?: string | undefined;
  readonly helpValue?: string | readonly string[] | undefined;
  readonly bare?: string;
}

const HELP: DescribedFlag = {type: 'boolean', description: 'Print help.'};

/** Formats the help under the name kubelet as pflag does: a line for each flag, in the order of their names. */
export function formatKubeletHelp({summary = '', description = '', flags}: DescribedCommand): string {
  const shown = Object.entries({...flags, help: HELP})
    .filter(([name]) => !isRemovedFlag(name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  const rows = shown.map(([name, flag]) => [titleOf(name, flag), textOf(name, flag)] as const);
  const width = Math.max(...rows.map(([title]) => title.length)) + 3;
  const lines = rows.map(([title, text]) => `${title.padEnd(width)}${text}\n`);
  return `${summary}\n\n${description}\n\nUsage:\n  kubelet [flags]\n\nFlags:\n${lines.join('')}`;
}

/** Flags with a letter of the same name, or of its first letter. */
const LETTERS: Readonly<Record<string, string>> = {help: '  -h, ', v: '  -v, '};

function titleOf(name: string, {type, helpValue, bare}: DescribedFlag): string {
  const value = type === 'boolean' ? '' : [helpValue ?? 'VALUE'].flat().join(',');
  const shown = value === '' ? '' : bare === undefined ? ` ${value}` : `[=${value}]`;
  return `${LETTERS[name] ?? '      '}--${name}${shown}`;
}

function textOf(name: string, {description = ''}: DescribedFlag): string {
  const [deprecation, byDefault] = [deprecationOf(name), kubeletFlagDefault(name)];
  const text =
    byDefault === undefined
      ? description
      : description.replace(/ \[default: .*\]$/, ` [default: ${byDefault}]`);
  return deprecation === undefined ? text : `${text} (DEPRECATED: ${deprecation})`;
}
