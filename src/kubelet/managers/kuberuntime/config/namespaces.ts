import type {Pod, PodSpec} from '../../../../api/types/v1-pod.js';
import type {
  ContainerId,
  Init,
  NamespaceMode,
  NamespaceOption,
  UserNamespace,
} from '../../../../cri/index.js';
import type {IdMapping} from '../../../contract/pod-filesystem.js';

/** Returns the network namespace mode of a pod (runtimeutil.NetworkNamespaceForPod). */
export function networkNamespace({spec}: Pod): NamespaceMode {
  return spec.hostNetwork === true ? 'NODE' : 'POD';
}

/**
 * Returns the namespaces of a pod's sandbox and containers (runtimeutil.NamespacesForPod); `ids` map its user
 * namespace. A container with a target sees the processes of that container, unless all containers share a namespace.
 */
export function namespaceOptions(
  pod: Pod,
  ids: IdMapping | undefined,
  targetId?: ContainerId,
): Init<NamespaceOption> {
  const pid = pidNamespace(pod.spec);
  return {
    network: networkNamespace(pod),
    ...(targetId !== undefined && pid === 'CONTAINER' ? {pid: 'TARGET', targetId} : {pid}),
    ipc: pod.spec.hostIPC === true ? 'NODE' : 'POD',
    usernsOptions: userNamespaceOptions(ids),
  };
}

function userNamespaceOptions(ids: IdMapping | undefined): Init<UserNamespace> {
  return ids === undefined ? {mode: 'NODE'} : {mode: 'POD', uids: [ids], gids: [ids]};
}

function pidNamespace({hostPID, shareProcessNamespace}: PodSpec): NamespaceMode {
  if (hostPID === true) return 'NODE';
  return shareProcessNamespace === true ? 'POD' : 'CONTAINER';
}
