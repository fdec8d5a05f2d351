import {formatAmount} from '../../../../api/quantity.js';
import type {Container, Pod} from '../../../../api/types/v1-pod.js';
import type {Quantity} from '../../../../api/types/v1-meta.js';
import {messageOf, rethrowUnexpected, SystemError} from '../../../../base/errors.js';
import {CriError, isUnimplemented, type ContainerId, type PodSandboxId} from '../../../../cri/index.js';
import {goQuote} from '../../../../format/go-quote.js';
import type {CgroupLimits, PodCgroup} from '../../../contract/resources/cgroup-limits.js';
import {formatPod, podRef} from '../../../contract/pod-ref.js';
import type {
  ContainerUpdate,
  ResizeActions,
  ResizedAmounts,
} from '../../../contract/resources/resize-actions.js';
import type {SyncResult} from '../../../contract/sync-result.js';
import {withActuatedResources} from '../compute/compute-resize-actions.js';
import {
  linuxContainerResources,
  linuxOverheadResources,
  updatedSandboxResources,
} from '../config/resources/linux-resources.js';
import {replaceResources} from '../../../resources/partial-resources.js';
import {podCgroupLimits, UNLIMITED} from '../config/resources/pod-cgroup-limits.js';
import type {SyncContext} from '../sync-context.js';

type Resource = 'memory' | 'cpu';
/** Parts of a resource that a cgroup controls. */
type Part = 'limit' | 'request';

/** A running pod to resize. */
export interface ResizeInput {
  readonly pod: Pod;
  readonly sandboxId: PodSandboxId;
  readonly resize: ResizeActions;
}

/**
 * Applies changed resources to running containers and the pod's cgroup, memory before CPU (kuberuntime
 * doPodResizeAction). The pod's cgroup grows before its containers and shrinks after them. Stops at the first failure;
 * the next sync continues. Never rejects.
 */
export async function resizePod(context: SyncContext, input: ResizeInput): Promise<SyncResult> {
  const result: SyncResult = {action: 'ResizePodInPlace', target: formatPod(podRef(input.pod))};
  try {
    const podResize = new PodResize(context, input, await readCurrentLimits(context, input.pod));
    await podResize.validateMemory();
    await podResize.resize('memory');
    await podResize.resize('cpu');
    await context.actuated.setPod(input.pod.spec.resources);
    return result;
  } catch (cause) {
    rethrowUnexpected(cause);
    const message = cause instanceof CriError ? cause.message : messageOf(cause);
    return {...result, failure: {reason: 'ResizePodInPlaceError', message, cause}};
  }
}

/**
 * Reads the limits of the pod's cgroup, or computes them from the actuated resources if the runtime manages the cgroup.
 */
async function readCurrentLimits(
  {files, node, nodeManagers, actuated}: SyncContext,
  pod: Pod,
): Promise<PodCgroup> {
  let cgroup;
  try {
    cgroup = await files.readPodCgroup(pod);
  } catch (cause) {
    rethrowUnexpected(cause);
    const name = goQuote(formatPod(podRef(pod)));
    throw new SystemError(`unable to get pod cgroup memory config for pod ${name}: ${messageOf(cause)}`, {
      cause,
    });
  }
  if (cgroup !== undefined) return cgroup;
  return nodeManagers.podLimits(pod, podCgroupLimits(withActuatedResources(pod, actuated.current), node));
}

class PodResize {
  readonly #context: SyncContext;
  readonly #input: ResizeInput;
  readonly #desired: CgroupLimits;
  /** Limits of the pod's cgroup, updated with each step. */
  #current: PodCgroup;
  /** Resources of each container by name, updated with each step. */
  readonly #updated = new Map<string, ResizedAmounts>();

  constructor(context: SyncContext, input: ResizeInput, current: PodCgroup) {
    this.#context = context;
    this.#input = input;
    this.#current = current;
    const {node, nodeManagers} = context;
    this.#desired = nodeManagers.podLimits(input.pod, podCgroupLimits(input.pod, node));
    for (const update of [...input.resize.memory, ...input.resize.cpu])
      this.#updated.set(update.container.name, update.current);
  }

  /**
   * Throws if a new memory limit is below the current usage: the kernel would kill processes
   * (validateMemoryResizeAction).
   */
  async validateMemory(): Promise<void> {
    const {memory, wholePod} = this.#input.resize;
    if (memory.length === 0 && !wholePod) return;
    const problems = [...this.#podMemoryProblem()];
    for (const update of memory.filter(lowersMemoryLimit))
      problems.push(...(await this.#memoryProblem(update)));
    const [first, ...others] = problems;
    if (first === undefined) return;
    const text = others.length === 0 ? first : `[${problems.join(', ')}]`;
    throw new SystemError(`cannot decrease memory limits: ${text}`);
  }

  #podMemoryProblem(): readonly string[] {
    const {memoryBytes: limit} = this.#desired;
    const {memoryBytes: current, memoryUsageBytes: usage} = this.#current;
    if (limit === undefined || usage === undefined || (current !== undefined && limit >= current)) return [];
    return usage >= limit
      ? [`attempting to set pod memory limit (${limit}) below current usage (${usage})`]
      : [];
  }

  async #memoryProblem({container, id, desired: {memoryLimit}}: ContainerUpdate): Promise<readonly string[]> {
    const usage = await this.#memoryUsage(id);
    const name = goQuote(container.name);
    if (usage === undefined) return [`missing container ${name} memory usage`];
    if (usage < memoryLimit) return [];
    return [
      `attempting to set container ${name} memory limit (${memoryLimit}) below current usage (${usage})`,
    ];
  }

  async #memoryUsage(containerId: ContainerId): Promise<bigint | undefined> {
    const {stats} = await this.#context.services.runtime.containerStats({containerId});
    return (stats?.memory?.usageBytes ?? stats?.memory?.workingSetBytes)?.value;
  }

