import type {Json} from '../../../format/json.js';
import type {KubeRuntimeService} from '../../contract/kube-services.js';
import type {PodRef} from '../../contract/pod-ref.js';
import {findContainerStatus, type RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import {parseSentConfig} from './config/sent-config.js';
import {readRuntimePodStatus} from './read-runtime-pod-status.js';

/** Configs that the runtime received for the newest sandbox and the newest instances of the containers of a pod. */
export interface RunningConfigs {
  readonly status: RuntimePodStatus;
  /** Undefined if the runtime does not report it. */
  readonly sandbox: Json | undefined;
  /** By container; without those that the runtime does not report. */
  readonly containers: ReadonlyMap<string, Json>;
}

/**
 * Reads the configs of a pod from the verbose statuses of the runtime; with an ID, only that of one of its sandboxes or
 * containers, which need not be the newest. Rejects with CriError.
 */
export async function readRunningConfigs(
  runtime: KubeRuntimeService,
  ref: PodRef,
  signal: AbortSignal,
  id?: string,
): Promise<RunningConfigs> {
  const status = await readRuntimePodStatus(runtime, ref, signal);
  if (id !== undefined) return await readConfigs(runtime, onlyObject(status, id), signal);
  return await readConfigs(runtime, status, signal);
}

/** Returns the status of a pod as if it had only one of its sandboxes or containers. */
function onlyObject(status: RuntimePodStatus, id: string): RuntimePodStatus {
  return {
    ...status,
    sandboxes: status.sandboxes.filter((sandbox) => sandbox.id === id),
    containers: status.containers.filter((container) => container.id === id),
  };
}

async function readConfigs(
  runtime: KubeRuntimeService,
  status: RuntimePodStatus,
  signal: AbortSignal,
): Promise<RunningConfigs> {
  const containers = new Map<string, Json>();
  for (const name of new Set(status.containers.map((container) => container.name))) {
    const config = await readContainerConfig(runtime, status, name, signal);
    if (config !== undefined) containers.set(name, config);
  }
  return {status, sandbox: await readSandboxConfig(runtime, status, signal), containers};
}

/** Resolves with the config of the newest sandbox; undefined if there is none, or the runtime does not report it. */
export async function readSandboxConfig(
  runtime: KubeRuntimeService,
  {sandboxes: [sandbox]}: RuntimePodStatus,
  signal: AbortSignal,
): Promise<Json | undefined> {
  if (sandbox === undefined) return undefined;
  const {info} = await runtime.podSandboxStatus({podSandboxId: sandbox.id, verbose: true}, {signal});
  return parseSentConfig('PodSandboxConfig', info);
}

/** Resolves with the config of the newest instance of a container; undefined if the runtime does not report it. */
export async function readContainerConfig(
  runtime: KubeRuntimeService,
  status: RuntimePodStatus,
  name: string,
  signal: AbortSignal,
): Promise<Json | undefined> {
  const instance = findContainerStatus(status, name);
  if (instance === undefined) return undefined;
  const {info} = await runtime.containerStatus({containerId: instance.id, verbose: true}, {signal});
  return parseSentConfig('ContainerConfig', info);
}
