import {posix} from 'node:path';
import type {DownwardAPIVolumeFile, DownwardAPIVolumeSource} from '../../../../api/types/v1-volumes.js';
import {mapCollectingErrors} from './map-collecting-errors.js';
import type {FileProjection, Payload} from '../atomic-writer.js';
import {DEFAULT_MODE} from './key-payload.js';
import type {PodVolume, VolumeHost} from './volume-plugin.js';
import {createAtomicWriterPlugin} from './atomic-writer-plugin.js';

/** Plugin for volumes with fields of the pod as files in memory (downwardapi). */
export const downwardApi = createAtomicWriterPlugin<DownwardAPIVolumeSource>({
  directory: 'kubernetes.io~downward-api',
  medium: 'Memory',
  payload: downwardApiPayload,
});

/** Returns the files of a downwardAPI volume (CollectData). Throws KcriError that lists all fields without a value. */
export function downwardApiPayload(
  host: Pick<VolumeHost, 'downwardApi'>,
  {pod, source}: Pick<PodVolume<DownwardAPIVolumeSource>, 'pod' | 'source'>,
): Payload {
  const {items = [], defaultMode = DEFAULT_MODE} = source;
  return new Map(
    mapCollectingErrors(items, (item): readonly [string, FileProjection] => [
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
