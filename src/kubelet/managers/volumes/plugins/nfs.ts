import {rmdir} from 'node:fs/promises';
import {isIPv6} from 'node:net';
import type {NFSVolumeSource} from '../../../../api/types/v1-attached-volumes.js';
import {withFileErrors} from '../../../../base/fs/files.js';
import {makeDirectoryPath} from '../../../../base/fs/make-directory-path.js';
import {isMountPoint} from '../mounter.js';
import {joinMountOptions} from '../mount-options.js';
import {podVolumeDir, type VolumePlugin} from './volume-plugin.js';

const PLUGIN = 'kubernetes.io~nfs';

/** Plugin for directories of NFS servers, which mount.nfs(8) mounts; their ownership is never changed (nfs). */
export const nfs: VolumePlugin<NFSVolumeSource> = {
  name: 'kubernetes.io/nfs',
  canHang: true,
  readOnly: false,
  keepsLabels: () => true,
  path: (node, volume) => podVolumeDir(node, PLUGIN, volume),
  setUp: async ({node, mounter}, volume, signal) => {
    const path = podVolumeDir(node, PLUGIN, volume);
    // Asks the kernel for its mounts, since files of an absent server cannot be read.
    if (await isMountPoint(path, mounter)) return;
    const {source, readOnly = false, mountOptions = []} = volume;
    await makeDirectoryPath(path, 0o750);
    try {
      const options = joinMountOptions(mountOptions, readOnly ? ['ro'] : []);
      await mounter.mountNfs(remoteDirectory(source), path, options, signal);
    } catch (error) {
      if (await isMountPoint(path, mounter)) await mounter.unmount(path);
      await withFileErrors('removing', path, () => rmdir(path));
      throw error;
    }
  },
};

/** Returns `server:path`, in which an IPv6 address has brackets. */
function remoteDirectory({server, path}: NFSVolumeSource): string {
  return `${isIPv6(server) ? `[${server}]` : server}:${path}`;
}
