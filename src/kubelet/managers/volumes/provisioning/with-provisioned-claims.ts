import type {Pod} from '../../../../api/types/v1-pod.js';
import type {Volume} from '../../../../api/types/v1-volumes.js';
import {usedVolumes, volumeUses} from '../../../../api/used-volumes.js';
import {SystemError} from '../../../../base/errors.js';
import {checkVolumeMode} from '../../../contract/volumes/check-volume-mode.js';
import type {ApiObjects} from '../../../contract/api-objects.js';
import type {ClaimToProvision} from '../../../contract/volumes/claimed-volume.js';
import type {BoundVolume, VolumeProvisioner} from './volume-provisioner.js';

/** Returns objects whose claims have the volumes that drivers create for them when the objects of a pod are read. */
export function withProvisionedClaims(
  objects: ApiObjects,
  provisioner: Pick<VolumeProvisioner, 'provision' | 'boundVolume'>,
): ApiObjects {
  const claimToProvision = (pod: Pod, volume: Volume): ClaimToProvision | undefined =>
    objects.claimToProvision?.(pod, volume);
  const results = new WeakMap<Pod, Map<string, BoundVolume | SystemError>>();
  return {
    ...objects,
    load: async (pod, use, signal) => {
      await objects.load?.(pod, use, signal);
      const found = new Map<string, BoundVolume | SystemError>();
      results.set(pod, found);
      const {events = () => undefined} = use;
      for (const volume of usedVolumes(pod)) {
        const claim = claimToProvision(pod, volume);
        if (claim === undefined) continue;
        try {
          found.set(volume.name, await provisioner.provision(pod, claim, events, signal));
        } catch (error) {
          signal.throwIfAborted();
          if (!(error instanceof SystemError)) throw error;
          found.set(volume.name, error);
        }
      }
    },
    claimedVolume: (pod, volume) => {
      const claim = claimToProvision(pod, volume);
      if (claim === undefined) return objects.claimedVolume?.(pod, volume);
      // Statistics are of the pod as it is in its record.
      const result = results.get(pod)?.get(volume.name) ?? provisioner.boundVolume(claim);
      if (result === undefined) throw notProvisioned(volume, claim);
      if (result instanceof SystemError) throw result;
      checkVolumeMode(result.volume, volume.name, volumeUses(pod));
      return {...result, readOnly: claim.readOnly, isOnNode: true};
    },
  };
}

function notProvisioned({name}: Volume, claim: ClaimToProvision): SystemError {
  return new SystemError(`the claim "${claim.name}" of the volume "${name}" is not provisioned yet`);
}
