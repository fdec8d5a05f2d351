import * as Args from '@oclif/core/args';
import {UsageError} from '../../base/errors.js';
import {ArgumentsError, ConflictError} from '../parsing/usage-errors.js';

/** Argument `CONTAINER...`: IDs, ID prefixes, names, `pod/name`, images. */
export const containerArgs = {
  container: Args.string({
    multiple: true,
    ignoreStdin: true,
    description: 'ID, ID prefix, name, POD/NAME, or an image that only one container uses.',
  }),
};

/** Argument `CONTAINER...` of commands that accept pods too. */
export const containerOrPodArgs = {
  container: Args.string({
    multiple: true,
    ignoreStdin: true,
    description:
      'ID, ID prefix, name, POD/NAME, or an image that only one container uses; or a pod, or a workload such as ' +
      'deployment/web.',
  }),
};

/** Argument `POD...`: IDs, ID prefixes, names, `namespace/name`, UIDs. */
export const podArgs = {
  pod: Args.string({
    multiple: true,
    ignoreStdin: true,
    description: 'ID, ID prefix, name, NAMESPACE/NAME, or UID of a pod.',
  }),
};

/** Argument `IMAGE...`: names or IDs. */
export const imageArgs = {
  image: Args.string({multiple: true, ignoreStdin: true, description: 'Name or ID of an image.'}),
};

/** Kinds of objects that arguments name. */
export type ArgumentNoun = 'container' | 'container or a pod' | 'pod' | 'image';

/** Returns the arguments. Throws UsageError, with crictl's text as its message, without any. */
export function requireArguments(
  words: readonly string[] | undefined,
  noun: ArgumentNoun,
): readonly string[] {
  if (words === undefined || words.length === 0) throw missingArgument(noun);
  return words;
}

/** Returns the arguments. Throws ArgumentsError without any: crictl then shows its help. */
export function requireArgumentsOrHelp(
  words: readonly string[] | undefined,
  noun: ArgumentNoun,
): readonly string[] {
  if (words === undefined || words.length === 0) throw new ArgumentsError(NO_ID, {plain: missingText(noun)});
  return words;
}

/** Returns the error for a missing or empty argument, with crictl's text as its message. */
export function missingArgument(noun: ArgumentNoun): UsageError {
  return new UsageError(NO_ID, {plain: missingText(noun)});
}

function missingText(noun: ArgumentNoun): string {
  return `specify ${noun === 'image' ? 'an' : 'a'} ${noun}`;
}

/** Throws ConflictError if both arguments and `--all` are given. */
export function rejectArgumentsWithAll(
  words: readonly string[] | undefined,
  flags: {readonly all: boolean},
): void {
  const [word] = words ?? [];
  if (flags.all && word !== undefined)
    throw new ConflictError(`cannot use "${word}" together with --all`, {
      hint: 'specify either names or --all',
    });
}

/** Reports whether the word means "list all", as in docker and ctr: `images ls`. */
export function isListAlias(word: string | undefined): boolean {
  return word === 'ls' || word === 'list';
}

const NO_ID = 'ID cannot be empty';
