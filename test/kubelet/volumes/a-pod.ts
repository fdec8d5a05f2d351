import type {Container, Pod, PodSpec} from '../../../src/api/v1.js';
import type {Volume} from '../../../src/api/v1-volumes.js';

/** A pod whose one container mounts all the volumes. */
export function aPodWith(volumes: readonly Volume[], spec: Partial<PodSpec> = {}): Pod {
  const main: Container = {
    name: 'main',
    image: 'busybox:1',
    volumeMounts: volumes.map(({name}) => ({name, mountPath: `/${name}`})),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name: 'web', namespace: 'default', uid: 'u1'},
    spec: {containers: [main], volumes, ...spec},
  };
}
