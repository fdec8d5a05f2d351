import type {Command} from '@oclif/core/command';
import type {ScopedFlags} from '../dialect/dialect.js';
import {listCrictlFormats} from './crictl-output-format.js';
import {withoutKcriFlags} from './kcri-flags.js';

/** Usage lines of commands of which crictl has only one form. */
const USAGES: Readonly<Record<string, string>> = {
  run: 'run CONTAINER-CONFIG POD-CONFIG [FLAGS]',
  runp: 'runp POD-CONFIG [FLAGS]',
};

type HelpFlags = Command.Loadable['flags'];

/**
 * Returns a command as its help under the name crictl shows it: its usage, and all flags that it has there. What kcri's
 * help says about names, filters and other commands does not apply.
 */
export async function asCrictlCommand(command: Command.Loadable): Promise<Command.Loadable> {
  const name = command.id.replaceAll(':', ' ');
  // oclif's description of a command has no marks of kcri's own flags.
  const {flags} = (await command.load()) as {readonly flags?: ScopedFlags};
  const shown = Object.keys(withoutKcriFlags(name, flags ?? {})).flatMap((each) => {
    const flag = command.flags[each];
    return flag === undefined ? [] : [[each, asCrictlFlag(name, {...flag, name: each})] as const];
  });
  return {
    ...command,
    description: '',
    aliases: [],
    args: {},
    examples: [],
    usage: flagsFirst(USAGES[name] ?? (typeof command.usage === 'string' ? command.usage : name), name),
    flags: {...Object.fromEntries(shown), ...globalFlags(command)},
  };
}

/** Returns the flags that only the list of global flags shows. */
function globalFlags({flags}: Command.Loadable): HelpFlags {
  return Object.fromEntries(Object.entries(flags).filter(([, {helpGroup}]) => helpGroup === 'GLOBAL'));
}

/** In crictl, flags precede arguments. */
function flagsFirst(usage: string, name: string): string {
  const rest = usage.slice(name.length).replace(' [FLAGS]', '');
  return `${name} [FLAGS]${rest}`;
}

function asCrictlFlag(command: string, flag: HelpFlags[string]): HelpFlags[string] {
  const {aliases = [], charAliases: [letter] = [], description = '', name} = flag;
  const {char = letter} = flag;
  const also = aliases.map((alias) => ` Also --${alias}.`).join('');
  const shown = {...flag, hidden: false, description: describe(command, name, description) + also};
  return char === undefined ? shown : {...shown, char};
}

function describe(command: string, flag: string, description: string): string {
  if (flag === 'template') return 'Go template for -o go-template.';
  if (flag !== 'output') return description;
  return description.replace(/(?<=One of: )[^.]*/, (formats) =>
    listCrictlFormats(command, formats.split(', ')).join(', '),
  );
}
