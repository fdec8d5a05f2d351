import {compare} from '../../../base/compare.js';
import {
  isNotFound,
  type ContainerStatus,
  type PodSandboxId,
  type PodSandboxStatus,
} from '../../../cri/index.js';
import type {PodRef} from '../../contract/pod-ref.js';
import type {RuntimeContainerStatus, RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import type {KubeRuntimeService} from '../../contract/kube-services.js';
import {parseContainerStatus, POD_UID_LABEL} from './config/labels.js';

/**
 * Reads the sandboxes and containers of a pod from the runtime (kuberuntime GetPodStatus), newest first. Since they may
 * be stopped and removed, the UID label is checked again for runtimes that ignore filters. Objects that disappear
 * meanwhile are omitted. Rejects with CriError.
 */
export async function readRuntimePodStatus(
  runtime: KubeRuntimeService,
  ref: PodRef,
  signal?: AbortSignal,
): Promise<RuntimePodStatus> {
  const labelSelector = {[POD_UID_LABEL]: ref.uid};
  const [{items}, {containers}] = await Promise.all([
    runtime.listPodSandbox({filter: {labelSelector}}, {signal}),
    runtime.listContainers({filter: {labelSelector}}, {signal}),
  ]);
  const isOwn = ({labels}: {readonly labels: Readonly<Record<string, string>>}): boolean =>
    labels[POD_UID_LABEL] === ref.uid;
  const [sandboxStatuses, containerStatuses] = await Promise.all([
    Promise.all(items.filter(isOwn).map((item) => sandboxStatus(runtime, item.id, signal))),
    Promise.all(containers.filter(isOwn).map((item) => containerStatus(runtime, item, signal))),
  ]);
  const sandboxes = sandboxStatuses.filter((status) => status !== undefined).sort(bySandboxAge);
  return {
    ...ref,
    sandboxes,
    containers: containerStatuses.filter((status) => status !== undefined).sort(byContainerAge),
    ips: sandboxIps(sandboxes[0]),
  };
}

async function sandboxStatus(
  runtime: KubeRuntimeService,
  podSandboxId: PodSandboxId,
  signal: AbortSignal | undefined,
): Promise<PodSandboxStatus | undefined> {
  return await foundOrUndefined(
    async () => (await runtime.podSandboxStatus({podSandboxId}, {signal})).status,
  );
}

async function containerStatus(
  runtime: KubeRuntimeService,
  {id, podSandboxId}: Pick<ContainerStatus, 'id'> & {readonly podSandboxId: PodSandboxId},
  signal: AbortSignal | undefined,
): Promise<RuntimeContainerStatus | undefined> {
  const status = await foundOrUndefined(
    async () => (await runtime.containerStatus({containerId: id}, {signal})).status,
  );
  return status === undefined ? undefined : parseContainerStatus(status, podSandboxId);
}

async function foundOrUndefined<T>(call: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function bySandboxAge(a: PodSandboxStatus, b: PodSandboxStatus): number {
  return (
    compare(b.metadata?.attempt ?? 0, a.metadata?.attempt ?? 0) ||
    compare(b.createdAt, a.createdAt) ||
    compare(a.id, b.id)
  );
}

function byContainerAge(a: RuntimeContainerStatus, b: RuntimeContainerStatus): number {
  return compare(b.cri.createdAt, a.cri.createdAt) || compare(a.id, b.id);
}

/** Returns the IP addresses of a sandbox, primary first; none unless it is ready (determinePodSandboxIPs). */
export function sandboxIps(sandbox: PodSandboxStatus | undefined): readonly string[] {
  const network = sandbox?.state === 'SANDBOX_READY' ? sandbox.network : undefined;
  if (network === undefined || network.ip === '') return [];
  return [network.ip, ...network.additionalIps.map(({ip}) => ip)];
}
