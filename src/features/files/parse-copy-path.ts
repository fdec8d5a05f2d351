import {UsageError} from '../../base/errors.js';

/** A path on the command line: standard input or output, a local path, or a path in a container. */
export type CopyPathWord =
  | {readonly kind: 'stream'}
  | {readonly kind: 'local'; readonly path: string}
  | {readonly kind: 'container'; readonly ref: string; readonly path: string};

function parseCopyPath(word: string): CopyPathWord {
  if (word === '')
    throw new UsageError('the path must not be empty', {hint: 'use CONTAINER:PATH or a local path'});
  if (word === '-') return {kind: 'stream'};
  const colon = word.indexOf(':');
  if (colon < 0 || word.startsWith('/') || word.startsWith('.')) return {kind: 'local', path: word};
  const [ref, path] = [word.slice(0, colon), word.slice(colon + 1)];
  if (ref === '')
    throw new UsageError(`the path "${word}" has no container before the colon`, {
      hint: `use CONTAINER:PATH, or "./${word}" for a local file`,
    });
  if (path === '')
    throw new UsageError(`the path "${word}" is incomplete`, {hint: `use "${word}/" for the root directory`});
  if (path.includes('\0')) throw new UsageError('a path cannot contain a NUL character');
  return {kind: 'container', ref, path};
}

/**
 * Parses the two paths of a copy as docker cp does: `CONTAINER:PATH`, `-`, or a local path. A local path that contains a
 * colon must start with `/` or `.`. Throws UsageError unless one of them is in a container.
 */
export function parseCopyPaths(words: readonly string[]): readonly [CopyPathWord, CopyPathWord] {
  const [source, destination] = words;
  if (source === undefined || destination === undefined || words.length > 2)
    throw new UsageError('cp requires exactly two paths', {hint: 'use "kcri cp SOURCE DESTINATION"'});
  const paths = [parseCopyPath(source), parseCopyPath(destination)] as const;
  if (!paths.some(({kind}) => kind === 'container'))
    throw new UsageError('one of the paths must be in a container', {
      hint: 'use CONTAINER:PATH, POD:PATH or POD/CONTAINER:PATH',
    });
  return paths;
}
