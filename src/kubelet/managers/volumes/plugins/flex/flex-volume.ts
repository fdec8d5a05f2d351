import {rmdir} from 'node:fs/promises';
import type {FlexPersistentVolumeSource} from '../../../../../api/types/v1-persistent-volumes.js';
import {hasErrno, KcriError, messageOf, rethrowUnexpected, SystemError} from '../../../../../base/errors.js';
import {makeDirectoryPath} from '../../../../../base/fs/make-directory-path.js';
import {podDir} from '../../../../contract/node-facts.js';
import {podRef} from '../../../../contract/pod-ref.js';
import {requireExclusive} from '../../is-for-one-pod.js';
import {isMountPoint} from '../../mounter.js';
import {NoPluginError} from '../../no-plugin-error.js';
import {bindForPod, setPodOwnership} from '../bind-for-pod.js';
import {controllerAttachments} from '../controller-attachments.js';
import {readVolumeSecret} from '../read-volume-secret.js';
import {podVolumeDir, type VolumeHost, type VolumePlugin} from '../volume-plugin.js';
import {attachFlexVolume} from './attach-flex.js';
import {expandFlexVolume} from './expand-flex.js';
import type {FlexDriver} from './flex-drivers.js';
import {hasFlexMark, removeFlexMark, setFlexMark} from './flex-marks.js';
import {flexDirectory} from './flex-name.js';
import {flexMountOptions, type FlexVolume, type SecretValues} from './flex-options.js';
import {flexDevicePath, flexMetadataPath, listFlexUsers} from './flex-paths.js';

/**
 * Plugin for volumes that an executable of the node mounts (flexvolume). A volume that is mounted already, also by a kubelet, is not
 * mounted again, but its driver must exist. One whose mount was not completed by a process that was killed is unmounted before.
 */
export const flexVolume: VolumePlugin<FlexPersistentVolumeSource> = {
  name: 'kubernetes.io/flexvolume',
  nameOf: ({driver}) => driver,
  canHang: true,
  readOnly: false,
  keepsLabels: ({readOnly = false, source}, {node, flex}) =>
    readOnly || flex.capabilities(node, source.driver)?.selinuxRelabel === false,
  path: (node, volume) => podVolumeDir(node, directoryOf(volume), volume),
  setUp: async (host, volume, signal) => {
    const {node, mounter} = host;
    const driver = await findDriver(host, volume, signal);
    const path = podVolumeDir(node, directoryOf(volume), volume);
    const metadataDir = flexMetadataPath(podDir(node, podRef(volume.pod).uid), identityOf(volume));
    if (driver.capabilities.attach && controllerAttachments(host) === undefined)
      await setFlexMark(metadataDir, 'attached');
    const isMounted = await isMountPoint(path, mounter);
    if (isMounted && !(await hasFlexMark(metadataDir, 'mounting'))) return;
    requireExclusive(volume, await listFlexUsers(node, identityOf(volume)), 'MountVolume.SetUp failed');
    if (driver.capabilities.attach) await attachFlexVolume(host, {volume, driver}, signal);
    // The pod has had the volume before, if its directory remains.
    else await removeFlexMark(metadataDir, 'released');
    if (isMounted) await unmountIncomplete(host, driver, path, signal);
    await setFlexMark(metadataDir, 'mounting');
    await mount(host, {volume, driver, path}, signal);
    await removeFlexMark(metadataDir, 'mounting');
  },
  expand: async (host, volume, options) => {
    const path = podVolumeDir(host.node, directoryOf(volume), volume);
    return await expandFlexVolume(host, {volume, path}, options);
  },
  isMeasured: ({driver}, {node, flex}) => flex.capabilities(node, driver)?.supportsMetrics === true,
};

/** Returns the name of the directory of a volume's driver. Throws NoPluginError if it can have none. */
function directoryOf({name, source: {driver}}: FlexVolume): string {
  const directory = flexDirectory(driver);
  if (directory === undefined)
    throw new NoPluginError(name, `no driver is named ${JSON.stringify(driver)}`, {});
  return directory;
}

