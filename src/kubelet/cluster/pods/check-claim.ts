import type {PersistentVolume, PersistentVolumeClaim} from '../../../api/types/v1-persistent-volumes.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {SystemError} from '../../../base/errors.js';
import {podRef} from '../../contract/pod-ref.js';

/** Finalizer of a claim that cannot be deleted while a pod uses it. */
const PROTECTION = 'kubernetes.io/pvc-protection';

/**
 * Requires that the claim is bound to a volume (getPVCExtractPV).
 *
 * @throws SystemError with the kubelet's message for a claim that is not bound or about to be deleted.
 */
export function checkClaim({metadata, spec, status}: PersistentVolumeClaim): void {
  const isProtected = metadata.finalizers?.includes(PROTECTION) ?? false;
  if (metadata.deletionTimestamp !== undefined && !isProtected) throw new SystemError('PVC is being deleted');
  if (status?.phase !== 'Bound') throw new SystemError('PVC is not bound');
  if (spec.volumeName === undefined || spec.volumeName === '')
    throw new SystemError('PVC has empty pvc.Spec.VolumeName');
}

/**
 * Requires that the claim of a generic ephemeral volume was created for the pod (ephemeral.VolumeIsForPod).
 *
 * @throws SystemError for a claim of another owner.
 */
export function checkClaimOwner(pod: Pod, {metadata}: PersistentVolumeClaim): void {
  const {namespace, name, uid} = podRef(pod);
  const controller = metadata.ownerReferences?.find((owner) => owner.controller === true);
  if (metadata.namespace === namespace && controller?.uid === uid) return;
  const claim = `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
  throw new SystemError(`PVC ${claim} was not created for pod ${namespace}/${name} (pod is not owner)`);
}

/**
 * Requires that the volume is bound to the claim with this UID (getPVSpec).
 *
 * @throws SystemError for a volume that is bound to no claim or to another one.
 */
export function checkVolume({metadata, spec: {claimRef}}: PersistentVolume, claimUid: string): void {
  const found = `found PV object ${metadata.name ?? ''} but`;
  if (claimRef === undefined)
    throw new SystemError(
      `${found} it has a nil pv.Spec.ClaimRef indicating it is not yet bound to the claim`,
    );
  const {uid = ''} = claimRef;
  if (uid !== claimUid)
    throw new SystemError(`${found} its pv.Spec.ClaimRef.UID ${uid} does not point to claim.UID ${claimUid}`);
}
