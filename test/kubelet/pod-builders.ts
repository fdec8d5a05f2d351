import {applyPodDefaults} from '../../src/api/defaults/pod-defaults.js';
import {hashContainer} from '../../src/api/container-hash.js';
import type {Container, Pod, PodSpec} from '../../src/api/types/v1-pod.js';
import type {ObjectMeta} from '../../src/api/types/v1-meta.js';
import {
  containerId,
  imageId,
  imageRef,
  podSandboxId,
  podUid,
  type ContainerState,
  type PodSandboxState,
  type PodSandboxStatus,
} from '../../src/cri/index.js';
import {NO_OBJECTS} from '../../src/kubelet/contract/api-objects.js';
import type {EnvFiles} from '../../src/kubelet/managers/kuberuntime/config/env/env-files.js';
import type {
  RuntimeContainerStatus,
  RuntimePodStatus,
} from '../../src/kubelet/contract/runtime-pod-status.js';
import {logContainerFields, logPodFields} from '../field-log.js';

export const UID = '11111111-2222-3333-4444-555555555555';

/** For containers whose variables come from nowhere else. */
export const NO_REFERENCES = {objects: NO_OBJECTS, envFiles: new Map() as EnvFiles};

/** A container `main` of busybox, unless told otherwise. */
export function aContainer(fields: Partial<Container> = {}): Container {
  return logContainerFields({name: 'main', image: 'busybox:1', ...fields});
}

/** The pod default/web with its identity and the API's defaults; one container `main` unless told otherwise. */
export function aPod(spec: Partial<PodSpec> = {}, metadata: ObjectMeta = {}): Pod {
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {name: 'web', namespace: 'default', uid: UID, ...metadata},
    spec: {containers: [aContainer()], ...spec},
  };
  return applyPodDefaults(logPodFields(pod));
}

interface SandboxFields {
  readonly state?: PodSandboxState;
  readonly attempt?: number;
  readonly network?: PodSandboxStatus['network'];
  readonly linux?: PodSandboxStatus['linux'];
}

/** A ready sandbox with an address, unless told otherwise. */
export function aSandboxStatus({
  state = 'SANDBOX_READY',
  attempt = 0,
  ...rest
}: SandboxFields = {}): PodSandboxStatus {
  return {
    id: podSandboxId(`sandbox-${attempt}`),
    metadata: {name: 'web', namespace: 'default', uid: podUid(UID), attempt},
    state,
    createdAt: BigInt(attempt),
    labels: {},
    annotations: {},
    runtimeHandler: '',
    network: {ip: '10.244.0.2', additionalIps: []},
    ...rest,
  };
}

interface StatusFields {
  readonly restartCount?: number;
  readonly exitCode?: number;
  readonly reason?: string;
  readonly image?: string;
}

/** An instance of the container of that name, of busybox unless told otherwise. */
export function anInstance(
  name: string,
  state: ContainerState,
  fields: StatusFields = {},
): RuntimeContainerStatus {
  const {restartCount = 0, exitCode = 0, reason = '', image = 'busybox:1'} = fields;
  const id = containerId(`${name}-${restartCount}`);
  return {
    id,
    sandboxId: podSandboxId('sandbox-0'),
    name,
    state,
    restartCount,
    hash: hashContainer({name, image}),
    cri: {
      id,
      state,
      createdAt: BigInt(restartCount),
      startedAt: 0n,
      finishedAt: 0n,
      exitCode,
      reason,
      message: '',
      imageRef: imageRef(''),
      imageId: imageId(''),
      labels: {},
      annotations: {},
      mounts: [],
      logPath: '',
      stopSignal: 'SIGNAL_RUNTIME_DEFAULT',
    },
  };
}

/** What runs of the pod: a ready sandbox unless told otherwise, and these containers. */
export function aStatus(
  containers: readonly RuntimeContainerStatus[] = [],
  sandboxes: readonly PodSandboxStatus[] = [aSandboxStatus()],
): RuntimePodStatus {
  return {uid: podUid(UID), name: 'web', namespace: 'default', sandboxes, containers, ips: ['10.244.0.2']};
}
