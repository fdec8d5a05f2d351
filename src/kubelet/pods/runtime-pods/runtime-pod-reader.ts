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

type RuntimeService = NodeAndRuntime['services']['runtime'];

/** Reads the pods of a runtime, whichever program created them. Statuses that cannot change are read once. */
export class RuntimePodReader {
  readonly #statuses = new Map<string, ContainerStatus | PodSandboxStatus | undefined>();

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
    {services, node, runtimeName, clock}: NodeAndRuntime,
    pods: readonly RuntimePod[],
    signal: AbortSignal,
  ): Promise<readonly Pod[]> {
    const seen = new Map<RuntimePod, Pod>();
    await forEachLimit(pods, AT_ONCE, async (pod) => {
      const status = await this.#runtimeStatus(services.runtime, pod, signal);
      seen.set(pod, restorePod(pod, status, {node, runtimeName, nowMs: clock.now()}));
    });
    return pods.flatMap((pod) => seen.get(pod) ?? []);
  }

  async #runtimeStatus(runtime: RuntimeService, pod: RuntimePod, signal: AbortSignal) {
    const {uid, namespace, name, sandboxes} = pod;
    const {id: podSandboxId, state} = sandboxes[0];
    const sandbox = await this.#cached(
      `${podSandboxId} ${state}`,
      async () => (await runtime.podSandboxStatus({podSandboxId}, {signal})).status,
    );
    const containers: RuntimeContainerStatus[] = [];
    for (const {id, state: containerState, podSandboxId: owner} of newestInstances(pod)) {
      const status = await this.#cached(
        `${id} ${containerState}`,
        async () => (await runtime.containerStatus({containerId: id}, {signal})).status,
      );
      if (status !== undefined) containers.push(withAttempt(parseContainerStatus(status, owner)));
    }
    return {
      ...{uid, namespace, name, containers},
      sandboxes: sandbox === undefined ? [] : [sandbox],
      ips: sandboxIps(sandbox),
    };
  }

  /** Returns the status of an object in a state; undefined if the object has been removed. */
  async #cached<T extends ContainerStatus | PodSandboxStatus>(
    key: string,
    read: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    if (!this.#statuses.has(key))
      try {
        this.#statuses.set(key, await read());
      } catch (error) {
        if (!isNotFound(error)) throw error;
        return undefined;
      }
    return this.#statuses.get(key) as T | undefined;
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
