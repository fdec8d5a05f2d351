import {join} from 'node:path';
import {validatePathSegment} from '../../../../base/fs/files.js';
import {podDir, type NodeFacts} from '../../../contract/node-facts.js';

type RootFacts = Pick<NodeFacts, 'rootDir'>;

/** Directory of the links to devices below that of a pod. */
export const POD_DEVICES = 'volumeDevices';

/** Returns the directory with the links of a pod to the devices of a plugin (GetPodDeviceMapPath). */
export function podDevicesDir(node: RootFacts, uid: string, plugin: string): string {
  return join(podDir(node, uid), POD_DEVICES, plugin);
}

/** Paths at which a device is mapped for a pod. */
export interface DeviceMap {
  /** Directory with a bind mount of the device for each pod, by UID (GetGlobalMapPath). */
  readonly globalDir: string;
  /** Bind mount of the device in that directory. */
  readonly globalPath: string;
  /** Link to the device that containers of the pod get. */
  readonly linkPath: string;
}

/** Returns where a device is mapped. Throws SystemError for a UID or name that is not a valid file name. */
export function deviceMap(
  node: RootFacts,
  {globalDir, plugin, uid, name}: Readonly<Record<'globalDir' | 'plugin' | 'uid' | 'name', string>>,
): DeviceMap {
  return {
    globalDir,
    globalPath: join(globalDir, validatePathSegment('pod UID', uid)),
    linkPath: join(podDevicesDir(node, uid, plugin), validatePathSegment('volume name', name)),
  };
}
