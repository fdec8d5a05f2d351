import {allContainersOf} from '../../../../api/pod-containers.js';
import type {Pod} from '../../../../api/types/v1-pod.js';
import type {
  ProjectedVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '../../../../api/types/v1-volumes.js';
import {SystemError} from '../../../../base/errors.js';
import {mapCollectingErrors} from './map-collecting-errors.js';
import type {Payload} from '../atomic-writer.js';
import {DEFAULT_MODE} from './key-payload.js';
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
  const payloadOf = ({
    secret,
    configMap,
    downwardAPI,
    serviceAccountToken,
    ...others
  }: VolumeProjection): Payload => {
    if (secret !== undefined)
      return secretPayload(host, {pod, source: {...secret, ...mode, secretName: secret.name ?? ''}});
    if (configMap !== undefined) return configMapPayload(host, {pod, source: {...configMap, ...mode}});
    if (downwardAPI !== undefined) return downwardApiPayload(host, {pod, source: {...downwardAPI, ...mode}});
    if (serviceAccountToken !== undefined)
      return tokenPayload(host, {pod, source: serviceAccountToken}, mode);
    const [other] = Object.keys(others);
    // An API server drops a source whose feature gate is off, and leaves its place empty.
    if (other === undefined) return new Map();
    throw new SystemError(`cannot project ${other} without an API server`);
  };
  return new Map(mapCollectingErrors(sources, payloadOf).flatMap((payload) => [...payload]));
}

/** Mode of a token that only its owner and the volume's group may read (projected.go collectData). */
const PRIVATE_MODE = 0o600;

function tokenPayload(
  {objects}: Pick<VolumeHost, 'objects'>,
  {pod, source}: Pick<PodVolume<ServiceAccountTokenProjection>, 'pod' | 'source'>,
  {defaultMode = DEFAULT_MODE}: Pick<ProjectedVolumeSource, 'defaultMode'>,
): Payload {
  const token = objects.serviceAccountToken?.(pod, source);
  if (token === undefined) throw new SystemError('cannot project serviceAccountToken without an API server');
  const owner = findCommonUser(pod);
  const isPrivate = owner !== undefined || pod.spec.securityContext?.fsGroup !== undefined;
  return new Map([
    [source.path, {data: Buffer.from(token), mode: isPrivate ? PRIVATE_MODE : defaultMode, owner}],
  ]);
}

/** Returns the UID as which all containers run; undefined if one specifies none or they differ (FsUserFrom). */
function findCommonUser(pod: Pod): number | undefined {
  const users = allContainersOf(pod).map(
    ({securityContext}) => securityContext?.runAsUser ?? pod.spec.securityContext?.runAsUser,
  );
  return new Set(users).size === 1 ? users[0] : undefined;
}
