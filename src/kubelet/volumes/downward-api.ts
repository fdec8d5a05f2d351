import {posix} from 'node:path';
import type {DownwardAPIVolumeFile, DownwardAPIVolumeSource} from '../../api/v1-volumes.js';
import {mapAll} from './aggregate.js';
import type {FileProjection, Payload} from './atomic-writer.js';
import {DEFAULT_MODE} from './key-payload.js';
import type {PodVolume, VolumeHost} from './volume-plugin.js';
import {writtenVolume} from './written-volume.js';

/** Facts about the pod as files, in memory (downwardapi). */
export const downwardApi = writtenVolume<DownwardAPIVolumeSource>({
  directory: 'kubernetes.io~downward-api',
  medium: 'Memory',
  payload: downwardApiPayload,
});

/** What a downwardAPI volume holds (CollectData). Throws KcriError, of everything that has no value. */
export function downwardApiPayload(
  host: Pick<VolumeHost, 'downwardApi'>,
  {pod, source}: Pick<PodVolume<DownwardAPIVolumeSource>, 'pod' | 'source'>,
): Payload {
  const {items = [], defaultMode = DEFAULT_MODE} = source;
  return new Map(
    mapAll(items, (item): readonly [string, FileProjection] => [
      posix.normalize(item.path),
      {data: Buffer.from(valueOf(host, pod, item)), mode: item.mode ?? defaultMode},
    ]),
  );
}

function valueOf(
  {downwardApi: api}: Pick<VolumeHost, 'downwardApi'>,
  pod: PodVolume<unknown>['pod'],
  {fieldRef, resourceFieldRef}: DownwardAPIVolumeFile,
): string {
  if (fieldRef !== undefined) return api.field(pod, fieldRef.fieldPath);
  return resourceFieldRef === undefined ? '' : api.resource(pod, resourceFieldRef);
}
