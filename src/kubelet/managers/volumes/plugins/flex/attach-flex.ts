import {KcriError, messageOf, rethrowUnexpected, SystemError} from '../../../../../base/errors.js';
import {makeDirectoryPath} from '../../../../../base/fs/make-directory-path.js';
import {podRef} from '../../../../contract/pod-ref.js';
import {findBlockDevice} from '../../devices/block-device.js';
import {removeEmpty} from '../../devices/device-mounts.js';
import {isMountPoint} from '../../mounter.js';
import {VolumeStepError} from '../../volume-step-error.js';
import {mountForAllPods} from '../disks/disk-volume.js';
import type {VolumeHost} from '../volume-plugin.js';
import type {FlexDriver} from './flex-drivers.js';
import {withFlexLock} from './flex-lock.js';
import {flexOptions, type FlexVolume} from './flex-options.js';
import {flexDevicePath, flexUniqueName} from './flex-paths.js';

/** A volume that is attached, with its driver. */
export interface AttachedFlexVolume {
  readonly volume: FlexVolume;
  readonly driver: FlexDriver;
}

/** Reports whether the node attaches volumes itself, since no controller does. */
export function attachesItself({csi}: Pick<VolumeHost, 'csi'>): boolean {
  return csi?.attachesVolumes !== true;
}

/**
 * Has the driver attach a volume to the node and mount it for all pods, unless it is mounted (AttachVolume, WaitForAttach,
 * MountDevice). Rejects with VolumeStepError, and with the signal's reason.
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
  const attachments = attachesItself(host) ? undefined : host.csi?.attachments;
  attachments?.use(flexUniqueName(identity), podRef(volume.pod).uid);
  await inStep('MountVolume.GetDeviceMountPath failed', signal, async () =>
    driver.call('getvolumename', [options], {signal}),
  );
  await withFlexLock(node, identity, signal, async () => {
    if (await isMountPoint(path, mounter)) return;
    const device = await attach(host, {volume, driver}, signal);
    const found = await inStep('MountVolume.WaitForAttach failed', signal, async () =>
      driver.call('waitforattach', [device, options], {signal}),
    );
    await inStep('MountVolume.MountDevice failed', signal, async () =>
      mountDevice(host, {volume, driver, path, device: found === undefined ? device : found.device}, signal),
    );
    flex.devices.set(path, found === undefined ? device : found.device);
  });
}

/** Has the driver attach a volume, or waits until a controller has; returns the device, which can be empty. */
async function attach(
  host: VolumeHost,
  {volume, driver}: AttachedFlexVolume,
  signal: AbortSignal,
): Promise<string> {
  const {pod, name, specName = name, source} = volume;
  const attachments = attachesItself(host) ? undefined : host.csi?.attachments;
  if (attachments !== undefined)
    return await attachments.untilAttached(
      flexUniqueName({driver: source.driver, name}),
      {uid: podRef(pod).uid, volume: specName},
      signal,
    );
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
