import type {FileKind} from '../../base/tar/file-entry.js';
import {CopyError} from './file-system-view.js';

/** Source of a copy. */
export interface PlannedSource {
  readonly kind: FileKind;
  /** Last component of its path; undefined for a path such as `/` or `..`. */
  readonly name: string | undefined;
  /** True for `DIRECTORY/.`: the content of the directory is copied rather than the directory. */
  readonly isContent: boolean;
}

/** Destination of a copy. */
export interface PlannedDestination {
  readonly kind: 'directory' | 'other' | 'missing';
  /** Its path as in messages. */
  readonly shown: string;
  /** Last component of its path, with links followed; undefined for a path such as `/`. */
  readonly name: string | undefined;
  readonly endsWithSlash: boolean;
}

/** Place of a copy: a directory, and a name in it; an empty name is the directory itself. */
export interface CopyPlan {
  readonly directory: 'destination' | 'parent of destination';
  readonly name: string;
}

/** Returns the place of a copy, as docker cp and cp choose it. Throws CopyError. */
export function planCopy(source: PlannedSource, destination: PlannedDestination): CopyPlan {
  const isDirectory = source.kind === 'directory';
  if (destination.kind === 'directory') {
    const takesContent = isDirectory && (source.isContent || source.name === undefined);
    return {directory: 'destination', name: takesContent ? '' : (source.name ?? '')};
  }
  requireDestination(source, destination);
  return {directory: 'parent of destination', name: destination.name ?? ''};
}

/** Requires that the destination, which is not a directory, can be replaced or created. Throws CopyError. */
function requireDestination(
  source: PlannedSource,
  {kind, shown: text, endsWithSlash}: PlannedDestination,
): void {
  const shown = JSON.stringify(text);
  const isDirectory = source.kind === 'directory';
  if (kind === 'other' && isDirectory)
    throw new CopyError(`cannot copy a directory to ${shown}, which is not a directory`);
  if (kind === 'other' && endsWithSlash) throw new CopyError(`${shown} is not a directory`);
  if (kind === 'missing' && !isDirectory && endsWithSlash)
    throw new CopyError(`the directory ${shown} does not exist`, {
      hint: 'create it first, or omit the slash to give the file this name',
    });
}
