import type {Container, MountPropagationMode, Pod, VolumeMount} from '../../api/v1.js';
import type {Init, Mount, MountPropagation} from '../../cri/index.js';
import type {NodeFacts} from '../container/node.js';
import type {ContainerFiles, MountedVolumes} from '../container/pod-filesystem.js';
import {ContainerConfigError} from './config-errors.js';
import type {ImageVolumes} from './image-volumes.js';
import {subPath} from './sub-paths.js';

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
  readonly imageVolumes?: ImageVolumes | undefined;
  /** The container's environment. */
  readonly variables: ReadonlyMap<string, string>;
  readonly node: Pick<NodeFacts, 'selinuxEnabled' | 'runtime'>;
  readonly runtimeHandler?: string | undefined;
}

/**
 * The container's mounts: its volumes in the Pod's order, then its hosts file and its termination log
 * (Kubelet.makeMounts and kuberuntime makeMounts).
 *
 * @throws ContainerConfigError for a volume that isn't mounted, and for what subPath and recursiveReadOnly can't be.
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
    ...volumeMounts.map((mount, index) => volumeMount(mount, index, context)),
    ...(hostsPath === undefined ? [] : [own(hostsPath, '/etc/hosts')]),
    ...(terminationMessagePath === '' ? [] : [own(terminationLogPath, terminationMessagePath)]),
  ];
}

function volumeMount(mount: VolumeMount, index: number, context: MountContext): Init<Mount> {
  const {name, mountPath, readOnly = false, mountPropagation = 'None'} = mount;
  const {pod, container, volumes, imageVolumes, subPathTargets, node} = context;
  const volume = volumes.get(name);
  if (volume === undefined)
    throw new ContainerConfigError(
      `cannot find volume "${name}" to mount into container "${container.name}"`,
    );
  const image = imageVolumes?.get(name);
  return {
    ...(image === undefined
      ? {hostPath: subPathTargets.get(index) ?? volume.hostPath}
      : {image, imageSubPath: subPath(mount, context.variables)}),
    containerPath: mountPath.startsWith('/') ? mountPath : `/${mountPath}`,
    readonly: readOnly || volume.readOnly,
    recursiveReadOnly: isRecursiveReadOnly(mount, node, context.runtimeHandler),
    selinuxRelabel: node.selinuxEnabled && !isHostPath(pod, name),
    propagation: PROPAGATIONS[mountPropagation],
  };
}

/** resolveRecursiveReadOnly */
function isRecursiveReadOnly(
  {name, readOnly = false, recursiveReadOnly = 'Disabled', mountPropagation = 'None'}: VolumeMount,
  {runtime}: Pick<NodeFacts, 'runtime'>,
  handler = '',
): boolean {
  if (recursiveReadOnly === 'Disabled') return false;
  const asked = `failed to resolve recursive read-only mode: volume "${name}" requested recursive read-only mode, but it is`;
  if (!readOnly) throw new ContainerConfigError(`${asked} not read-only`);
  if (mountPropagation !== 'None')
    throw new ContainerConfigError(`${asked} not compatible with propagation "${mountPropagation}"`);
  const supported = runtime.handlers.get(handler)?.recursiveReadOnlyMounts === true;
  if (!supported && recursiveReadOnly === 'Enabled')
    throw new ContainerConfigError(`${asked} not supported by the runtime`, {
      hint: 'set recursiveReadOnly: IfPossible, or use containerd 2.0 with runc 1.1 and Linux 5.12 or later',
    });
  return supported;
}

/** What was there before the pod keeps its labels. */
function isHostPath({spec}: Pod, name: string): boolean {
  return spec.volumes?.some((volume) => volume.name === name && volume.hostPath !== undefined) ?? false;
}