  /** Applies the changes of one resource to the pod's cgroup and the containers. */
  async resize(resource: Resource): Promise<void> {
    const {resize} = this.#input;
    if (resize[resource].length === 0 && !resize.wholePod) return;
    const growth = this.#compare(resource);
    if (growth.limit > 0) await this.#setPodCgroup(resource, 'limit');
    if (growth.request > 0) await this.#setPodCgroup(resource, 'request');
    for (const update of resize[resource]) await this.#updateContainer(update, resource);
    if (growth.request < 0) await this.#setPodCgroup(resource, 'request');
    if (growth.limit < 0) await this.#setPodCgroup(resource, 'limit');
  }

  /**
   * Compares desired to current limits: positive if a part grows, negative if it shrinks. A limit cannot be removed.
   */
  #compare(resource: Resource): Readonly<Record<Part, number>> {
    const [desired, current] = [this.#desired, this.#current];
    if (resource === 'memory') {
      const {memoryBytes: limit} = desired;
      if (limit === undefined || limit === current.memoryBytes) return {limit: 0, request: 0};
      return {limit: current.memoryBytes === undefined || limit < current.memoryBytes ? -1 : 1, request: 0};
    }
    const quota = desired.cpuQuota?.quota ?? current.cpuQuota?.quota ?? UNLIMITED;
    return {
      limit: Number(quota - (current.cpuQuota?.quota ?? UNLIMITED)),
      request: Number(desired.cpuShares - current.cpuShares),
    };
  }

  /** Sets a part of the pod's cgroup, after notifying the runtime, which may reject the change. */
  async #setPodCgroup(resource: Resource, part: Part): Promise<void> {
    const {files} = this.#context;
    const {pod} = this.#input;
    const change = partOf(this.#desired, resource, part);
    const before = this.#current;
    try {
      await this.#notifyRuntime({...before, ...change});
    } catch (cause) {
      rethrowUnexpected(cause);
      throw new SystemError(
        `failed to notify runtime for UpdatePodSandboxResources (resource=${resource}); resize rejected: ${messageOf(cause)}`,
        {cause},
      );
    }
    try {
      await files.setPodCgroup(pod, change);
    } catch (cause) {
      // Report why the cgroup could not be set; the next sync notifies the runtime again.
      await this.#notifyRuntime(before).catch(() => undefined);
      throw cause;
    }
    this.#current = {...before, ...change};
  }

  /** Calls UpdatePodSandboxResources, which older runtimes do not implement. */
  async #notifyRuntime(limits: PodCgroup): Promise<void> {
    const {services, node} = this.#context;
    const {pod, sandboxId: podSandboxId} = this.#input;
    const resources = updatedSandboxResources(pod, limits);
    try {
      await services.runtime.updatePodSandboxResources({
        podSandboxId,
        overhead: linuxOverheadResources(pod, node),
        resources,
      });
    } catch (error) {
      if (!isUnimplemented(error)) throw error;
    }
  }

  /** Updates one resource of a container and leaves the other one as it is (updatePodContainerResources). */
  async #updateContainer({container, id, desired}: ContainerUpdate, resource: Resource): Promise<void> {
    const {services, node, nodeManagers, actuated} = this.#context;
    const current = this.#updated.get(container.name) ?? desired;
    const next =
      resource === 'memory' ? {...desired, ...cpuPart(current)} : {...current, ...cpuPart(desired)};
    const {pod} = this.#input;
    const resized = withAmounts(container, next);
    await services.runtime.updateContainerResources({
      containerId: id,
      linux: replaceResources(
        linuxContainerResources(pod, resized, node),
        nodeManagers.resources({pod, container: resized, node}),
      ),
    });
    this.#updated.set(container.name, next);
    await actuated.setContainer(container.name, resized.resources ?? {});
  }
}

function lowersMemoryLimit({desired, current}: ContainerUpdate): boolean {
  const [limit, before] = [desired.memoryLimit, current.memoryLimit];
  return limit !== 0n && (before === 0n || limit < before);
}

function cpuPart({cpuLimit, cpuRequest}: ResizedAmounts): Pick<ResizedAmounts, 'cpuLimit' | 'cpuRequest'> {
  return {cpuLimit, cpuRequest};
}

function partOf(
  {cpuQuota, cpuShares, memoryBytes}: CgroupLimits,
  resource: Resource,
  part: Part,
): Partial<CgroupLimits> {
  if (resource === 'memory') return memoryBytes === undefined ? {} : {memoryBytes};
  if (part === 'request') return {cpuShares};
  return cpuQuota === undefined ? {} : {cpuQuota};
}

/** Returns the container with these amounts of CPU and memory; other resources stay. */
function withAmounts(container: Container, amounts: ResizedAmounts): Container {
  const {requests, limits} = container.resources ?? {};
  return {
    ...container,
    resources: {
      limits: {...limits, cpu: cpuQuantity(amounts.cpuLimit), memory: memoryQuantity(amounts.memoryLimit)},
      requests: {
        ...requests,
        cpu: cpuQuantity(amounts.cpuRequest),
        memory: memoryQuantity(amounts.memoryRequest),
      },
    },
  };
}

function cpuQuantity(milli: bigint): Quantity {
  return formatAmount({nanos: milli * 1_000_000n, format: 'DecimalSI'});
}

function memoryQuantity(bytes: bigint): Quantity {
  return formatAmount({nanos: bytes * 1_000_000_000n, format: 'BinarySI'});
}
