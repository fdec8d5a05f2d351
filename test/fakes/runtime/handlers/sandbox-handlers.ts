import type {SandboxRecord} from '../runtime-records.js';
import {unknownError} from '../grpc-status-error.js';
import {
  publishContainerEvent,
  removeContainer,
  toSandboxStatus,
  stopContainer,
} from '../container-lifecycle.js';
import {resolveFilterId, matchesLabels, paginate, type FakeRuntimeState} from '../fake-runtime-state.js';
import type {Handlers, DeepPartial, Message, RequestOf} from '../cri-messages.js';

/** The RPCs of pod sandboxes, after containerd's sandbox_*.go. */
export function sandboxHandlers(state: FakeRuntimeState): Handlers {
  return {
    RunPodSandbox: ({config, runtimeHandler}) => ({
      podSandboxId: runPodSandbox(state, config, runtimeHandler).id,
    }),
    StopPodSandbox: async ({podSandboxId}) => {
      const sandbox = state.findSandbox(podSandboxId, notFound(podSandboxId));
      if (sandbox !== undefined) await stopPodSandbox(state, sandbox);
      return {};
    },
    RemovePodSandbox: async ({podSandboxId}) => {
      const sandbox = state.findSandbox(podSandboxId, notFound(podSandboxId));
      if (sandbox !== undefined) await removePodSandbox(state, sandbox);
      return {};
    },
    PodSandboxStatus: ({podSandboxId, verbose}) => podSandboxStatus(state, podSandboxId, verbose),
    ListPodSandbox: ({filter}) => ({items: listPodSandbox(state, filter)}),
    *StreamPodSandboxes({filter}) {
      for (const podSandboxes of paginate(listPodSandbox(state, filter))) yield {podSandboxes};
    },
    UpdatePodSandboxResources: ({podSandboxId}) => {
      state.getSandbox(podSandboxId, 'failed to find sandbox');
      return {};
    },
  };
}

const notFound = (id: string): string => `an error occurred when try to find sandbox "${id}"`;

function runPodSandbox(
  state: FakeRuntimeState,
  config: RequestOf<'RunPodSandbox'>['config'],
  runtimeHandler: string,
): SandboxRecord {
  if (config?.metadata == null) throw unknownError('sandbox config must include metadata');
  const id = state.newId();
  const name = sandboxName(config.metadata);
  for (const other of state.sandboxes.values())
    if (other.config.metadata !== null && sandboxName(other.config.metadata) === name)
      throw unknownError(
        `failed to reserve sandbox name "${name}": name "${name}" is reserved for "${other.id}"`,
      );
  if (runtimeHandler !== '' && !(state.options.runtimeHandlers ?? []).includes(runtimeHandler))
    throw unknownError(
      `unable to get OCI runtime for sandbox "${id}": no runtime for "${runtimeHandler}" is configured`,
    );
  const sandbox: SandboxRecord = {
    id,
    config,
    runtimeHandler,
    createdAt: state.uniqueNowNanos(),
    state: 'SANDBOX_READY',
    ips: addresses(state, id, config),
  };
  state.sandboxes.set(id, sandbox);
  publishContainerEvent(state, 'CONTAINER_CREATED_EVENT', id, sandbox);
  publishContainerEvent(state, 'CONTAINER_STARTED_EVENT', id, sandbox);
  return sandbox;
}

function sandboxName({name, namespace, uid, attempt}: Message<'PodSandboxMetadata'>): string {
  return [name, namespace, uid, attempt].join('_');
}

function addresses(state: FakeRuntimeState, id: string, config: SandboxRecord['config']): readonly string[] {
  if (config.linux?.securityContext?.namespaceOptions?.network === 'NODE') return [];
  if (state.conditions.get('NetworkReady')?.status === false)
    throw unknownError(`failed to setup network for sandbox "${id}": cni config not initialized`);
  return state.options.podIps ?? [state.newAddress()];
}

/** Stops the sandbox's containers immediately, then its network. Idempotent. */
async function stopPodSandbox(state: FakeRuntimeState, sandbox: SandboxRecord): Promise<void> {
  for (const container of state.containersOf(sandbox.id)) await stopContainer(state, container, 0);
  exitSandbox(state, sandbox);
}

/** Makes the sandbox's process exit. Its containers keep running. */
export function exitSandbox(state: FakeRuntimeState, sandbox: SandboxRecord): void {
  if (sandbox.state === 'SANDBOX_NOTREADY') return;
  sandbox.state = 'SANDBOX_NOTREADY';
  sandbox.ips = [];
  publishContainerEvent(state, 'CONTAINER_STOPPED_EVENT', sandbox.id, sandbox);
}

async function removePodSandbox(state: FakeRuntimeState, sandbox: SandboxRecord): Promise<void> {
  await stopPodSandbox(state, sandbox);
  for (const container of state.containersOf(sandbox.id)) await removeContainer(state, container);
  state.sandboxes.delete(sandbox.id);
  publishContainerEvent(state, 'CONTAINER_DELETED_EVENT', sandbox.id, sandbox);
}

function listPodSandbox(
  state: FakeRuntimeState,
  asked: RequestOf<'ListPodSandbox'>['filter'],
): DeepPartial<Message<'PodSandbox'>>[] {
  const filter = state.options.ignoresFilters === true ? null : asked;
  const id = resolveFilterId(state.sandboxes, filter?.id ?? '');
  return [...state.sandboxes.values()]
    .filter((sandbox) => id === '' || sandbox.id === id)
    .filter((sandbox) => filter?.state == null || sandbox.state === filter.state.state)
    .filter((sandbox) => matchesLabels(sandbox.config.labels, filter?.labelSelector ?? {}))
    .map(({id, config, state, createdAt, runtimeHandler}) => ({
      id,
      metadata: config.metadata,
      state,
      createdAt: String(createdAt),
      labels: config.labels,
      annotations: config.annotations,
      runtimeHandler,
    }));
}

function podSandboxStatus(
  state: FakeRuntimeState,
  podSandboxId: string,
  verbose: boolean,
): DeepPartial<Message<'PodSandboxStatusResponse'>> {
  const sandbox = state.getSandbox(podSandboxId, 'an error occurred when try to find sandbox');
  return {
    status: toSandboxStatus(sandbox),
    info: verbose ? {info: JSON.stringify(state.profile.sandboxInfo(sandbox))} : {},
  };
}