function identityOf({name, source: {driver}}: FlexVolume) {
  return {driver, name};
}

/** Returns the driver of a volume (FindPluginBySpec). Rejects with NoPluginError, and with the signal's reason. */
async function findDriver(
  host: VolumeHost,
  {name, source}: FlexVolume,
  signal: AbortSignal,
): Promise<FlexDriver> {
  try {
    return await host.flex.find(host.node, source.driver, signal);
  } catch (cause) {
    signal.throwIfAborted();
    rethrowUnexpected(cause);
    throw new NoPluginError(name, messageOf(cause), {
      cause,
      hint: cause instanceof KcriError ? cause.hint : undefined,
    });
  }
}

async function unmountIncomplete(
  {mounter}: VolumeHost,
  driver: FlexDriver,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const isDone = (await driver.call('unmount', [path], {signal})) !== undefined;
  if (!isDone) await mounter.unmount(path);
}

/** A volume that is mounted for its pod. */
interface PodMount {
  readonly volume: FlexVolume;
  readonly driver: FlexDriver;
  readonly path: string;
}

/**
 * Has the driver mount a volume for its pod (SetUpAt). A driver without such a call leaves it at the mount for all pods, which is
 * bound. After the end of a call the directory stays, so that the driver is asked to unmount it with the pod.
 */
async function mount(host: VolumeHost, {volume, driver, path}: PodMount, signal: AbortSignal): Promise<void> {
  const {readOnly = false} = volume;
  const {fsGroup: setsGroup} = driver.capabilities;
  const secret = await readOptionsSecret(host, volume, signal);
  await makeDirectoryPath(path, 0o750);
  let isSupported: boolean;
  try {
    const secrets = Object.values(secret).flatMap(secretTexts);
    const args = [path, flexMountOptions(volume, secret)];
    isSupported = (await driver.call('mount', args, {signal, secrets})) !== undefined;
  } catch (error) {
    signal.throwIfAborted();
    await removeUnlessUsed(path);
    throw error;
  }
  if (isSupported) {
    if (!readOnly && setsGroup) await setPodOwnership(host, volume, {plugin: directoryOf(volume), path});
    return;
  }
  const directory = flexDevicePath(host.node, identityOf(volume));
  await bindForPod(host, volume, {plugin: directoryOf(volume), directory, setsGroup});
}

/** Returns how a value of a Secret can appear in what a driver writes. */
function secretTexts(value: Uint8Array): readonly string[] {
  const bytes = Buffer.from(value);
  return [bytes.toString(), bytes.toString('base64')];
}

/** Removes the directory of a volume that could not be mounted, as far as the driver has left nothing there. */
async function removeUnlessUsed(path: string): Promise<void> {
  try {
    await rmdir(path);
  } catch (error) {
    if (!hasErrno(error, 'ENOENT', 'ENOTEMPTY', 'EBUSY')) throw error;
  }
}

/** Reads the Secret of a volume, whose type must be the driver (addSecretsToOptions, GetSecretForPV). */
async function readOptionsSecret(
  host: VolumeHost,
  {pod, source: {driver, secretRef}}: FlexVolume,
  signal: AbortSignal,
): Promise<SecretValues> {
  const {name = '', namespace = ''} = secretRef ?? {};
  if (name === '') return {};
  const ref = {name, namespace: namespace === '' ? podRef(pod).namespace : namespace};
  try {
    const {type, data} = await readVolumeSecret(host, ref, signal);
    if (type === driver) return data;
    throw new SystemError(`cannot get secret of type ${driver}`, {
      hint: `set the type of the Secret "${ref.namespace}/${ref.name}" to ${driver}`,
    });
  } catch (cause) {
    signal.throwIfAborted();
    rethrowUnexpected(cause);
    const hint = cause instanceof KcriError ? cause.hint : undefined;
    const message = `couldn't get secret ${ref.namespace}/${ref.name} err: ${messageOf(cause)}`;
    throw new SystemError(message, {cause, hint});
  }
}
