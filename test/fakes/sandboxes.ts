import type {SandboxRecord} from './records.js';
import {failed} from './refusal.js';
import {announce, removeContainer, statusOf, stopContainer} from './containers.js';
import {filterId, hasLabels, pages, type RuntimeState} from './state.js';
import type {Handlers, Loose, Message, RequestOf} from './wire.js';

/** The RPCs of pod sandboxes, after containerd's sandbox_*.go. */
export function sandboxHandlers(state: RuntimeState): Handlers {
  return {
    RunPodSandbox: ({config, runtimeHandler}) => ({
      podSandboxId: runPodSandbox(state, config, runtimeHandler).id,
    }),
    StopPodSandbox: async ({podSandboxId}) => {
      const sandbox = state.knownSandbox(podSandboxId, cantFind(podSandboxId));
      if (sandbox !== undefined) await stopPodSandbox(state, sandbox);
      return {};
    },
    RemovePodSandbox: async ({podSandboxId}) => {
      const sandbox = state.knownSandbox(podSandboxId, cantFind(podSandboxId));
      if (sandbox !== undefined) await removePodSandbox(state, sandbox);
      return {};
    },
    PodSandboxStatus: ({podSandboxId, verbose}) => podSandboxStatus(state, podSandboxId, verbose),
    ListPodSandbox: ({filter}) => ({items: listPodSandbox(state, filter)}),
    *StreamPodSandboxes({filter}) {
      for (const podSandboxes of pages(listPodSandbox(state, filter))) yield {podSandboxes};
    },
    UpdatePodSandboxResources: ({podSandboxId}) => {
      state.sandbox(podSandboxId, 'failed to find sandbox');
      return {};
    },
  };
}

const cantFind = (id: string): string => `an error occurred when try to find sandbox "${id}"`;

function runPodSandbox(
  state: RuntimeState,
  config: RequestOf<'RunPodSandbox'>['config'],
  runtimeHandler: string,
): SandboxRecord {
  if (config?.metadata == null) throw failed('sandbox config must include metadata');
  const id = state.newId();
  const name = sandboxName(config.metadata);
  for (const other of state.sandboxes.values())
    if (other.config.metadata !== null && sandboxName(other.config.metadata) === name)
      throw failed(`failed to reserve sandbox name "${name}": name "${name}" is reserved for "${other.id}"`);
  if (runtimeHandler !== '' && !(state.options.runtimeHandlers ?? []).includes(runtimeHandler))
    throw failed(
      `unable to get OCI runtime for sandbox "${id}": no runtime for "${runtimeHandler}" is configured`,
    );
  const sandbox: SandboxRecord = {
    id,
    config,
    runtimeHandler,
    createdAt: state.nanos(),
    state: 'SANDBOX_READY',
    ips: addresses(state, id, config),
  };
  state.sandboxes.set(id, sandbox);
  announce(state, 'CONTAINER_CREATED_EVENT', id, sandbox);
  announce(state, 'CONTAINER_STARTED_EVENT', id, sandbox);
  return sandbox;
}

function sandboxName({name, namespace, uid, attempt}: Message<'PodSandboxMetadata'>): string {
  return [name, namespace, uid, attempt].join('_');
}

function addresses(state: RuntimeState, id: string, config: SandboxRecord['config']): readonly string[] {
  if (config.linux?.securityContext?.namespaceOptions?.network === 'NODE') return [];
  if (state.conditions.get('NetworkReady')?.status === false)
    throw failed(`failed to setup network for sandbox "${id}": cni config not initialized`);
  return state.options.podIps ?? [state.newAddress()];
}

/** Ends the sandbox's containers at once, then its network. Stopping again changes nothing. */
async function stopPodSandbox(state: RuntimeState, sandbox: SandboxRecord): Promise<void> {
  for (const container of state.containersOf(sandbox.id)) await stopContainer(state, container, 0);
  exitSandbox(state, sandbox);
}

/** The process that holds the sandbox's namespaces ends; its containers go on. */
export function exitSandbox(state: RuntimeState, sandbox: SandboxRecord): void {
  if (sandbox.state === 'SANDBOX_NOTREADY') return;
  sandbox.state = 'SANDBOX_NOTREADY';
  sandbox.ips = [];
  announce(state, 'CONTAINER_STOPPED_EVENT', sandbox.id, sandbox);
}

async function removePodSandbox(state: RuntimeState, sandbox: SandboxRecord): Promise<void> {
  await stopPodSandbox(state, sandbox);
  for (const container of state.containersOf(sandbox.id)) await removeContainer(state, container);
  state.sandboxes.delete(sandbox.id);
  announce(state, 'CONTAINER_DELETED_EVENT', sandbox.id, sandbox);
}

function listPodSandbox(
  state: RuntimeState,
  asked: RequestOf<'ListPodSandbox'>['filter'],
): Loose<Message<'PodSandbox'>>[] {
  const filter = state.options.ignoresFilters === true ? null : asked;
  const id = filterId(state.sandboxes, filter?.id ?? '');
  return [...state.sandboxes.values()]
    .filter((sandbox) => id === '' || sandbox.id === id)
    .filter((sandbox) => filter?.state == null || sandbox.state === filter.state.state)
    .filter((sandbox) => hasLabels(sandbox.config.labels, filter?.labelSelector ?? {}))
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
  state: RuntimeState,
  podSandboxId: string,
  verbose: boolean,
): Loose<Message<'PodSandboxStatusResponse'>> {
  const sandbox = state.sandbox(podSandboxId, 'an error occurred when try to find sandbox');
  return {
    status: statusOf(sandbox),
    info: verbose
      ? {info: JSON.stringify({pid: 4321, runtimeHandler: sandbox.runtimeHandler, config: sandbox.config})}
      : {},
  };
}
