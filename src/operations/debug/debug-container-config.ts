import {DEBUG_TARGET_ANNOTATION} from '../../api/manager-annotation.js';
import {textToBytes} from '../../base/byte-text.js';
import type {
  ContainerConfig,
  ContainerStatus,
  Init,
  LinuxContainerSecurityContext,
  NamespaceOption,
  PodSandboxConfig,
} from '../../cri/index.js';

const POD_LABELS = ['io.kubernetes.pod.name', 'io.kubernetes.pod.namespace', 'io.kubernetes.pod.uid'];
const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name';

/** Annotations that a kubelet reads from every container of its pods; without them it logs errors. */
const KUBELET_ANNOTATIONS = {
  'io.kubernetes.container.hash': '0',
  'io.kubernetes.container.restartCount': '0',
  'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
  'io.kubernetes.container.terminationMessagePolicy': 'File',
};

/** Container to create in the sandbox of another one. */
export interface DebugContainer {
  readonly name: string;
  readonly image: string;
  /** Command line; empty for that of the image. */
  readonly words: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  readonly securityContext: Init<LinuxContainerSecurityContext>;
  readonly stdin: boolean;
  readonly tty: boolean;
  readonly logName: string;
  /** Running container whose processes it sees. */
  readonly target: ContainerStatus;
  /** Config of the sandbox that both share. */
  readonly sandbox: PodSandboxConfig;
}

/**
 * Returns the config of a debug container. In a pod of a kubelet it has the labels of the pod: a kubelet ignores a
 * container that the Pod does not have, and stops it with the pod, but kills running containers without these labels as
 * those of an unknown pod (kuberuntime GetPods, HandlePodCleanups).
 */
export function debugContainerConfig(debug: DebugContainer): Init<ContainerConfig> {
  const {name, image, words, environment, stdin, tty, logName, target, sandbox} = debug;
  const identity = POD_LABELS.flatMap((label) => {
    const value = sandbox.labels[label];
    return value === undefined ? [] : [[label, value] as const];
  });
  const isOfKubelet = identity.length > 0;
  return {
    metadata: {name, attempt: 0},
    image: {image, userSpecifiedImage: image},
    command: words,
    envs: [...environment].map(([key, value]) => ({key, value: textToBytes(value)})),
    // A kubelet writes the hosts file of its pods itself.
    mounts: target.mounts
      .filter(({containerPath}) => containerPath === '/etc/hosts')
      .map(({containerPath, hostPath}) => ({containerPath, hostPath})),
    labels: isOfKubelet ? {...Object.fromEntries(identity), [CONTAINER_NAME_LABEL]: name} : {},
    annotations: {
      ...(isOfKubelet && KUBELET_ANNOTATIONS),
      [DEBUG_TARGET_ANNOTATION]: target.metadata?.name ?? '',
    },
    logPath: logName,
    stdin,
    stdinOnce: stdin,
    tty,
    linux: {
      securityContext: {...debug.securityContext, namespaceOptions: debugNamespaces(sandbox, target)},
    },
  };
}

function debugNamespaces(sandbox: PodSandboxConfig, target: ContainerStatus): Init<NamespaceOption> {
  const options = sandbox.linux?.securityContext?.namespaceOptions ?? {};
  return {...options, pid: 'TARGET', targetId: target.id};
}

/** Reports whether a container has a process namespace of its own, in which its main process is PID 1. */
export function hasOwnProcesses(target: ContainerConfig, sandbox: PodSandboxConfig): boolean {
  const options = [target, sandbox].map(({linux}) => linux?.securityContext?.namespaceOptions);
  const known = options.find((option) => option !== undefined);
  return known?.pid === 'CONTAINER' || known?.pid === 'TARGET';
}
