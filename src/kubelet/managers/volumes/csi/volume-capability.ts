import type {PersistentVolumeAccessMode} from '../../../../api/types/v1-attached-volumes.js';
import type {Init} from '../../../../cri/index.js';
import type {Mode, VolumeCapability} from '../../../../plugin-api/gen/csi/types.js';
import type {CsiDriverSpec} from '../../../contract/volumes/csi-cluster.js';
import type {CsiVolume} from '../../../contract/volumes/csi-volumes.js';
import type {Capabilities} from './csi-driver-client.js';

/** Access modes of drivers, and of those with SINGLE_NODE_MULTI_WRITER (asSingleNodeMultiWriterCapableCSIAccessModeV1). */
const ACCESS_MODES: Readonly<Record<PersistentVolumeAccessMode, readonly [Mode, Mode]>> = {
  ReadWriteOnce: ['SINGLE_NODE_WRITER', 'SINGLE_NODE_MULTI_WRITER'],
  ReadWriteOncePod: ['SINGLE_NODE_WRITER', 'SINGLE_NODE_SINGLE_WRITER'],
  ReadOnlyMany: ['MULTI_NODE_READER_ONLY', 'MULTI_NODE_READER_ONLY'],
  ReadWriteMany: ['MULTI_NODE_MULTI_WRITER', 'MULTI_NODE_MULTI_WRITER'],
};

/** Returns how a volume is used, by its first access mode. `group` is the group of the files for a driver that sets it. */
export function volumeCapability(
  {
    accessModes,
    fsType,
    mountOptions,
    blockName,
  }: Pick<CsiVolume, 'accessModes' | 'fsType' | 'mountOptions' | 'blockName'>,
  capabilities: Capabilities,
  fsGroup: number | undefined,
): Init<VolumeCapability> {
  const [first = 'ReadWriteOnce'] = accessModes;
  const mode = ACCESS_MODES[first][capabilities.has('SINGLE_NODE_MULTI_WRITER') ? 1 : 0];
  if (blockName !== undefined) return {accessMode: {mode}, block: {}};
  const setsGroup = capabilities.has('VOLUME_MOUNT_GROUP') && fsGroup !== undefined;
  return {
    accessMode: {mode},
    mount: {fsType, mountFlags: mountOptions, ...(setsGroup && {volumeMountGroup: String(fsGroup)})},
  };
}

/** Returns the policy of a driver; without a CSIDriver object that of its default (getFSGroupPolicy). */
export function fsGroupPolicyOf(driver: CsiDriverSpec | undefined): string {
  return driver?.fsGroupPolicy ?? 'ReadWriteOnceWithFSType';
}

/** Reports whether the kubelet changes the group of the volume's files, which its driver does not (supportsFSGroup). */
export function changesGroup(
  {fsType, readOnly, isEphemeral, accessModes}: CsiVolume,
  policy: string,
  capabilities: Capabilities,
): boolean {
  if (capabilities.has('VOLUME_MOUNT_GROUP') || policy === 'None' || readOnly) return false;
  if (policy === 'File') return true;
  return fsType !== '' && (isEphemeral || accessModes.includes('ReadWriteOnce'));
}

/**
 * Returns why the driver cannot have the volume; undefined if it can: only volumes in the spec of a pod need a CSIDriver
 * object (supportsVolumeLifecycleMode).
 */
export function lifecycleProblem(
  {driver: name, isEphemeral}: CsiVolume,
  driver: CsiDriverSpec | undefined,
): string | undefined {
  const mode = isEphemeral ? 'Ephemeral' : 'Persistent';
  const unsupported = `volume mode "${mode}" not supported by driver ${name}`;
  if (driver === undefined) return isEphemeral ? `${unsupported} (no CSIDriver object)` : undefined;
  const modes = driver.volumeLifecycleModes ?? ['Persistent'];
  if (modes.includes(mode)) return undefined;
  return `${unsupported} (only supports [${modes.map((each) => JSON.stringify(each)).join(' ')}])`;
}

/** Returns what a driver with podInfoOnMount is told of the pod (getPodInfoAttrs). */
export function podInfo({pod, isEphemeral}: CsiVolume): Readonly<Record<string, string>> {
  const {name = '', namespace = 'default', uid = ''} = pod.metadata;
  return {
    'csi.storage.k8s.io/pod.name': name,
    'csi.storage.k8s.io/pod.namespace': namespace,
    'csi.storage.k8s.io/pod.uid': uid,
    'csi.storage.k8s.io/serviceAccount.name': pod.spec.serviceAccountName ?? '',
    'csi.storage.k8s.io/ephemeral': String(isEphemeral),
  };
}
