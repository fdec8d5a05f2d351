import {join} from 'node:path';
import {listNames, validatePathSegment} from '../../../../base/fs/files.js';
import type {NodeFacts} from '../../../contract/node-facts.js';
import {LOCAL_VOLUMES, removeEmpty, withDeviceLock} from '../devices/device-mounts.js';
import {deviceMap, podDevicesDir, type DeviceMap} from './block-paths.js';
import {unlinkDevice, unmapDevice, type MapTools} from './map-device.js';

type RootFacts = Pick<NodeFacts, 'rootDir'>;

/** Returns where the device of a local PersistentVolume is mapped for a pod. Throws SystemError for an invalid name. */
export function localDeviceMap(node: RootFacts, uid: string, name: string): DeviceMap {
  const directory = join(node.rootDir, 'plugins', LOCAL_VOLUMES, 'volumeDevices');
  const globalDir = join(directory, validatePathSegment('volume name', name));
  return deviceMap(node, {globalDir, plugin: LOCAL_VOLUMES, uid, name});
}

/** Removes the maps of the devices of local volumes for a pod (UnmapVolume, UnmapDevice). Rejects with SystemError. */
export async function unmapLocalDevices(node: RootFacts, uid: string, tools: MapTools): Promise<void> {
  for (const name of await listNames(podDevicesDir(node, uid, LOCAL_VOLUMES)))
    await withDeviceLock(node, name, undefined, async () => {
      const map = localDeviceMap(node, uid, name);
      await unmapDevice(map, tools);
      await removeEmpty(map.globalDir);
      await unlinkDevice(map);
    });
}
