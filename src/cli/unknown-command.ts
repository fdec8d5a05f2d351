import {findClosestMatch} from '../base/closest-match.js';
import type {Dialect} from './dialect.js';
import {commandNames, isTopic, subcommandNames} from './find-command.js';
import {UnknownCommandError} from './usage-errors.js';

/** Returns the error for words that are no command, with the closest name as a hint. */
export function unknownCommandError(words: readonly string[], dialect: Dialect): UnknownCommandError {
  const [first = ''] = words;
  const inTopic = words.length > 1 && isTopic(first);
  const names = inTopic ? subcommandNames(first).map((name) => `${first} ${name}`) : commandNames();
  const guess = findClosestMatch(words.join(' '), names);
  const list = isTopic(first) ? `kcri ${first} --help` : 'kcri --help';
  const hint = guess === undefined ? `"${list}" lists all commands` : `did you mean "kcri ${guess}"?`;
  return new UnknownCommandError(dialect.unknownCommandText(words), hint);
}
