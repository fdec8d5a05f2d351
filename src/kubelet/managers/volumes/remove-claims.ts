import {lstat, rmdir} from 'node:fs/promises';
import {join} from 'node:path';
import type {Pod} from '../../../api/types/v1-pod.js';
import {hasErrno} from '../../../base/errors.js';
import {ifPresent, validatePathSegment, withFileErrors} from '../../../base/fs/files.js';
import {removeTree} from '../../../base/fs/remove-tree.js';
import {claimsDir, type NodeFacts} from '../../contract/node-facts.js';
import {podRef} from '../../contract/pod-ref.js';

/** Returns the claims of a pod as `namespace/name`. */
export function claimsOf(pod: Pod): readonly string[] {
  const {namespace} = podRef(pod);
  return (pod.spec.volumes ?? []).flatMap(({persistentVolumeClaim: claim}) =>
    claim === undefined ? [] : [`${namespace}/${claim.claimName}`],
  );
}

/**
 * Removes the directories of claims, `namespace/name`, with their content, and returns the claims that had one. Never
 * follows links and never crosses a mount point, which ends the removal with an error. Rejects with SystemError.
 */
export async function removeClaims(
  node: Pick<NodeFacts, 'rootDir'>,
  claims: Iterable<string>,
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const claim of claims) {
    const [namespace = '', name = ''] = claim.split('/');
    const parent = join(claimsDir(node), validatePathSegment('namespace', namespace));
    const path = join(parent, validatePathSegment('claim name', name));
    if ((await withFileErrors('reading', path, () => ifPresent(() => lstat(path)))) === undefined) continue;
    await removeTree(path);
    removed.push(claim);
    await withFileErrors('removing', parent, async () => {
      try {
        await rmdir(parent);
      } catch (error) {
        if (!hasErrno(error, 'ENOTEMPTY', 'ENOENT')) throw error;
      }
    });
  }
  return removed;
}
