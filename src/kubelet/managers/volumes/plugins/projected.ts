import type {ProjectedVolumeSource, VolumeProjection} from '../../../../api/types/v1-volumes.js';
import {SystemError} from '../../../../base/errors.js';
import {mapCollectingErrors} from './map-collecting-errors.js';
import type {Payload} from '../atomic-writer.js';
import {configMapPayload} from './config-map.js';
import {downwardApiPayload} from './downward-api.js';
import {secretPayload} from './secret.js';
import type {PodVolume, VolumeHost} from './volume-plugin.js';
import {createAtomicWriterPlugin} from './atomic-writer-plugin.js';

/** Plugin for volumes with files of several sources in memory (projected). */
export const projected = createAtomicWriterPlugin<ProjectedVolumeSource>({
  directory: 'kubernetes.io~projected',
  medium: 'Memory',
  payload: projectedPayload,
});

/** Returns the files of a projected volume (collectData); a later file replaces an earlier one. Throws KcriError. */
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
    throw new SystemError(`cannot project ${Object.keys(others).join(', ')} without an API server`);
  };
  return new Map(mapCollectingErrors(sources, payloadOf).flatMap((payload) => [...payload]));
}
