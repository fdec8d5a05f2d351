import type {FlagShape} from '../../src/cli/parsing/tokenize.js';
import {GLOBAL_FLAGS} from '../../src/cli/flags/global-flags.js';
import {findCommand} from '../../src/cli/catalog/find-command.js';
import {noteOmission, readOmittedSubject} from './omitted-subject.js';

/** Returns the command line, without the flag that `npm run prove` takes away. */
export async function omitProvenFlag(args: readonly string[]): Promise<readonly string[]> {
  const [, words, name] = /^(.+) --(.+)$/.exec(readOmittedSubject() ?? '') ?? [];
  if (words === undefined || name === undefined) return args;
  const flag = (await flagsOf(words, args))?.[name];
  return flag === undefined ? args : omitFlag(args, name, flag);
}

async function flagsOf(
  words: string,
  args: readonly string[],
): Promise<Readonly<Record<string, FlagShape>> | undefined> {
  if (words === 'kcri') return GLOBAL_FLAGS;
  const plain = args.filter((arg) => !arg.startsWith('-'));
  // The values of global flags before the command, such as a root directory, are no commands.
  const starts = plain.map((_, index) => findCommand(plain.slice(index)));
  const found = starts.find((each) => each !== undefined);
  if (found?.words.join(' ') !== words) return undefined;
  const command: object = await found.load();
  return (command as {flags?: Readonly<Record<string, FlagShape>>}).flags;
}

function omitFlag(
  args: readonly string[],
  name: string,
  {type, char, aliases, charAliases}: FlagShape,
): string[] {
  const spellings = [
    name,
    ...(aliases ?? []),
    ...[char, ...(charAliases ?? [])].filter((each) => each !== undefined),
  ];
  const isSpelling = (text: string): boolean => spellings.includes(text.replace(/^--?/, ''));
  const kept: string[] = [];
  for (let index = 0; index < args.length; index++) {
    const arg = args[index]!;
    if (arg === '--') return [...kept, ...args.slice(index)];
    if (!arg.startsWith('-') || !isSpelling(arg.split('=')[0]!)) kept.push(arg);
    else {
      noteOmission();
      if (type === 'option' && !arg.includes('=')) index++;
    }
  }
  return kept;
}
