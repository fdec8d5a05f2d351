import {containerId, imageId, imageRef, podSandboxId, podUid} from '../../../src/cri/index.js';
import type {ContainerStatus as CriContainerStatus, PodSandboxStatus} from '../../../src/cri/index.js';
import type {
  RuntimeContainerStatus,
  RuntimePodStatus,
} from '../../../src/kubelet/contract/runtime-pod-status.js';

const SECOND = 1_000_000_000n;
export const SANDBOX = podSandboxId('sandbox');

/** Returns a container instance as a runtime reports it; an exited one has exit code 0 by default. */
export function anInstance(
  name: string,
  state: RuntimeContainerStatus['state'],
  override: Partial<CriContainerStatus> & {readonly restartCount?: number} = {},
): RuntimeContainerStatus {
  const {restartCount = 0, ...cri} = override;
  const id = cri.id ?? containerId(`${name}-${restartCount}`);
  const exited = state === 'CONTAINER_EXITED';
  return {
    id,
    sandboxId: SANDBOX,
    name,
    state,
    restartCount,
    hash: '1',
    cri: {
      id,
      state,
      createdAt: 100n * SECOND,
      startedAt: 101n * SECOND,
      finishedAt: exited ? 102n * SECOND : 0n,
      exitCode: 0,
      imageRef: imageRef('sha256:1'),
      imageId: imageId('sha256:1'),
      reason: exited ? (cri.exitCode === undefined || cri.exitCode === 0 ? 'Completed' : 'Error') : '',
      message: '',
      labels: {},
      annotations: {},
      mounts: [],
      logPath: '',
      stopSignal: 'SIGNAL_RUNTIME_DEFAULT',
      ...cri,
    },
  };
}

export function aSandbox(override: Partial<PodSandboxStatus> = {}): PodSandboxStatus {
  return {
    id: SANDBOX,
    metadata: {name: 'web', uid: podUid('u1'), namespace: 'default', attempt: 0},
    state: 'SANDBOX_READY',
    createdAt: 99n * SECOND,
    network: {ip: '10.88.0.5', additionalIps: []},
    labels: {},
    annotations: {},
    runtimeHandler: '',
    ...override,
  };
}

/** Returns the runtime status of a pod with one ready sandbox, newest container first. */
export function aRuntimePod(
  containers: readonly RuntimeContainerStatus[],
  override: Partial<RuntimePodStatus> = {},
): RuntimePodStatus {
  return {
    uid: podUid('u1'),
    name: 'web',
    namespace: 'default',
    sandboxes: [aSandbox()],
    containers,
    ips: ['10.88.0.5'],
    ...override,
  };
}
