import type {ConfigMapVolumeSource} from '../../../../api/types/v1-volumes.js';
import {findConfigMap} from '../../../contract/api-objects.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {Payload} from '../atomic-writer.js';
import {keyPayload} from './key-payload.js';
import type {PodVolume, VolumeHost} from './volume-plugin.js';
import {createAtomicWriterPlugin} from './atomic-writer-plugin.js';

/** Plugin for volumes with the keys of a ConfigMap as files on disk (configmap). */
export const configMap = createAtomicWriterPlugin<ConfigMapVolumeSource>({
  directory: 'kubernetes.io~configmap',
  medium: '',
  payload: configMapPayload,
});

/** Returns the files of a configMap volume; none for a missing optional ConfigMap. Throws KcriError. */
export function configMapPayload(
  {objects}: Pick<VolumeHost, 'objects'>,
  {pod, source}: Pick<PodVolume<ConfigMapVolumeSource>, 'pod' | 'source'>,
): Payload {
  const {namespace} = podRef(pod);
  const {name = '', optional = false} = source;
  const found = findConfigMap(objects, {namespace, name, optional});
  const texts = Object.entries(found?.data ?? {}).map(([key, text]) => [key, Buffer.from(text)] as const);
  const values = {...found?.binaryData, ...Object.fromEntries(texts)};
  return keyPayload(values, source, {
    title: `ConfigMap "${namespace}/${name}"`,
    missing: 'configmap references non-existent config key',
  });
}
