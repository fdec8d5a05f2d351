import type {ProjectedVolumeSource, VolumeProjection} from '../../api/v1-volumes.js';
import {SystemError} from '../../base/errors.js';
import {mapAll} from './aggregate.js';
import type {Payload} from './atomic-writer.js';
import {configMapPayload} from './config-map.js';
import {downwardApiPayload} from './downward-api.js';
import {secretPayload} from './secret.js';
import type {PodVolume, VolumeHost} from './volume-plugin.js';
import {writtenVolume} from './written-volume.js';

/** Several sources in one directory, in memory (projected). */
export const projected = writtenVolume<ProjectedVolumeSource>({
  directory: 'kubernetes.io~projected',
  medium: 'Memory',
  payload: projectedPayload,
});

/** What a projected volume holds (collectData); of two files of one path the later counts. Throws KcriError. */
export function projectedPayload(
  host: Pick<VolumeHost, 'objects' | 'downwardApi'>,
  {pod, source}: Pick<PodVolume<ProjectedVolumeSource>, 'pod' | 'source'>,
): Payload {
  const {sources, defaultMode} = source;
  const mode = defaultMode === undefined ? {} : {defaultMode};
  const payloadOf = ({secret, configMap, downwardAPI, ...others}: VolumeProjection): Payload => {
    if (secret !== undefined)
      return secretPayload(host, {pod, source: {...secret, ...mode, secretName: secret.name ?? ''}});
    if (configMap !== undefined) return configMapPayload(host, {pod, source: {...configMap, ...mode}});
    if (downwardAPI !== undefined) return downwardApiPayload(host, {pod, source: {...downwardAPI, ...mode}});
    throw new SystemError(`${Object.keys(others).join(', ')} can't be projected without an API server`);
  };
  return new Map(mapAll(sources, payloadOf).flatMap((payload) => [...payload]));
}
