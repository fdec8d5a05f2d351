import {SystemError} from '../../../../base/errors.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import {ProvisionedVolumeStore, type ProvisionedVolume} from './provisioned-volume-store.js';
import {findUsedVolumes, isStaged} from './provisioned-volume-usage.js';

/**
 * Removes the record of a volume that was retained after its claim, by the name of its PersistentVolume, and returns it. Its driver,
 * which keeps the data, is not called. Rejects with SystemError if it does not exist, is not released or is in use.
 */
export async function forgetReleasedVolume(
  node: Pick<NodeFacts, 'rootDir'>,
  name: string,
  signal?: AbortSignal,
): Promise<ProvisionedVolume> {
  const store = new ProvisionedVolumeStore(node.rootDir);
  const found = async (): Promise<ProvisionedVolume> => {
    const volume = (await store.list()).find((one) => one.name === name);
    if (volume === undefined) throw notFoundError(name);
    if (volume.state !== 'Released') throw boundError(volume);
    return volume;
  };
  const {claim} = await found();
  await using _lock = await store.lockClaim(claim, signal);
  const volume = await found();
  const isUsed = await findUsedVolumes(node);
  if (isUsed(volume) || isStaged(node, volume)) throw usedError(name);
  await store.delete(volume);
  return volume;
}

function notFoundError(name: string): SystemError {
  return new SystemError(`persistentvolume ${JSON.stringify(name)} not found`, {
    hint: 'run "kcri get volumes -o wide" to list the volumes that were created for claims',
  });
}

function boundError({name, claim, ownerUid}: ProvisionedVolume): SystemError {
  const hint =
    ownerUid === undefined
      ? `run "kcri delete --volumes pvc/${claim}" to delete or retain it, as its StorageClass says`
      : 'delete the pod of the claim, and the volume is deleted or retained, as its StorageClass says';
  return new SystemError(`persistentvolume ${JSON.stringify(name)} is bound to the claim "${claim}"`, {hint});
}

function usedError(name: string): SystemError {
  return new SystemError(`persistentvolume ${JSON.stringify(name)} is still in use`, {
    hint: 'run "kcri get volumes -o wide" to see where',
  });
}
