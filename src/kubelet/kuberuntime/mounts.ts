import {posix} from 'node:path';
import type {Container, MountPropagationMode, Pod, VolumeMount} from '../../api/v1.js';
import type {Init, Mount, MountPropagation} from '../../cri/index.js';
import {isStaticPod} from '../config/static-pod.js';
import type {NodeFacts, RuntimeFeatures} from '../container/node.js';
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
    ...(terminationMessagePath === ''
      ? []
      : [own(terminationLogPath, absoluteInContainer(terminationMessagePath))]),
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
    containerPath: mountPath.startsWith('/') ? mountPath : absoluteInContainer(mountPath),
    readonly: readOnly || volume.readOnly,
    recursiveReadOnly: isRecursiveReadOnly(mount, context),
    selinuxRelabel: node.selinuxEnabled && !isHostPath(pod, name),
    propagation: PROPAGATIONS[mountPropagation],
  };
}

/** A path in a container from its root (volumeutil.MakeAbsolutePath). */
export function absoluteInContainer(path: string): string {
  return posix.resolve('/', path);
}

/** resolveRecursiveReadOnly */
function isRecursiveReadOnly(
  {name, readOnly = false, recursiveReadOnly = 'Disabled', mountPropagation = 'None'}: VolumeMount,
  context: MountContext,
): boolean {
  if (recursiveReadOnly === 'Disabled') return false;
  const asked = `failed to resolve recursive read-only mode: volume "${name}" requested recursive read-only mode, but it is`;
  if (!readOnly) throw new ContainerConfigError(`${asked} not read-only`);
  if (mountPropagation !== 'None')
    throw new ContainerConfigError(`${asked} not compatible with propagation "${mountPropagation}"`);
  const supported = mountsRecursivelyReadOnly(context);
  if (!supported && recursiveReadOnly === 'Enabled')
    throw new ContainerConfigError(`${asked} not supported by the runtime`, {
      hint: 'set recursiveReadOnly: IfPossible; Enabled takes containerd 2.0 with runc 1.1, Linux 5.12, and a pod that is not --static',
    });
  return supported;
}

/**
 * Whether the runtime handler can mount whole trees read-only. Without an API server a kubelet knows no RuntimeClasses
 * and asks no handler: a static pod has none of it (runtimeClassSupportsRecursiveReadOnlyMounts).
 */
export function mountsRecursivelyReadOnly({
  pod,
  node,
  runtimeHandler = '',
}: Pick<MountContext, 'pod' | 'runtimeHandler'> & {
  readonly node: {readonly runtime: Pick<RuntimeFeatures, 'handlers'>};
}): boolean {
  return !isStaticPod(pod) && node.runtime.handlers.get(runtimeHandler)?.recursiveReadOnlyMounts === true;
}

/** What was there before the pod keeps its labels. */
function isHostPath({spec}: Pod, name: string): boolean {
  return spec.volumes?.some((volume) => volume.name === name && volume.hostPath !== undefined) ?? false;
}
