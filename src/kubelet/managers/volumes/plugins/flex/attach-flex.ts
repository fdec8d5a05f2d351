import {KcriError, messageOf, rethrowUnexpected, SystemError} from '../../../../../base/errors.js';
import {makeDirectoryPath} from '../../../../../base/fs/make-directory-path.js';
import {podDir} from '../../../../contract/node-facts.js';
import {podRef} from '../../../../contract/pod-ref.js';
import {findBlockDevice} from '../../devices/block-device.js';
import {removeEmpty} from '../../devices/device-mounts.js';
import {isMountPoint} from '../../mounter.js';
import {VolumeStepError} from '../../volume-step-error.js';
import {mountForAllPods} from '../disks/disk-volume.js';
import {controllerAttachments, untilAttached} from '../controller-attachments.js';
import type {VolumeHost} from '../volume-plugin.js';
import {flexDeviceOf} from './flex-device.js';
import type {FlexDriver} from './flex-drivers.js';
import {withFlexLock} from './flex-lock.js';
import {removeFlexMark, setFlexMark} from './flex-marks.js';
import {flexOptions, type FlexVolume} from './flex-options.js';
import {flexDevicePath, flexMetadataPath, flexUniqueName} from './flex-paths.js';

/** A volume that is attached, with its driver. */
export interface AttachedFlexVolume {
  readonly volume: FlexVolume;
  readonly driver: FlexDriver;
}

/**
 * Has the driver attach a volume to the node, unless it is mounted or a controller attaches it, wait for its device, and mount it for
 * all pods, unless it is mounted (AttachVolume, WaitForAttach, MountDevice). The pod has claimed the volume before, so that none that
 * ends unmounts it. Rejects with VolumeStepError, and with the signal's reason.
 */
export async function attachFlexVolume(
  host: VolumeHost,
  {volume, driver}: AttachedFlexVolume,
  signal: AbortSignal,
): Promise<void> {
  const {node, mounter, flex} = host;
  const identity = {driver: volume.source.driver, name: volume.name};
  const path = flexDevicePath(node, identity);
  const options = flexOptions(volume);
  const {uid} = podRef(volume.pod);
  controllerAttachments(host)?.use(flexUniqueName(identity), uid);
  await inStep('MountVolume.GetDeviceMountPath failed', signal, async () =>
    driver.call('getvolumename', [options], {signal}),
  );
  // Without the lock: a controller can take long, or never attach it.
  const uniqueName = flexUniqueName(identity);
  const attached = await untilAttached(host, volume, {uniqueName, plugin: identity.driver}, signal);
  const attachUnless = async (isMounted: boolean): Promise<string> =>
    isMounted ? '' : await attach(host, {volume, driver}, signal);
  await withFlexLock(node, identity, signal, async () => {
    await claim(flexMetadataPath(podDir(node, uid), identity));
    const isMounted = await isMountPoint(path, mounter);
    const known = isMounted ? await flexDeviceOf(host, identity) : '';
    const device = known === '' ? (attached ?? (await attachUnless(isMounted))) : known;
    const found = await inStep('MountVolume.WaitForAttach failed', signal, async () =>
      driver.call('waitforattach', [device, options], {signal}),
    );
    if (isMounted) return;
    const mounted = found?.device ?? device;
    await inStep('MountVolume.MountDevice failed', signal, async () =>
      mountDevice(host, {volume, driver, path, device: mounted}, signal),
    );
    flex.devices.set(path, mounted === '' ? device : mounted);
  });
}

/** Records that a pod needs the mount for all pods. Rejects with SystemError. */
async function claim(metadataDir: string): Promise<void> {
  await setFlexMark(metadataDir, 'claimed');
  await removeFlexMark(metadataDir, 'released');
}

/** Has the driver attach a volume; returns the device, which can be empty. */
async function attach(
  host: VolumeHost,
  {volume, driver}: AttachedFlexVolume,
  signal: AbortSignal,
): Promise<string> {
  const attached = await inStep('AttachVolume.Attach failed', signal, async () =>
    driver.call('attach', [flexOptions(volume), host.node.nodeName], {signal}),
  );
  return attached?.device ?? '';
}

/** Has the driver mount a device for all pods; mounts it as a disk, if the driver leaves that to the node. */
async function mountDevice(
  host: VolumeHost,
  {volume, driver, path, device}: AttachedFlexVolume & {readonly path: string; readonly device: string},
  signal: AbortSignal,
): Promise<void> {
  await makeDirectoryPath(path, 0o750);
  try {
    const isMounted = await driver.call('mountdevice', [path, device, flexOptions(volume)], {signal});
    if (isMounted !== undefined || device === '') return;
    const found = await findBlockDevice(device);
    if (found === undefined) throw new SystemError(`${JSON.stringify(device)} is not a block device`);
    const {fsType} = volume.source;
    await mountForAllPods(host, volume, {device: found, path, fsType}, signal);
  } catch (error) {
    if (!signal.aborted && !(await isMountPoint(path, host.mounter))) await removeEmpty(path);
    throw error;
  }
}

/** Names the step in a failure. Rejects with the signal's reason. */
async function inStep<T>(step: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    signal.throwIfAborted();
    rethrowUnexpected(cause);
    if (cause instanceof VolumeStepError) throw cause;
    const hint = cause instanceof KcriError ? cause.hint : undefined;
    throw new VolumeStepError(step, messageOf(cause), {cause, hint});
  }
}
