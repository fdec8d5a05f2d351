import {posix} from 'node:path';
import type {Container, MountPropagationMode, Pod, VolumeMount} from '../../../../api/types/v1-pod.js';
import type {Init, Mount, MountPropagation} from '../../../../cri/index.js';
import {hasApiServer} from '../../../sources/static-pod.js';
import type {NodeFacts, RuntimeFeatures} from '../../../contract/node-facts.js';
import type {ContainerFiles, MountedVolumes} from '../../../contract/pod-filesystem.js';
import {ContainerConfigError} from './config-errors.js';
import type {ImageVolumes} from '../../../contract/volumes/image-volumes.js';
import {expandSubPath} from './sub-path-mounts.js';

const PROPAGATIONS: Readonly<Record<MountPropagationMode, MountPropagation>> = {
  None: 'PROPAGATION_PRIVATE',
  HostToContainer: 'PROPAGATION_HOST_TO_CONTAINER',
  Bidirectional: 'PROPAGATION_BIDIRECTIONAL',
};

/** Input of containerMounts. */
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
 * Returns the mounts of a container: its volumeMounts in order, then the hosts file and the termination log
 * (Kubelet.makeMounts and kuberuntime makeMounts).
 *
 * @throws ContainerConfigError for a volume that is not mounted, or an invalid subPath or recursiveReadOnly.
 */
export function containerMounts(context: MountContext): readonly Init<Mount>[] {
  const {container, hostsPath, terminationLogPath, node} = context;
  const {volumeMounts = [], terminationMessagePath = ''} = container;
  const fileMount = (hostPath: string, containerPath: string): Init<Mount> => ({
    hostPath,
    containerPath,
    selinuxRelabel: node.selinuxEnabled,
  });
  return [
    ...volumeMounts.map((mount, index) => volumeMount(mount, index, context)),
    ...(hostsPath === undefined ? [] : [fileMount(hostsPath, '/etc/hosts')]),
    ...(terminationMessagePath === ''
      ? []
      : [fileMount(terminationLogPath, absoluteContainerPath(terminationMessagePath))]),
  ];
}

function volumeMount(mount: VolumeMount, index: number, context: MountContext): Init<Mount> {
  const {name, mountPath, readOnly = false, mountPropagation = 'None'} = mount;
  const {container, volumes, imageVolumes, subPathTargets, node} = context;
  const volume = volumes.get(name);
  if (volume === undefined)
    throw new ContainerConfigError(
      `cannot find volume "${name}" to mount into container "${container.name}"`,
    );
  const image = imageVolumes?.get(name);
  return {
    ...(image === undefined
      ? {hostPath: subPathTargets.get(index) ?? volume.hostPath}
      : {image, imageSubPath: expandSubPath(mount, context.variables)}),
    containerPath: mountPath.startsWith('/') ? mountPath : absoluteContainerPath(mountPath),
    readonly: readOnly || volume.readOnly,
    recursiveReadOnly: isRecursiveReadOnly(mount, context),
    selinuxRelabel: node.selinuxEnabled && volume.keepsLabels !== true,
    propagation: PROPAGATIONS[mountPropagation],
  };
}

/** Returns the absolute form of a path in a container (volumeutil.MakeAbsolutePath). */
export function absoluteContainerPath(path: string): string {
  return posix.resolve('/', path);
}

/** Reports whether a mount is recursively read-only (resolveRecursiveReadOnly). */
function isRecursiveReadOnly(
  {name, readOnly = false, recursiveReadOnly = 'Disabled', mountPropagation = 'None'}: VolumeMount,
  context: MountContext,
): boolean {
  if (recursiveReadOnly === 'Disabled') return false;
  const prefix = `failed to resolve recursive read-only mode: volume "${name}" requested recursive read-only mode, but it is`;
  if (!readOnly) throw new ContainerConfigError(`${prefix} not read-only`);
  if (mountPropagation !== 'None')
    throw new ContainerConfigError(`${prefix} not compatible with propagation "${mountPropagation}"`);
  const supported = supportsRecursiveReadOnlyMounts(context);
  if (!supported && recursiveReadOnly === 'Enabled')
    throw new ContainerConfigError(`${prefix} not supported by the runtime`, {
      hint: 'set recursiveReadOnly: IfPossible; Enabled requires containerd 2.0 with runc 1.1, Linux 5.12, and a pod that is not --static',
    });
  return supported;
}

/**
 * Reports whether the pod's runtime handler supports recursive read-only mounts
 * (runtimeClassSupportsRecursiveReadOnlyMounts). False for static pods without an API server: the kubelet has no
 * RuntimeClasses then and does not check handlers.
 */
export function supportsRecursiveReadOnlyMounts({
  pod,
  node,
  runtimeHandler = '',
}: Pick<MountContext, 'pod' | 'runtimeHandler'> & {
  readonly node: Pick<NodeFacts, 'inCluster'> & {readonly runtime: Pick<RuntimeFeatures, 'handlers'>};
}): boolean {
  return (
    hasApiServer(pod, node) && node.runtime.handlers.get(runtimeHandler)?.recursiveReadOnlyMounts === true
  );
}
