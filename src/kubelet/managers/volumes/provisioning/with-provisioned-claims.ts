import type {Pod} from '../../../../api/types/v1-pod.js';
import type {Volume} from '../../../../api/types/v1-volumes.js';
import {usedVolumes, volumeUses} from '../../../../api/used-volumes.js';
import {SystemError} from '../../../../base/errors.js';
import {checkVolumeMode} from '../../../contract/volumes/check-volume-mode.js';
import {attributesClassOf, type ApiObjects} from '../../../contract/api-objects.js';
import type {ClaimToProvision} from '../../../contract/volumes/claimed-volume.js';
import type {BoundVolume, VolumeProvisioner} from './volume-provisioner.js';

/**
 * Returns objects whose claims have the volumes that drivers create for them when the objects of a pod are read. A claim keeps its
 * volume also if its manifest, changed later, would give it a directory or another PersistentVolume: the API server refuses such changes.
 */
export function withProvisionedClaims(
  objects: ApiObjects,
  provisioner: Pick<VolumeProvisioner, 'provision' | 'boundVolume' | 'isProvisioned'>,
): ApiObjects {
  const results = new WeakMap<Pod, Map<string, BoundVolume | SystemError>>();
  return {
    ...objects,
    load: async (pod, use, signal) => {
      await objects.load?.(pod, use, signal);
      const found = new Map<string, BoundVolume | SystemError>();
      results.set(pod, found);
      const {events = () => undefined} = use;
      for (const volume of usedVolumes(pod)) {
        const claim =
          objects.claimToProvision?.(pod, volume) ??
          (await findProvisioned(pod, volume, {objects, provisioner}));
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
      const claim = objects.claimToProvision?.(pod, volume);
      const ref = claim ?? manifestClaim(pod, volume, objects);
      // Statistics are of the pod as it is in its record.
      const result = results.get(pod)?.get(volume.name) ?? (ref && provisioner.boundVolume(ref));
      if (result === undefined) {
        if (claim === undefined) return objects.claimedVolume?.(pod, volume);
        throw notProvisioned(volume, claim);
      }
      if (result instanceof SystemError) throw result;
      checkVolumeMode(result.volume, volume.name, volumeUses(pod));
      return {...result, readOnly: ref?.readOnly === true, isOnNode: true};
    },
  };
}

/** Returns the claim of a volume as it is in the manifests, if a driver has created a volume for it before. */
async function findProvisioned(
  pod: Pod,
  volume: Volume,
  {
    objects,
    provisioner,
  }: {
    readonly objects: Pick<ApiObjects, 'claimSpec' | 'volumeAttributesClass'>;
    readonly provisioner: Pick<VolumeProvisioner, 'isProvisioned'>;
  },
): Promise<ClaimToProvision | undefined> {
  const claim = manifestClaim(pod, volume, objects);
  return claim !== undefined && (await provisioner.isProvisioned(claim)) ? claim : undefined;
}

function manifestClaim(
  {metadata: {namespace = 'default'}}: Pod,
  {persistentVolumeClaim: source}: Volume,
  objects: Pick<ApiObjects, 'claimSpec' | 'volumeAttributesClass'>,
): ClaimToProvision | undefined {
  const spec = source && objects.claimSpec?.(namespace, source.claimName);
  if (source === undefined || spec === undefined) return undefined;
  return {
    namespace,
    name: source.claimName,
    spec,
    storageClass: undefined,
    attributesClass: attributesClassOf({spec}, objects),
    readOnly: source.readOnly === true,
  };
}

function notProvisioned({name}: Volume, claim: ClaimToProvision): SystemError {
  return new SystemError(`the claim "${claim.name}" of the volume "${name}" is not provisioned yet`);
}
