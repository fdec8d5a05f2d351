import type {Container, Pod, VolumeMount} from '../../../../api/types/v1-pod.js';
import type {ContainerStatus, VolumeMountStatus} from '../../../../api/types/v1-status.js';
import type {RuntimeFeatures} from '../../../contract/node-facts.js';
import type {RuntimePodStatus} from '../../../contract/runtime-pod-status.js';
import {supportsRecursiveReadOnlyMounts} from '../../../managers/kuberuntime/config/container-mounts.js';

/** Input of volumeMountsOf. */
interface VolumeMountStatusInput {
  readonly pod: Pod;
  readonly runtime: RuntimePodStatus;
  readonly node: {readonly runtime: Pick<RuntimeFeatures, 'handlers'>};
}

/**
 * Returns the volume mounts of the container; the runtime handler decides whether they can be recursively read-only.
 */
export function volumeMountsOf(
  {volumeMounts = []}: Container,
  {pod, runtime, node}: VolumeMountStatusInput,
): Pick<ContainerStatus, 'volumeMounts'> {
  if (volumeMounts.length === 0) return {};
  // Without a sandbox the handler of the RuntimeClass is unknown: its name is the best guess.
  const runtimeHandler = runtime.sandboxes[0]?.runtimeHandler ?? pod.spec.runtimeClassName ?? '';
  const isPossible = supportsRecursiveReadOnlyMounts({pod, node, runtimeHandler});
  const isRecursive = ({recursiveReadOnly = 'Disabled'}: VolumeMount): boolean =>
    isPossible && recursiveReadOnly !== 'Disabled';
  return {
    volumeMounts: volumeMounts.map((mount): VolumeMountStatus => {
      const {name, mountPath, readOnly} = mount;
      if (readOnly !== true) return {name, mountPath};
      return {name, mountPath, readOnly, recursiveReadOnly: isRecursive(mount) ? 'Enabled' : 'Disabled'};
    }),
  };
}

/** Returns the volume mounts in an earlier status of the same instance, of which they do not change. */
export function mountsBefore({volumeMounts}: ContainerStatus): Pick<ContainerStatus, 'volumeMounts'> {
  return volumeMounts === undefined ? {} : {volumeMounts};
}
