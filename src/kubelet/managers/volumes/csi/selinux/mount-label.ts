import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {allContainersOf} from '../../../../../api/pod-containers.js';
import type {SELinuxOptions} from '../../../../../api/types/v1-security.js';
import {SystemError} from '../../../../../base/errors.js';
import {ifPresent, withFileErrors} from '../../../../../base/fs/files.js';
import type {CsiDriverSpec} from '../../../../contract/volumes/csi-cluster.js';
import type {CsiVolume} from '../../../../contract/volumes/csi-volumes.js';
import {isForOnePod} from '../../is-for-one-pod.js';

/** Directory of the configuration of SELinux. */
const SELINUX_DIR = '/etc/selinux';

/**
 * Returns the volume with the mount option that gives all of its files the SELinux label of the pod; the volume itself if that is
 * not possible (GetMountSELinuxLabel, VolumeSupportsSELinuxMount). Rejects with SystemError if containers have different labels.
 */
export async function withMountLabel(
  volume: CsiVolume,
  driver: CsiDriverSpec | undefined,
  selinuxDir = SELINUX_DIR,
): Promise<CsiVolume> {
  if (driver?.seLinuxMount !== true || !canHaveLabel(volume)) return volume;
  const options = containerOptions(volume);
  // Without a level, the runtime chooses one that is not known here.
  if (options.every((one) => (one?.level ?? '') === '')) return volume;
  const base = await readFileLabel(selinuxDir);
  if (base === undefined) return volume;
  const labels = new Set(options.map((one) => fileLabel(base, one)));
  if (labels.size > 1)
    throw new SystemError(`multiple SELinux labels found: ${[...labels].join(',')}`, {
      hint: 'give the same seLinuxOptions to all containers that mount the volume, or set seLinuxChangePolicy to Recursive',
    });
  const [seLinuxLabel = ''] = labels;
  return {...volume, seLinuxLabel, mountOptions: [...volume.mountOptions, `context="${seLinuxLabel}"`]};
}

/** Reports whether only one pod can have the volume, and leaves its label to the mount. */
function canHaveLabel(volume: CsiVolume): boolean {
  if (volume.pod.spec.securityContext?.seLinuxChangePolicy === 'Recursive') return false;
  return !volume.isEphemeral && isForOnePod(volume);
}

/** Returns the options of the containers that mount the volume. */
function containerOptions({pod, specName}: CsiVolume): readonly (SELinuxOptions | undefined)[] {
  const {seLinuxOptions} = pod.spec.securityContext ?? {};
  return allContainersOf(pod)
    .filter(({volumeMounts = []}) => volumeMounts.some(({name}) => name === specName))
    .map(({securityContext}) => securityContext?.seLinuxOptions ?? seLinuxOptions);
}

/** Returns the label of files for the options of a process: only user and level are the same (InitLabels). */
function fileLabel(base: string, {user = '', level = ''}: SELinuxOptions = {}): string {
  const [defaultUser = '', role = '', type = '', ...defaultLevel] = base.split(':');
  return [user || defaultUser, role, type, level || defaultLevel.join(':')].join(':');
}

/** Reads the label of the files of containers in the policy of the node; undefined if it has none. Rejects with SystemError. */
async function readFileLabel(selinuxDir: string): Promise<string | undefined> {
  const config = (await readText(join(selinuxDir, 'config'))) ?? '';
  const [, policy = 'targeted'] = /^\s*SELINUXTYPE\s*=\s*(\S+)/m.exec(config) ?? [];
  const contexts = (await readText(join(selinuxDir, policy, 'contexts/lxc_contexts'))) ?? '';
  return /^\s*file\s*=\s*"?([^"\s]+)/m.exec(contexts)?.[1];
}

async function readText(path: string): Promise<string | undefined> {
  return await withFileErrors('reading', path, () => ifPresent(() => readFile(path, 'utf8')));
}
