import {forEachLimit} from '../../../base/async/for-each-limit.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {isNotFound, type ContainerStatus, type PodSandboxStatus} from '../../../cri/index.js';
import {listAllContainers, listAllSandboxes} from '../../../cri/list-all.js';
import type {RuntimeContainerStatus} from '../../contract/runtime-pod-status.js';
import {parseContainerStatus} from '../../managers/kuberuntime/config/labels.js';
import {sandboxIps} from '../../managers/kuberuntime/read-runtime-pod-status.js';
import type {NodeAndRuntime} from '../registry/read-node.js';
import {groupRuntimePods, type RuntimePod} from './group-runtime-pods.js';
import {restorePod} from './restore-pod.js';

/** Number of pods read at once. */
const AT_ONCE = 8;
/** Instances of a container that its status shows: the current one and the previous one. */
const INSTANCES = 2;

/** What was read of a pod, by the states of its objects. */
interface KnownPod {
  /** IDs and states of its sandbox and containers: a pod with the same ones has not changed. */
  readonly states: string;
  readonly statuses: ReadonlyMap<string, ContainerStatus | PodSandboxStatus>;
  readonly pod: Pod;
}

/**
 * Reads the pods of a runtime, whichever program created them. Statuses that cannot change are read once, and kept while their pods
 * are observed.
 */
export class RuntimePodReader {
  /** Pods of the last observation, by the ID of their newest sandbox. */
  #known: ReadonlyMap<string, KnownPod> = new Map();

  /** Resolves with all pods of the runtime, without their statuses. Rejects with CriError. */
  async list(
    runtime: Parameters<typeof listAllSandboxes>[0] & Parameters<typeof listAllContainers>[0],
    signal: AbortSignal,
  ): Promise<readonly RuntimePod[]> {
    const [sandboxes, containers] = await Promise.all([
      listAllSandboxes(runtime, {}, signal),
      listAllContainers(runtime, {}, signal),
    ]);
    return groupRuntimePods(sandboxes, containers);
  }

  /** Resolves with the pods and their statuses as far as the runtime knows them, in the order given. */
  async observe(
    node: NodeAndRuntime,
    pods: readonly RuntimePod[],
    signal: AbortSignal,
  ): Promise<readonly Pod[]> {
    const known = new Map<string, KnownPod>();
    await forEachLimit(pods, AT_ONCE, async (pod) => {
      const [{id}] = pod.sandboxes;
      known.set(id, await readPod(node, pod, this.#known.get(id), signal));
    });
    this.#known = known;
    return pods.flatMap(({sandboxes: [{id}]}) => known.get(id)?.pod ?? []);
  }
}

/** Reads what has changed of a pod. Rejects with CriError. */
async function readPod(
  {services: {runtime}, node, runtimeName, clock}: NodeAndRuntime,
  found: RuntimePod,
  before: KnownPod | undefined,
  signal: AbortSignal,
): Promise<KnownPod> {
  const {uid, namespace, name} = found;
  const [{id: podSandboxId, state}] = found.sandboxes;
  const instances = newestInstances(found);
  const states = [stateKey(podSandboxId, state), ...instances.map((one) => stateKey(one.id, one.state))];
  const key = states.join(' ');
  if (before?.states === key) return before;
  const statuses = new Map<string, ContainerStatus | PodSandboxStatus>();
  const keep = async <T extends ContainerStatus | PodSandboxStatus>(
    object: string,
    read: () => Promise<T | undefined>,
  ): Promise<T | undefined> => {
    const status = (before?.statuses.get(object) as T | undefined) ?? (await unlessGone(read));
    if (status !== undefined) statuses.set(object, status);
    return status;
  };
  const sandbox = await keep(
    stateKey(podSandboxId, state),
    async () => (await runtime.podSandboxStatus({podSandboxId}, {signal})).status,
  );
  const containers: RuntimeContainerStatus[] = [];
  for (const {id, state: containerState, podSandboxId: owner} of instances) {
    const status = await keep(
      stateKey(id, containerState),
      async () => (await runtime.containerStatus({containerId: id}, {signal})).status,
    );
    if (status !== undefined) containers.push(withAttempt(parseContainerStatus(status, owner)));
  }
  const sandboxes = sandbox === undefined ? [] : [sandbox];
  const status = {...{uid, namespace, name, containers, sandboxes}, ips: sandboxIps(sandbox)};
  const pod = restorePod(found, status, {node, runtimeName, nowMs: clock.now()});
  // An object that was removed meanwhile is missing in the next list.
  return {states: statuses.size === states.length ? key : '', statuses, pod};
}

function stateKey(id: string, state: string | number): string {
  return `${id} ${state}`;
}

/** Returns what is read of an object; undefined if the object has been removed. */
async function unlessGone<T>(read: () => Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return undefined;
  }
}

function newestInstances({containers}: RuntimePod): RuntimePod['containers'] {
  const counts = new Map<string, number>();
  return containers.filter(({metadata}) => {
    const name = metadata?.name ?? '';
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count <= INSTANCES;
  });
}

/** Counts restarts by the attempt too, for containers without the annotations of a kubelet. */
function withAttempt(status: RuntimeContainerStatus): RuntimeContainerStatus {
  return {...status, restartCount: Math.max(status.restartCount, status.cri.metadata?.attempt ?? 0)};
}
