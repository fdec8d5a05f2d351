import {dirname} from 'node:path';
import type {PodVolume, VolumeHost} from '../plugins/volume-plugin.js';
import type {DeviceMap} from './block-paths.js';

/** Reports the maps of a device as the events of a kubelet (GenerateMapVolumeFunc). */
export function reportMapped(
  {events}: Pick<VolumeHost, 'events'>,
  {pod, name}: Pick<PodVolume<unknown>, 'pod' | 'name'>,
  {globalDir, linkPath}: DeviceMap,
): void {
  const places = [
    ['globalMapPath', globalDir],
    ['volumeMapPath', dirname(linkPath)],
  ] as const;
  for (const [place, path] of places) {
    const message = `MapVolume.MapPodDevice succeeded for volume ${JSON.stringify(name)} ${place} ${JSON.stringify(path)}`;
    events?.({type: 'Normal', reason: 'SuccessfulMountVolume', message, pod});
  }
}
