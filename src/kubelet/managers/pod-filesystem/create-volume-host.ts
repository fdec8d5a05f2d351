import type {Clock} from '../../../base/clock.js';
import type {ApiObjects} from '../../contract/api-objects.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import {fieldRefValue} from '../kuberuntime/config/env/field-ref.js';
import {resourceFieldRefValue} from '../kuberuntime/config/env/resource-field-ref.js';
import {systemLoopDevices} from '../volumes/block/loop-devices.js';
import {runDiskTool} from '../volumes/devices/disk-tools.js';
import {systemMounter} from '../volumes/mounter.js';
import {SYSTEM_DISK_ROOTS} from '../volumes/plugins/disks/disk-roots.js';
import {systemFlexDrivers} from '../volumes/plugins/flex/flex-drivers.js';
import type {VolumeHost} from '../volumes/plugins/volume-plugin.js';

/** Creates the environment of volume plugins, for pods that refer to `objects`. */
export function createVolumeHost(node: NodeFacts, objects: ApiObjects, clock: Clock): VolumeHost {
  return {
    node,
    objects,
    // Volumes cannot refer to runtime values such as the pod's IP address. Unlike environment variables, they use the
    // node's allocatable amounts, not pod-level limits, for a container without limits.
    downwardApi: {
      field: (pod, fieldPath) => fieldRefValue(fieldPath, {pod, podIps: [], node}),
      resource: (pod, selector) =>
        resourceFieldRefValue(selector, {pod: {...pod, spec: {...pod.spec, resources: {}}}, node}),
    },
    mounter: systemMounter,
    runTool: runDiskTool,
    loops: systemLoopDevices,
    flex: systemFlexDrivers,
    roots: SYSTEM_DISK_ROOTS,
    clock,
  };
}
