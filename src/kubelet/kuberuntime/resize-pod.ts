import {formatAmount} from '../../api/quantity.js';
import type {Container, Pod} from '../../api/v1.js';
import type {Quantity} from '../../api/v1-meta.js';
import {messageOf} from '../../base/errors.js';
import {CriError, isUnimplemented, type ContainerId, type PodSandboxId} from '../../cri/index.js';
import {goQuote} from '../../format/go-quote.js';
import type {CgroupLimits, PodCgroup} from '../container/cgroup-limits.js';
import {formatPod, podRef} from '../container/pod-ref.js';
import type {ContainerUpdate, ResizeActions, ResizedAmounts} from '../container/resize-actions.js';
import type {SyncResult} from '../container/sync-result.js';
import {actuatedPod} from './compute-resize.js';
import {containerResources, overheadResources, sandboxResourcesOf} from './linux-resources.js';
import {podCgroupLimits} from './pod-cgroup-limits.js';
import type {SyncContext} from './sync-context.js';

type Resource = 'memory' | 'cpu';
/** The two things of a resource that a cgroup knows. */
type Part = 'limit' | 'request';

/** A running pod that is resized. */
export interface ResizeInput {
  readonly pod: Pod;
  readonly sandboxId: PodSandboxId;
  readonly resize: ResizeActions;
}

/**
 * Gives running containers and the pod's cgroup the resources that the Pod says, memory first: a pod that grows grows
 * before its containers, one that shrinks after them (kuberuntime doPodResizeAction). The first step that fails ends it;
 * the next sync goes on from there. Never rejects.
 */
export async function resizePod(context: SyncContext, input: ResizeInput): Promise<SyncResult> {
  const result: SyncResult = {action: 'ResizePodInPlace', target: formatPod(podRef(input.pod))};
  try {
    const run = new PodResize(context, input, await presentLimits(context, input.pod));
    await run.checkMemory();
    await run.resize('memory');
    await run.resize('cpu');
    await context.actuated.setPod(input.pod.spec.resources);
    return result;
  } catch (cause) {
    const message = cause instanceof CriError ? cause.message : messageOf(cause);
    return {...result, failure: {reason: 'ResizePodInPlaceError', message, cause}};
  }
}

/** What the kernel limits the pod to, or, where its cgroup is not kcri's to set, what it was last given. */
async function presentLimits({files, node, actuated}: SyncContext, pod: Pod): Promise<PodCgroup> {
  let cgroup;
  try {
    cgroup = await files.readPodCgroup(pod);
  } catch (cause) {
    const name = goQuote(formatPod(podRef(pod)));
    throw new Error(`unable to get pod cgroup memory config for pod ${name}: ${messageOf(cause)}`, {cause});
  }
  return cgroup ?? podCgroupLimits(actuatedPod(pod, actuated.current), node);
}

const UNLIMITED = -1n;

class PodResize {
  readonly #context: SyncContext;
  readonly #input: ResizeInput;
  readonly #desired: CgroupLimits;
  /** As it is by now. */
  #present: PodCgroup;
  /** By container: what each has by now. */
  readonly #given = new Map<string, ResizedAmounts>();

  constructor(context: SyncContext, input: ResizeInput, present: PodCgroup) {
    this.#context = context;
    this.#input = input;
    this.#present = present;
    this.#desired = podCgroupLimits(input.pod, context.node);
    for (const {container, current} of [...input.resize.memory, ...input.resize.cpu])
      this.#given.set(container.name, current);
  }

