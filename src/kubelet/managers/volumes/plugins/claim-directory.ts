import {join} from 'node:path';
import type {PersistentVolumeClaimVolumeSource} from '../../../../api/types/v1-attached-volumes.js';
import {validatePathSegment} from '../../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../../base/fs/make-directory-path.js';
import {claimsDir, type NodeFacts} from '../../../contract/node-facts.js';
import {podRef} from '../../../contract/pod-ref.js';
import {setVolumeOwnership} from '../fs-group-ownership.js';
import type {PodVolume, VolumePlugin} from './volume-plugin.js';

/** Mode of the directories above a claim, which keeps other users of the node out. */
const PARENT_MODE = 0o700;
/** Mode of a claim: any user of a container may write, as in an emptyDir. */
const CLAIM_MODE = 0o777;

/**
 * Plugin for PersistentVolumeClaims without an API server: each is a directory `<rootDir>/claims/<namespace>/<name>`,
 * which is created for its first pod and remains when the pod is deleted. Capacity and access modes are not enforced.
 */
export const claimDirectory: VolumePlugin<PersistentVolumeClaimVolumeSource> = {
  name: 'kcri/claim-directory',
  readOnly: false,
  path: claimPath,
  setUp: async ({node}, volume) => {
    const path = claimPath(node, volume);
    await makeDirectoryPath(join(path, '..'), PARENT_MODE);
    await makeDirectoryPath(path, CLAIM_MODE);
    const {fsGroup, fsGroupChangePolicy} = volume.pod.spec.securityContext ?? {};
    if (volume.readOnly === true) return;
    const onlyOnRootMismatch = fsGroupChangePolicy === 'OnRootMismatch';
    await setVolumeOwnership(path, {fsGroup, readOnly: false, onlyOnRootMismatch});
  },
};

function claimPath(
  node: Pick<NodeFacts, 'rootDir'>,
  {pod, source: {claimName}}: PodVolume<PersistentVolumeClaimVolumeSource>,
): string {
  const {namespace} = podRef(pod);
  return join(
    claimsDir(node),
    validatePathSegment('namespace', namespace),
    validatePathSegment('claim name', claimName),
  );
}
