import type {Pod, PodSpec} from '../../../../src/api/types/v1-pod.js';
import type {Volume} from '../../../../src/api/types/v1-volumes.js';
import {systemClock} from '../../../../src/base/clock.js';
import {NO_OBJECTS, type ApiObjects} from '../../../../src/kubelet/contract/api-objects.js';
import {createVolumeHost} from '../../../../src/kubelet/managers/pod-filesystem/create-volume-host.js';
import type {
  VolumeFacts,
  VolumeHost,
} from '../../../../src/kubelet/managers/volumes/plugins/volume-plugin.js';
import {aContainer, aPod} from '../../../fakes/a-pod.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';

/** Creates a pod whose only container mounts all these volumes. */
export function aPodWith(volumes: readonly Volume[], spec: Partial<PodSpec> = {}): Pod {
  const volumeMounts = volumes.map(({name}) => ({name, mountPath: `/${name}`}));
  return aPod({containers: [aContainer({volumeMounts})], volumes, ...spec}, {uid: 'u1'});
}

/** Creates the volume host of a node. */
export function aHost(node: VolumeFacts, objects: ApiObjects = NO_OBJECTS): VolumeHost {
  return createVolumeHost({...GOLDEN_NODE, ...node}, objects, systemClock);
}
