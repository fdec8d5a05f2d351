import type {Pod, PodSpec} from '../../api/v1.js';
import type {Init, NamespaceMode, NamespaceOption} from '../../cri/index.js';

/** The network namespace that the pod asks for (runtimeutil.NetworkNamespaceForPod). */
export function networkNamespace({spec}: Pod): NamespaceMode {
  return spec.hostNetwork === true ? 'NODE' : 'POD';
}

/** The namespaces of the pod's sandbox and containers (runtimeutil.NamespacesForPod); users are always the node's. */
export function namespaceOptions(pod: Pod): Init<NamespaceOption> {
  return {
    network: networkNamespace(pod),
    pid: pidNamespace(pod.spec),
    ipc: pod.spec.hostIPC === true ? 'NODE' : 'POD',
    usernsOptions: {mode: 'NODE'},
  };
}

function pidNamespace({hostPID, shareProcessNamespace}: PodSpec): NamespaceMode {
  if (hostPID === true) return 'NODE';
  return shareProcessNamespace === true ? 'POD' : 'CONTAINER';
}
