import {SystemError} from '../../../../base/errors.js';
import type {ApiObjects} from '../../../contract/api-objects.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import {classNotFound, newVolumeFor, persistentVolumeOf} from './provisioned-pv.js';
import {findBoundVolume, ProvisionedVolumeStore} from './provisioned-volume-store.js';
import {withProvisionedClaims} from './with-provisioned-claims.js';

/**
 * Returns objects whose claims have the volumes that were created for them, or those that drivers would be asked for, whose names
 * are not known yet. Nothing is created; `offline` assumes that nothing was.
 */
export function withPlannedClaims(
  objects: ApiObjects,
  {rootDir}: Pick<NodeFacts, 'rootDir'>,
  offline: boolean,
): ApiObjects {
  const store = new ProvisionedVolumeStore(rootDir);
  return withProvisionedClaims(objects, {
    provision: async (_pod, claim) => {
      const known = findBoundVolume(offline ? [] : await store.list(), claim);
      if (known?.volume !== undefined) return {volume: known.volume, claimSize: undefined, isGrowing: false};
      const {storageClass} = claim;
      if (storageClass === undefined) throw new SystemError(...classNotFound(claim));
      const request = newVolumeFor('pvc-UUID', claim, storageClass);
      const created = {handle: '', bytes: 0n, attributes: {}};
      return {
        volume: persistentVolumeOf(request, created, claim, storageClass),
        claimSize: undefined,
        isGrowing: false,
      };
    },
    boundVolume: () => undefined,
  });
}
