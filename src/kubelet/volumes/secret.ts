import type {SecretVolumeSource} from '../../api/v1-volumes.js';
import {objectNotFound} from '../container/api-objects.js';
import {podRef} from '../container/pod-ref.js';
import type {Payload} from './atomic-writer.js';
import {keyPayload} from './key-payload.js';
import type {PodVolume, VolumeHost} from './volume-plugin.js';
import {writtenVolume} from './written-volume.js';

/** A Secret's keys as files, in memory (secret). */
export const secret = writtenVolume<SecretVolumeSource>({
  directory: 'kubernetes.io~secret',
  medium: 'Memory',
  payload: secretPayload,
});

/** What a secret volume holds; one that is optional and isn't there holds nothing. Throws KcriError. */
export function secretPayload(
  {objects}: Pick<VolumeHost, 'objects'>,
  {pod, source}: Pick<PodVolume<SecretVolumeSource>, 'pod' | 'source'>,
): Payload {
  const {namespace} = podRef(pod);
  const {secretName = '', optional = false} = source;
  const found = objects.secret(namespace, secretName);
  if (found === undefined && !optional) throw objectNotFound(objects, 'Secret', secretName, namespace);
  return keyPayload(found?.data ?? {}, source, {
    title: `Secret "${namespace}/${secretName}"`,
    missing: 'references non-existent secret key',
  });
}
