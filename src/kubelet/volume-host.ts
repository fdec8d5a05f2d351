import type {Clock} from '../base/clock.js';
import type {ApiObjects} from './container/api-objects.js';
import type {NodeFacts} from './container/node.js';
import {fieldRefValue} from './kuberuntime/field-ref.js';
import {resourceFieldRefValue} from './kuberuntime/resource-field-ref.js';
import {systemMounter} from './volumes/mounts.js';
import type {VolumeHost} from './volumes/volume-plugin.js';

/** What the node's volumes are made from, for pods that refer to `objects`. */
export function volumeHost(node: NodeFacts, objects: ApiObjects, clock: Pick<Clock, 'now'>): VolumeHost {
  return {
    node,
    objects,
    // A volume can't name what is known of a pod only when it runs, such as its address, and unlike an environment it
    // takes the node's limits for a container without its own, and not those of the whole pod.
    downwardApi: {
      field: (pod, fieldPath) => fieldRefValue(fieldPath, {pod, podIps: [], node}),
      resource: (pod, selector) =>
        resourceFieldRefValue(selector, {pod: {...pod, spec: {...pod.spec, resources: {}}}, node}),
    },
    mounter: systemMounter,
    clock,
  };
}
