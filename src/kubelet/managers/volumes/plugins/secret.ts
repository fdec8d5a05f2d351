import type {SecretVolumeSource} from '../../../../api/types/v1-volumes.js';
import {findSecret} from '../../../contract/api-objects.js';
import {podRef} from '../../../contract/pod-ref.js';
import type {Payload} from '../atomic-writer.js';
import {keyPayload} from './key-payload.js';
import type {PodVolume, VolumeHost} from './volume-plugin.js';
import {createAtomicWriterPlugin} from './atomic-writer-plugin.js';

/** Plugin for volumes with the keys of a Secret as files in memory (secret). */
export const secret = createAtomicWriterPlugin<SecretVolumeSource>({
  directory: 'kubernetes.io~secret',
  medium: 'Memory',
  payload: secretPayload,
});

/** Returns the files of a secret volume; none for a missing optional Secret. Throws KcriError. */
export function secretPayload(
  {objects}: Pick<VolumeHost, 'objects'>,
  {pod, source}: Pick<PodVolume<SecretVolumeSource>, 'pod' | 'source'>,
): Payload {
  const {namespace} = podRef(pod);
  const {secretName = '', optional = false} = source;
  const found = findSecret(objects, {namespace, name: secretName, optional});
  return keyPayload(found?.data ?? {}, source, {
    title: `Secret "${namespace}/${secretName}"`,
    missing: 'references non-existent secret key',
  });
}
