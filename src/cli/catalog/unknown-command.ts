import {findClosestMatch} from '../../base/closest-match.js';
import type {Dialect} from '../dialect/dialect.js';
import {commandNames, isTopic, subcommandNames} from './find-command.js';
import {UnknownCommandError} from '../parsing/usage-errors.js';

const SYNC = 'use "kcri sync FILE"';
const EDIT = 'change the manifest and run "kcri sync FILE"';

/** Hints for commands of kubectl, docker and podman that have another name here. */
const OF_OTHER_TOOLS: Readonly<Record<string, string>> = {
  apply: SYNC,
  build: 'build the image with another tool and run "kcri image load ARCHIVE"',
  compose: SYNC,
  down: 'use "kcri delete FILE"',
  edit: EDIT,
  kill: 'use "kcri stop --timeout=0 CONTAINER"',
  kube: SYNC,
  load: 'use "kcri image load ARCHIVE"',
  patch: EDIT,
  play: SYNC,
  replace: 'use "kcri sync --replace FILE"',
  rollout: 'use "kcri restart deployment/NAME", or "kcri wait deployment/NAME --for=condition=Ready"',
  save: 'use "kcri image save IMAGE"',
  scale: 'use "kcri sync FILE --replicas=COUNT"',
  tag: 'use "kcri image tag SOURCE TARGET"',
  up: SYNC,
};

/** Returns the error for words that are no command, with the closest name as a hint. */
export function unknownCommandError(words: readonly string[], dialect: Dialect): UnknownCommandError {
  const [first = ''] = words;
  if (Object.hasOwn(OF_OTHER_TOOLS, first))
    return new UnknownCommandError(dialect.unknownCommandText(words), OF_OTHER_TOOLS[first]);
  const inTopic = words.length > 1 && isTopic(first);
  const names = inTopic ? subcommandNames(first).map((name) => `${first} ${name}`) : commandNames();
  const guess = findClosestMatch(words.join(' '), names);
  const list = isTopic(first) ? `kcri ${first} --help` : 'kcri --help';
  const hint = guess === undefined ? `"${list}" lists all commands` : `did you mean "kcri ${guess}"?`;
  return new UnknownCommandError(dialect.unknownCommandText(words), hint);
}
