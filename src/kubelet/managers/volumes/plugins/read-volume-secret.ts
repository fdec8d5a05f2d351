import {createObjectNotFoundError} from '../../../contract/api-objects.js';
import type {CsiSecretRef, SecretContent} from '../../../contract/volumes/csi-cluster.js';
import type {VolumeHost} from './volume-plugin.js';

/**
 * Reads the Secret of a volume: one of the manifests or that the pod refers to, or one of the cluster. Rejects with KcriError, and
 * with the signal's reason.
 */
export async function readVolumeSecret(
  {objects, csi}: Pick<VolumeHost, 'objects' | 'csi'>,
  ref: CsiSecretRef,
  signal: AbortSignal,
): Promise<SecretContent> {
  const {namespace, name} = ref;
  const found = objects.secret(namespace, name);
  if (found !== undefined) return {type: found.type ?? '', data: found.data ?? {}};
  const failure = objects.failure?.('Secret', namespace, name);
  if (failure !== undefined) throw failure;
  if (csi?.secret === undefined) throw createObjectNotFoundError(objects, 'Secret', name, namespace);
  return await csi.secret(ref, signal);
}
