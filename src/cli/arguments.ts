import * as Args from '@oclif/core/args';
import {UsageError} from '../base/errors.js';
import {ArgumentsError, ConflictError} from './usage-errors.js';

/** `CONTAINER…`: ids, beginnings of ids, names, `pod/name`, images. */
export const containerArgs = {
  container: Args.string({
    multiple: true,
    ignoreStdin: true,
    description: 'Id, beginning of an id, name, POD/NAME, or image that only one container runs.',
  }),
};

/** `POD…`: ids, beginnings of ids, names, `namespace/name`, UIDs. */
export const podArgs = {
  pod: Args.string({
    multiple: true,
    ignoreStdin: true,
    description: 'Id, beginning of an id, name, NAMESPACE/NAME, or UID of a pod.',
  }),
};

/** `IMAGE…`: names or ids. */
export const imageArgs = {
  image: Args.string({multiple: true, ignoreStdin: true, description: 'Name or id.'}),
};

/** The words given, at least one. Throws UsageError in crictl's words. */
export function atLeastOne(words: readonly string[] | undefined): readonly string[] {
  if (words === undefined || words.length === 0) throw new UsageError(NO_ID);
  return words;
}

/** The same where crictl shows its help instead. Throws ArgumentsError. */
export function atLeastOneOrHelp(words: readonly string[] | undefined): readonly string[] {
  if (words === undefined || words.length === 0) throw new ArgumentsError(NO_ID);
  return words;
}

/** Throws ConflictError for words beside `--all`: whoever names something does not mean everything. */
export function noWordsBesideAll(words: readonly string[] | undefined, flags: {readonly all: boolean}): void {
  const [word] = words ?? [];
  if (flags.all && word !== undefined)
    throw new ConflictError(`"${word}" is named beside --all`, {hint: 'leave out one of them'});
}

/** People write `images ls`, as with docker and ctr, and mean all of them. */
export function isListWord(word: string | undefined): boolean {
  return word === 'ls' || word === 'list';
}

const NO_ID = 'ID cannot be empty';
