import {dirname} from 'node:path';
import type {Pod} from '../../../../api/types/v1-pod.js';
import type {EventSink} from '../../../contract/pod-event.js';
import type {DeviceMap} from './block-paths.js';

/** Reports the maps of a device as the events of a kubelet (GenerateMapVolumeFunc). */
export function reportMapped(
  {events}: {readonly events?: EventSink},
  {pod, name}: {readonly pod: Pod; readonly name: string},
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
