import type {Container, MountPropagationMode, Pod, VolumeMount} from '../../api/v1.js';
import type {Init, Mount, MountPropagation} from '../../cri/index.js';
import type {NodeFacts} from '../container/node.js';
import type {ContainerFiles, MountedVolumes} from '../container/pod-filesystem.js';
import {ContainerConfigError} from './config-errors.js';

const PROPAGATIONS: Readonly<Record<MountPropagationMode, MountPropagation>> = {
  None: 'PROPAGATION_PRIVATE',
  HostToContainer: 'PROPAGATION_HOST_TO_CONTAINER',
  Bidirectional: 'PROPAGATION_BIDIRECTIONAL',
};

/** What a container's mounts are made from. */
export interface MountContext extends ContainerFiles {
  readonly pod: Pod;
  readonly container: Container;
  readonly volumes: MountedVolumes;
  readonly node: Pick<NodeFacts, 'selinuxEnabled'>;
}

/**
 * The container's mounts: its volumes in the Pod's order, then its hosts file and its termination log
 * (Kubelet.makeMounts and kuberuntime makeMounts).
 *
 * @throws ContainerConfigError for a volume that isn't mounted.
 */
export function containerMounts(context: MountContext): readonly Init<Mount>[] {
  const {container, hostsPath, terminationLogPath, node} = context;
  const {volumeMounts = [], terminationMessagePath = ''} = container;
  const own = (hostPath: string, containerPath: string): Init<Mount> => ({
    hostPath,
    containerPath,
    selinuxRelabel: node.selinuxEnabled,
  });
  return [
    ...volumeMounts.map((mount) => volumeMount(mount, context)),
    ...(hostsPath === undefined ? [] : [own(hostsPath, '/etc/hosts')]),
    ...(terminationMessagePath === '' ? [] : [own(terminationLogPath, terminationMessagePath)]),
  ];
}

function volumeMount(
  {name, mountPath, readOnly = false, mountPropagation = 'None'}: VolumeMount,
  {pod, container, volumes, node}: MountContext,
): Init<Mount> {
  const volume = volumes.get(name);
  if (volume === undefined)
    throw new ContainerConfigError(
      `cannot find volume "${name}" to mount into container "${container.name}"`,
    );
  return {
    hostPath: volume.hostPath,
    containerPath: mountPath.startsWith('/') ? mountPath : `/${mountPath}`,
    readonly: readOnly || volume.readOnly,
    selinuxRelabel: node.selinuxEnabled && !isHostPath(pod, name),
    propagation: PROPAGATIONS[mountPropagation],
  };
}

/** What was there before the pod keeps its labels. */
function isHostPath({spec}: Pod, name: string): boolean {
  return spec.volumes?.some((volume) => volume.name === name && volume.hostPath !== undefined) ?? false;
}
