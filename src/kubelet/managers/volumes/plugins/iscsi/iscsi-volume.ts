import {join} from 'node:path';
import type {ISCSIPersistentVolumeSource} from '../../../../../api/types/v1-persistent-volumes.js';
import {KcriError, messageOf, rethrowUnexpected} from '../../../../../base/errors.js';
import {writeFileAtomicWithoutSync} from '../../../../../base/fs/atomic-write.js';
import {makeDirectoryPath} from '../../../../../base/fs/make-directory-path.js';
import {podRef} from '../../../../contract/pod-ref.js';
import {textsOf} from '../../csi/read-secret.js';
import {VolumeStepError} from '../../volume-step-error.js';
import {DISK_FILE, diskDir, type DiskPlace} from '../disks/disk-place.js';
import {createBlockDiskPlugin, createDiskPlugin, type VolumeDisk} from '../disks/disk-volume.js';
import {readVolumeSecret} from '../read-volume-secret.js';
import type {PodVolume, VolumeHost} from '../volume-plugin.js';
import {attachIscsi, type ChapSecrets, type ChapValues} from './attach-iscsi.js';
import {withTargetLock} from './detach-iscsi.js';
import {iscsiDiskOf, iscsiPlace, iscsiUniqueName, writeDisk, type IscsiDisk} from './iscsi-disk.js';

type IscsiVolume = PodVolume<ISCSIPersistentVolumeSource>;

/** Plugin for filesystems on LUNs of iSCSI targets, in which the node logs in with iscsiadm(8) (iscsi). */
export const iscsiVolume = createDiskPlugin<ISCSIPersistentVolumeSource>('iscsi', diskOf);

/** Plugin for LUNs of iSCSI targets that containers get as devices. */
export const iscsiBlockVolume = createBlockDiskPlugin<ISCSIPersistentVolumeSource>('iscsi', diskOf);

function diskOf(volume: IscsiVolume, isBlock: boolean): VolumeDisk {
  const disk = iscsiDiskOf(volume.name, volume.source);
  const place = iscsiPlace(disk, isBlock);
  return {
    place,
    uniqueName: iscsiUniqueName(volume.source),
    fsType: volume.source.fsType,
    attach: async (host, signal) => {
      const secrets = await readChapSecrets(host, volume, isBlock, signal);
      return await withTargetLock(host.node, disk, signal, async () => {
        // Before the login, so that other volumes of the target see it, and its removal logs out after a kill.
        await writeDiskFile(host, disk, place);
        return await attachIscsi(disk, secrets, host, signal);
      });
    },
  };
}

async function writeDiskFile({node}: VolumeHost, disk: IscsiDisk, place: DiskPlace): Promise<void> {
  const directory = diskDir(node, place);
  await makeDirectoryPath(directory, 0o750);
  await writeFileAtomicWithoutSync(join(directory, DISK_FILE), writeDisk(disk), 0o600);
}

/** Reads the Secret of a volume, if it is used (createSecretMap). */
async function readChapSecrets(
  host: VolumeHost,
  {pod, source}: IscsiVolume,
  isBlock: boolean,
  signal: AbortSignal,
): Promise<ChapSecrets> {
  const {chapAuthDiscovery = false, chapAuthSession = false} = source;
  const ref = secretRefOf(source, podRef(pod).namespace);
  let values: ChapValues = {};
  try {
    if (ref !== undefined) values = textsOf(await readVolumeSecret(host, ref, signal));
  } catch (cause) {
    signal.throwIfAborted();
    rethrowUnexpected(cause);
    throw new VolumeStepError(
      isBlock ? 'NewBlockVolumeMapper initialization failed' : 'NewMounter initialization failed',
      `couldn't get secret ${ref?.namespace}/${ref?.name} error: ${messageOf(cause)}`,
      {cause, hint: cause instanceof KcriError ? cause.hint : undefined},
    );
  }
  return {
    discovery: chapAuthDiscovery ? values : undefined,
    session: chapAuthSession ? values : undefined,
  };
}

/** Returns the Secret of a volume, if it is used; without a namespace it is in that of the pod. */
function secretRefOf(
  {chapAuthDiscovery, chapAuthSession, secretRef}: ISCSIPersistentVolumeSource,
  podNamespace: string,
): {readonly namespace: string; readonly name: string} | undefined {
  const {name = '', namespace = ''} = secretRef ?? {};
  if (name === '' || (chapAuthDiscovery !== true && chapAuthSession !== true)) return undefined;
  return {name, namespace: namespace === '' ? podNamespace : namespace};
}
