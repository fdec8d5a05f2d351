import type {PersistentVolume} from '../../../../api/types/v1-persistent-volumes.js';
import {quantityValue} from '../../../../api/quantity.js';
import type {ClaimToProvision} from '../../../contract/volumes/claimed-volume.js';
import type {CsiSecretRef} from '../../../contract/volumes/csi-cluster.js';
import type {CreatedCsiVolume, NewCsiVolume} from '../../../contract/volumes/csi-volumes.js';
import type {StorageClass} from '../../../../api/types/v1-storage.js';

/** Prefix of parameters that are for the provisioner, not for the driver (external-provisioner). */
const PREFIX = 'csi.storage.k8s.io/';

/** Returns what a driver is to create for a claim of a class (external-provisioner prepareProvision). */
export function newVolumeFor(
  name: string,
  claim: ClaimToProvision,
  {provisioner, parameters = {}, mountOptions = []}: StorageClass,
): NewCsiVolume {
  const {requests, limits} = claim.spec.resources ?? {};
  const secret = classSecret('provisioner', name, claim, parameters);
  return {
    ...{driver: provisioner, name, mountOptions, secret, accessModes: claim.spec.accessModes ?? []},
    requiredBytes: bytesOf(requests?.['storage']),
    limitBytes: bytesOf(limits?.['storage']),
    ...(claim.spec.volumeMode === 'Block' && {blockName: name}),
    fsType: parameters[`${PREFIX}fstype`] ?? '',
    parameters: Object.fromEntries(Object.entries(parameters).filter(([key]) => !key.startsWith(PREFIX))),
    mutableParameters: claim.attributesClass?.parameters,
  };
}

/** Returns the PersistentVolume of a created volume, with the parameters of its class. */
export function persistentVolumeOf(
  request: NewCsiVolume,
  {handle, bytes, attributes}: CreatedCsiVolume,
  claim: ClaimToProvision,
  {parameters = {}, reclaimPolicy = 'Delete', metadata}: StorageClass,
): PersistentVolume {
  const {name, driver, fsType, requiredBytes, blockName} = request;
  const stage = classSecret('node-stage', name, claim, parameters);
  const publish = classSecret('node-publish', name, claim, parameters);
  const attributesClass = claim.attributesClass?.metadata.name;
  return {
    metadata: {name},
    spec: {
      capacity: {storage: String(bytes === 0n ? requiredBytes : bytes)},
      accessModes: [...request.accessModes],
      ...(blockName !== undefined && {volumeMode: 'Block'}),
      claimRef: {kind: 'PersistentVolumeClaim', namespace: claim.namespace, name: claim.name},
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: metadata.name ?? '',
      mountOptions: [...request.mountOptions],
      ...(attributesClass !== undefined && {volumeAttributesClassName: attributesClass}),
      csi: {
        ...{driver, volumeHandle: handle, volumeAttributes: attributes},
        ...(fsType !== '' && {fsType}),
        ...(stage !== undefined && {nodeStageSecretRef: stage}),
        ...(publish !== undefined && {nodePublishSecretRef: publish}),
      },
    },
  };
}

/** Returns the message and the hint of the error of a claim whose class is not in the manifests. */
export function classNotFound({
  spec,
}: ClaimToProvision): readonly [message: string, options: {readonly hint: string}] {
  const className = spec.storageClassName ?? '';
  const hint = 'add the StorageClass to the manifests of the pod';
  return [`storageclass.storage.k8s.io ${JSON.stringify(className)} not found`, {hint}];
}

function bytesOf(quantity: string | undefined): bigint {
  return quantity === undefined ? 0n : quantityValue(quantity);
}

/** Returns the Secret that the parameters of a class name for a purpose; their templates may name the claim and the volume. */
export function classSecret(
  purpose: string,
  volume: string,
  claim: Pick<ClaimToProvision, 'namespace' | 'name'>,
  parameters: Readonly<Record<string, string>> = {},
): CsiSecretRef | undefined {
  const name = parameters[`${PREFIX}${purpose}-secret-name`];
  const namespace = parameters[`${PREFIX}${purpose}-secret-namespace`];
  if (name === undefined || namespace === undefined) return undefined;
  const fill = (text: string): string =>
    text
      .replaceAll('${pv.name}', volume)
      .replaceAll('${pvc.namespace}', claim.namespace)
      .replaceAll('${pvc.name}', claim.name);
  return {name: fill(name), namespace: fill(namespace)};
}
