import {nextIteration} from '../../base/async/next-iteration.js';
import {
  containerId,
  CriError,
  imageId,
  imageRef,
  isNotFound,
  podSandboxId,
  type Container,
  type ContainerConfig,
  type ContainerId,
  type ContainerState,
  type ContainerStatus,
  type PodSandbox,
  type PodSandboxConfig,
  type PodSandboxId,
  type PodSandboxStatus,
} from '../../cri/index.js';
import type {KubeImageService, KubeRuntimeService, KubeServices} from '../contract/kube-services.js';

/** Placeholder for an address that only a running sandbox has. */
export const PLANNED_POD_IP = '<pod IP>';

interface PlannedSandbox {
  readonly config: PodSandboxConfig;
  readonly createdAt: bigint;
}

interface PlannedContainer {
  readonly config: ContainerConfig;
  readonly sandboxId: PodSandboxId;
  readonly createdAt: bigint;
  state: ContainerState;
}

/** Options of createPlannedServices. */
export interface PlannedServicesOptions {
  /** Reports whether a container is assumed to complete immediately, as init containers are. */
  readonly exitsAtOnce: (containerName: string) => boolean;
}

/**
 * Creates services that read from the real runtime and simulate changes. Later reads include these changes, so that the
 * sync code plans by running. Init containers succeed; other containers continue to run.
 */
export function createPlannedServices(real: KubeServices, options: PlannedServicesOptions): KubeServices {
  const state = new PlannedState(options);
  return {runtime: plannedRuntime(real.runtime, state), images: plannedImages(real.images, state)};
}

class PlannedState {
  readonly sandboxes = new Map<PodSandboxId, PlannedSandbox>();
  readonly containers = new Map<ContainerId, PlannedContainer>();
  readonly stopped = new Set<string>();
  readonly removed = new Set<string>();
  readonly pulled = new Set<string>();
  readonly exitsAtOnce: PlannedServicesOptions['exitsAtOnce'];
  #clock = 0n;

  constructor({exitsAtOnce}: PlannedServicesOptions) {
    this.exitsAtOnce = exitsAtOnce;
  }

  /** Returns a time after all real times, in the order of the plan. */
  tick(): bigint {
    return BigInt(Number.MAX_SAFE_INTEGER) * 1000n + this.#clock++;
  }
}

function notFound(method: string, id: string): CriError {
  return new CriError({
    method,
    endpoint: 'plan',
    grpcCode: 'NOT_FOUND',
    details: `${id} is removed by the plan`,
  });
}

function plannedRuntime(real: KubeRuntimeService, state: PlannedState): KubeRuntimeService {
  return {
    version: real.version,
    containerStats: real.containerStats,
    ...sandboxReads(real, state),
    ...containerReads(real, state),
    ...sandboxWrites(state),
    ...containerWrites(state),
  };
}

function sandboxWrites(
  state: PlannedState,
): Pick<
  KubeRuntimeService,
  'runPodSandbox' | 'stopPodSandbox' | 'removePodSandbox' | 'updatePodSandboxResources'
> {
  return {
    runPodSandbox: async ({config} = {}) => {
      const {namespace, name, attempt} = {...config?.metadata};
      const id = podSandboxId(`<sandbox ${namespace ?? ''}/${name ?? ''}/${attempt ?? 0}>`);
      state.sandboxes.set(id, {config: config as PodSandboxConfig, createdAt: state.tick()});
      return {podSandboxId: id};
    },
    stopPodSandbox: async ({podSandboxId: id = podSandboxId('')} = {}) => {
      state.stopped.add(id);
      return {};
    },
    removePodSandbox: async ({podSandboxId: id = podSandboxId('')} = {}) => {
      state.removed.add(id);
      return {};
    },
    updatePodSandboxResources: async () => ({}),
  };
}

function containerWrites(
  state: PlannedState,
): Pick<
  KubeRuntimeService,
  | 'createContainer'
  | 'startContainer'
  | 'stopContainer'
  | 'removeContainer'
  | 'updateContainerResources'
  | 'execSync'
> {
  return {
    createContainer: async ({config, podSandboxId: sandboxId = podSandboxId('')} = {}) => {
      // A plan of many containers can be interrupted.
      await nextIteration();
      const id = containerId(`<container ${config?.metadata?.name ?? ''}/${config?.metadata?.attempt ?? 0}>`);
      state.containers.set(id, {
        config: config as ContainerConfig,
        sandboxId,
        createdAt: state.tick(),
        state: 'CONTAINER_CREATED',
      });
      return {containerId: id};
    },
    startContainer: async ({containerId: id = containerId('')} = {}) => {
      const container = state.containers.get(id);
      if (container !== undefined)
        container.state = state.exitsAtOnce(container.config.metadata?.name ?? '')
          ? 'CONTAINER_EXITED'
          : 'CONTAINER_RUNNING';
      return {};
    },
    stopContainer: async ({containerId: id = containerId('')} = {}) => {
      state.stopped.add(id);
      return {};
    },
    removeContainer: async ({containerId: id = containerId('')} = {}) => {
      state.removed.add(id);
      return {};
    },
    updateContainerResources: async () => ({}),
    // A hook is assumed to succeed.
    execSync: async () => ({stdout: Buffer.alloc(0), stderr: Buffer.alloc(0), exitCode: 0}),
  };
}

