import type {FlexPersistentVolumeSource} from '../../../../../api/types/v1-persistent-volumes.js';
import {podRef} from '../../../../contract/pod-ref.js';
import type {PodVolume} from '../volume-plugin.js';

/** A FlexVolume of a pod. */
export type FlexVolume = PodVolume<FlexPersistentVolumeSource>;

/** Values of a Secret by key. */
export type SecretValues = Readonly<Record<string, Uint8Array>>;

/** Returns the options of a volume for its driver, in JSON (NewOptionsForDriver). */
export function flexOptions(volume: FlexVolume): string {
  return format(volume, {});
}

/** Returns the options to mount a volume for its pod, in JSON, with the Secret in base64 (SetUpAt). */
export function flexMountOptions(volume: FlexVolume, secret: SecretValues): string {
  const {pod} = volume;
  const {uid, namespace, name} = podRef(pod);
  const {fsGroup} = pod.spec.securityContext ?? {};
  const secrets = Object.entries(secret).map(([key, value]) => [
    `kubernetes.io/secret/${key}`,
    Buffer.from(value).toString('base64'),
  ]);
  return format(volume, {
    'kubernetes.io/pod.name': name,
    'kubernetes.io/pod.namespace': namespace,
    'kubernetes.io/pod.uid': uid,
    'kubernetes.io/serviceAccount.name': pod.spec.serviceAccountName ?? '',
    ...(Object.fromEntries(secrets) as Record<string, string>),
    ...(fsGroup !== undefined && {'kubernetes.io/mounterArgs.FsGroup': String(fsGroup)}),
  });
}

function format(
  {name, source, readOnly = false}: FlexVolume,
  more: Readonly<Record<string, string>>,
): string {
  const options: Readonly<Record<string, string>> = {
    'kubernetes.io/fsType': source.fsType ?? '',
    'kubernetes.io/readwrite': readOnly ? 'ro' : 'rw',
    'kubernetes.io/pvOrVolumeName': name,
    ...more,
    ...source.options,
  };
  const sorted = Object.entries(options).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(Object.fromEntries(sorted));
}
