import type {ConfigMapVolumeSource} from '../../api/v1-volumes.js';
import {objectNotFound} from '../container/api-objects.js';
import {podRef} from '../container/pod-ref.js';
import type {Payload} from './atomic-writer.js';
import {keyPayload} from './key-payload.js';
import type {PodVolume, VolumeHost} from './volume-plugin.js';
import {writtenVolume} from './written-volume.js';

/** A ConfigMap's keys as files, on the node's disk (configmap). */
export const configMap = writtenVolume<ConfigMapVolumeSource>({
  directory: 'kubernetes.io~configmap',
  medium: '',
  payload: configMapPayload,
});

/** What a configMap volume holds; one that is optional and isn't there holds nothing. Throws KcriError. */
export function configMapPayload(
  {objects}: Pick<VolumeHost, 'objects'>,
  {pod, source}: Pick<PodVolume<ConfigMapVolumeSource>, 'pod' | 'source'>,
): Payload {
  const {namespace} = podRef(pod);
  const {name = '', optional = false} = source;
  const found = objects.configMap(namespace, name);
  if (found === undefined && !optional) throw objectNotFound(objects, 'ConfigMap', name, namespace);
  const texts = Object.entries(found?.data ?? {}).map(([key, text]) => [key, Buffer.from(text)] as const);
  const values = {...found?.binaryData, ...Object.fromEntries(texts)};
  return keyPayload(values, source, {
    title: `ConfigMap "${namespace}/${name}"`,
    missing: 'configmap references non-existent config key',
  });
}
