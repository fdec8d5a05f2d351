import type {Pod, PodSpec} from '../../api/v1.js';
import type {Init, NamespaceMode, NamespaceOption, UserNamespace} from '../../cri/index.js';
import type {IdMapping} from '../container/pod-filesystem.js';

/** The network namespace that the pod asks for (runtimeutil.NetworkNamespaceForPod). */
export function networkNamespace({spec}: Pod): NamespaceMode {
  return spec.hostNetwork === true ? 'NODE' : 'POD';
}

/** The namespaces of the pod's sandbox and containers (runtimeutil.NamespacesForPod); `ids` when users are its own. */
export function namespaceOptions(pod: Pod, ids: IdMapping | undefined): Init<NamespaceOption> {
  return {
    network: networkNamespace(pod),
    pid: pidNamespace(pod.spec),
    ipc: pod.spec.hostIPC === true ? 'NODE' : 'POD',
    usernsOptions: usersOf(ids),
  };
}

function usersOf(ids: IdMapping | undefined): Init<UserNamespace> {
  return ids === undefined ? {mode: 'NODE'} : {mode: 'POD', uids: [ids], gids: [ids]};
}

function pidNamespace({hostPID, shareProcessNamespace}: PodSpec): NamespaceMode {
  if (hostPID === true) return 'NODE';
  return shareProcessNamespace === true ? 'POD' : 'CONTAINER';
}