function sandboxReads(
  real: KubeRuntimeService,
  state: PlannedState,
): Pick<KubeRuntimeService, 'listPodSandbox' | 'podSandboxStatus'> {
  return {
    listPodSandbox: async (request = {}, options) => {
      const {items} = await real.listPodSandbox(request, options);
      const selector = request.filter?.labelSelector ?? {};
      const planned = [...state.sandboxes]
        .filter(([, {config}]) => matches(config.labels, selector))
        .map(([id, sandbox]): PodSandbox => sandboxStatus(id, sandbox));
      const present = [...items, ...planned].filter(({id}) => !state.removed.has(id));
      return {items: present.map((item) => stopSandbox(item, state))};
    },
    podSandboxStatus: async (request = {}, options) => {
      const id = request.podSandboxId ?? podSandboxId('');
      if (state.removed.has(id)) throw notFound('PodSandboxStatus', id);
      const planned = state.sandboxes.get(id);
      const {status, ...rest} =
        planned === undefined
          ? await real.podSandboxStatus(request, options)
          : {status: sandboxStatus(id, planned), info: {}, containersStatuses: [], timestamp: 0n};
      return {...rest, status: status === undefined ? undefined : stopSandbox(status, state)};
    },
  };
}

function containerReads(
  real: KubeRuntimeService,
  state: PlannedState,
): Pick<KubeRuntimeService, 'listContainers' | 'containerStatus'> {
  return {
    listContainers: async (request = {}, options) => {
      const {containers} = await real.listContainers(request, options);
      const selector = request.filter?.labelSelector ?? {};
      const planned = [...state.containers]
        .filter(([, {config}]) => matches(config.labels, selector))
        .map(([id, container]): Container => ({
          ...containerStatus(id, container),
          podSandboxId: container.sandboxId,
        }));
      const present = [...containers, ...planned].filter(({id}) => !state.removed.has(id));
      return {containers: present.map((item) => stopContainer(item, state))};
    },
    containerStatus: async (request = {}, options) => {
      const id = request.containerId ?? containerId('');
      if (state.removed.has(id)) throw notFound('ContainerStatus', id);
      const planned = state.containers.get(id);
      const {status, ...rest} =
        planned === undefined
          ? await real.containerStatus(request, options)
          : {status: containerStatus(id, planned), info: {}};
      return {...rest, status: status === undefined ? undefined : stopContainer(status, state)};
    },
  };
}

function matches(
  labels: Readonly<Record<string, string>>,
  selector: Readonly<Record<string, string>>,
): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

function stopSandbox<T extends {readonly id: PodSandboxId; readonly state: PodSandbox['state']}>(
  item: T,
  {stopped}: PlannedState,
): T {
  return stopped.has(item.id) ? {...item, state: 'SANDBOX_NOTREADY'} : item;
}

function stopContainer<T extends {readonly id: ContainerId; readonly state: ContainerState}>(
  item: T,
  {stopped}: PlannedState,
): T {
  return stopped.has(item.id) ? {...item, state: 'CONTAINER_EXITED'} : item;
}

function sandboxStatus(id: PodSandboxId, {config, createdAt}: PlannedSandbox): PodSandboxStatus {
  return {
    id,
    metadata: config.metadata,
    state: 'SANDBOX_READY',
    createdAt,
    network: {ip: PLANNED_POD_IP, additionalIps: []},
    linux: {namespaces: {options: config.linux?.securityContext?.namespaceOptions}},
    labels: config.labels,
    annotations: config.annotations,
    runtimeHandler: '',
  };
}

function containerStatus(id: ContainerId, {config, createdAt, state}: PlannedContainer): ContainerStatus {
  const exited = state === 'CONTAINER_EXITED';
  return {
    id,
    metadata: config.metadata,
    state,
    createdAt,
    startedAt: state === 'CONTAINER_CREATED' ? 0n : createdAt,
    finishedAt: exited ? createdAt : 0n,
    exitCode: 0,
    image: config.image,
    imageRef: imageRef(config.image?.image ?? ''),
    imageId: imageId(config.image?.image ?? ''),
    reason: exited ? 'Completed' : '',
    message: '',
    labels: config.labels,
    annotations: config.annotations,
    mounts: config.mounts,
    logPath: config.logPath,
    stopSignal: 'SIGNAL_RUNTIME_DEFAULT',
  };
}

function plannedImages(real: KubeImageService, state: PlannedState): KubeImageService {
  return {
    listImages: real.listImages,
    imageFsInfo: real.imageFsInfo,
    imageStatus: async (request = {}, options) => {
      const name = request.image?.image ?? '';
      try {
        const answer = await real.imageStatus(request, options);
        if (answer.image !== undefined) return answer;
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
      if (!state.pulled.has(name)) return {info: {}};
      const image = {
        id: imageId(`<image ${name}>`),
        repoTags: [name],
        repoDigests: [],
        size: 0n,
        username: '',
        pinned: false,
      };
      return {info: {}, image};
    },
    pullImage: async ({image} = {}) => {
      const name = image?.image ?? '';
      state.pulled.add(name);
      // The image's user is requested by the image name in the Pod.
      state.pulled.add(name.replace(/:latest$/, ''));
      return {imageRef: imageRef(`<image ${name}>`)};
    },
  };
}
