import {hashContainer} from '../../src/api/container-hash.js';
import {
  containerId,
  imageId,
  imageRef,
  podSandboxId,
  podUid,
  type ContainerState,
  type ContainerStatus,
  type PodSandboxStatus,
} from '../../src/cri/index.js';
import type {
  RuntimeContainerStatus,
  RuntimePodStatus,
} from '../../src/kubelet/contract/runtime-pod-status.js';
import {UID} from './a-pod.js';
import {exitReason} from './runtime-builders.js';

const SECOND = 1_000_000_000n;
const POD_IP = '10.88.0.5';

/** Status of a pod of which the runtime has nothing. */
export const NO_RUNTIME_POD: RuntimePodStatus = {
  uid: podUid(UID),
  name: '',
  namespace: '',
  sandboxes: [],
  containers: [],
  ips: [],
};

/** Fields of a sandbox status that differ from the defaults; `attempt` is part of its ID too. */
export interface SandboxStatusFields extends Partial<PodSandboxStatus> {
  readonly attempt?: number;
}

/** Returns the status of a sandbox of aPod's pod, by default ready and with an address. */
export function aSandboxStatus({attempt = 0, ...fields}: SandboxStatusFields = {}): PodSandboxStatus {
  return {
    id: podSandboxId(`sandbox-${attempt}`),
    metadata: {name: 'web', namespace: 'default', uid: podUid(UID), attempt},
    state: 'SANDBOX_READY',
    createdAt: 99n * SECOND + BigInt(attempt),
    network: {ip: POD_IP, additionalIps: []},
    labels: {},
    annotations: {},
    runtimeHandler: '',
    ...fields,
  };
}

/** Fields of an instance that differ from the defaults: those of its CRI status, and what kcri labels it with. */
export interface InstanceFields extends Partial<ContainerStatus> {
  readonly restartCount?: number;
  /** Image of its container, by default aContainer's. */
  readonly imageName?: string;
}

/** Returns an instance of the container of that name; an exited one ran for a second, by default successfully. */
export function anInstance(
  name: string,
  state: ContainerState,
  {restartCount = 0, imageName = 'busybox:1', ...fields}: InstanceFields = {},
): RuntimeContainerStatus {
  const id = fields.id ?? containerId(`${name}-${restartCount}`);
  const exited = state === 'CONTAINER_EXITED';
  return {
    id,
    sandboxId: podSandboxId('sandbox-0'),
    name,
    state,
    restartCount,
    hash: hashContainer({name, image: imageName}),
    cri: {
      id,
      state,
      createdAt: 100n * SECOND + BigInt(restartCount),
      startedAt: state === 'CONTAINER_CREATED' ? 0n : 101n * SECOND,
      finishedAt: exited ? 102n * SECOND : 0n,
      exitCode: 0,
      image: {image: imageName, annotations: {}, userSpecifiedImage: '', runtimeHandler: '', imageRef: ''},
      imageRef: imageRef('sha256:1'),
      imageId: imageId('sha256:1'),
      reason: exited ? exitReason(fields.exitCode ?? 0) : '',
      message: '',
      labels: {},
      annotations: {},
      mounts: [],
      logPath: '',
      stopSignal: 'SIGNAL_RUNTIME_DEFAULT',
      ...fields,
    },
  };
}

/** Returns what runs of aPod's pod: these containers, newest first, by default in one ready sandbox. */
export function aRuntimePod(
  containers: readonly RuntimeContainerStatus[] = [],
  fields: Partial<RuntimePodStatus> = {},
): RuntimePodStatus {
  return {
    uid: podUid(UID),
    name: 'web',
    namespace: 'default',
    sandboxes: [aSandboxStatus()],
    containers,
    ips: [POD_IP],
    ...fields,
  };
}