  /** A limit below what is in use would end the container (validateMemoryResizeAction). */
  async checkMemory(): Promise<void> {
    const {memory, wholePod} = this.#input.resize;
    if (memory.length === 0 && !wholePod) return;
    const problems = [...this.#podMemoryProblem()];
    for (const update of memory.filter(takesMemory)) problems.push(...(await this.#memoryProblem(update)));
    const [first, ...others] = problems;
    if (first === undefined) return;
    const text = others.length === 0 ? first : `[${problems.join(', ')}]`;
    throw new Error(`cannot decrease memory limits: ${text}`);
  }

  #podMemoryProblem(): readonly string[] {
    const {memoryBytes: limit} = this.#desired;
    const {memoryBytes: present, memoryUsageBytes: usage} = this.#present;
    if (limit === undefined || usage === undefined || (present !== undefined && limit >= present)) return [];
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

  async resize(resource: Resource): Promise<void> {
    const {resize} = this.#input;
    if (resize[resource].length === 0 && !resize.wholePod) return;
    const grows = this.#compare(resource);
    if (grows.limit > 0) await this.#setPod(resource, 'limit');
    if (grows.request > 0) await this.#setPod(resource, 'request');
    for (const update of resize[resource]) await this.#update(update, resource);
    if (grows.request < 0) await this.#setPod(resource, 'request');
    if (grows.limit < 0) await this.#setPod(resource, 'limit');
  }

  /** How what the pod is to have stands to what it has. A limit can't be taken away. */
  #compare(resource: Resource): Readonly<Record<Part, number>> {
    const [wanted, present] = [this.#desired, this.#present];
    if (resource === 'memory') {
      const {memoryBytes: limit} = wanted;
      if (limit === undefined || limit === present.memoryBytes) return {limit: 0, request: 0};
      return {limit: present.memoryBytes === undefined || limit < present.memoryBytes ? -1 : 1, request: 0};
    }
    const quota = wanted.cpuQuota?.quota ?? present.cpuQuota?.quota ?? UNLIMITED;
    return {
      limit: Number(quota - (present.cpuQuota?.quota ?? UNLIMITED)),
      request: Number(wanted.cpuShares - present.cpuShares),
    };
  }

  /** The runtime is told first, which may refuse it. */
  async #setPod(resource: Resource, part: Part): Promise<void> {
    const {files} = this.#context;
    const {pod} = this.#input;
    const change = partOf(this.#desired, resource, part);
    const before = this.#present;
    try {
      await this.#tellRuntime({...before, ...change});
    } catch (cause) {
      throw new Error(
        `failed to notify runtime for UpdatePodSandboxResources (resource=${resource}); resize rejected: ${messageOf(cause)}`,
        {cause},
      );
    }
    try {
      await files.setPodCgroup(pod, change);
    } catch (cause) {
      // What counts is why the cgroup could not be set; the next sync tells the runtime again.
      await this.#tellRuntime(before).catch(() => undefined);
      throw cause;
    }
    this.#present = {...before, ...change};
  }

  /** Not every runtime wants to know. */
  async #tellRuntime(limits: PodCgroup): Promise<void> {
    const {services, node} = this.#context;
    const {pod, sandboxId: podSandboxId} = this.#input;
    const resources = sandboxResourcesOf(pod, limits);
    try {
      await services.runtime.updatePodSandboxResources({
        podSandboxId,
        overhead: overheadResources(pod, node.cgroup),
        resources,
      });
    } catch (error) {
      if (!isUnimplemented(error)) throw error;
    }
  }

  /** Of the other resource the container keeps what it has (updatePodContainerResources). */
  async #update({container, id, desired}: ContainerUpdate, resource: Resource): Promise<void> {
    const {services, node, actuated} = this.#context;
    const has = this.#given.get(container.name) ?? desired;
    const given = resource === 'memory' ? {...desired, ...cpuPart(has)} : {...has, ...cpuPart(desired)};
    const resized = withAmounts(container, given);
    await services.runtime.updateContainerResources({
      containerId: id,
      linux: containerResources(this.#input.pod, resized, node),
    });
    this.#given.set(container.name, given);
    await actuated.setContainer(container.name, resized.resources ?? {});
  }
}

function takesMemory({desired, current}: ContainerUpdate): boolean {
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

/** The container with these amounts of CPU and memory, and what it has of other resources. */
function withAmounts(container: Container, amounts: ResizedAmounts): Container {
  const {requests, limits} = container.resources ?? {};
  return {
    ...container,
    resources: {
      limits: {...limits, cpu: cpuOf(amounts.cpuLimit), memory: memoryOf(amounts.memoryLimit)},
      requests: {...requests, cpu: cpuOf(amounts.cpuRequest), memory: memoryOf(amounts.memoryRequest)},
    },
  };
}

function cpuOf(milli: bigint): Quantity {
  return formatAmount({nanos: milli * 1_000_000n, format: 'DecimalSI'});
}

function memoryOf(bytes: bigint): Quantity {
  return formatAmount({nanos: bytes * 1_000_000_000n, format: 'BinarySI'});
}
