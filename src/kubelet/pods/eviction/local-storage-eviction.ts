import type {Pod} from '../../../api/types/v1-pod.js';
import {isNotFound, type ContainerId} from '../../../cri/index.js';
import {podRef} from '../../contract/pod-ref.js';
import {isCriticalPod} from '../../sources/critical-pod.js';
import {readRuntimePodStatus} from '../../managers/kuberuntime/read-runtime-pod-status.js';
import type {SyncContext} from '../../managers/kuberuntime/sync-context.js';
import {RuntimeFilesystemReader} from '../../node/runtime-filesystems.js';
import {EVICTED} from './eviction.js';
import {findExceededStorage, limitsEphemeralStorage} from './ephemeral-storage-limit.js';
import type {PodEviction} from './eviction-manager.js';

/** Minimum time between two measurements of a pod's storage, in ms (evictionMonitoringPeriod). */
const MEASURE_MS = 10_000;

type Context = Pick<SyncContext, 'clock' | 'files' | 'events' | 'services' | 'node'>;

/**
 * Compares the storage that one pod uses on the node with its limits: emptyDir volumes, then the pod, then its containers
 * (eviction_manager.go localStorageEviction).
 */
export class LocalStorageEviction {
  readonly #context: Context;
  readonly #filesystems: RuntimeFilesystemReader;
  #measureAt = Number.NEGATIVE_INFINITY;

  constructor(context: Context) {
    this.#context = context;
    const {node, services} = context;
    this.#filesystems = new RuntimeFilesystemReader({node, images: services.images});
  }

  /**
   * Resolves with the pod's final status if it exceeds a limit, and reports it as an event. Measures every ten seconds at
   * most; resolves with undefined in between, for critical pods, and on a node that does not isolate local storage.
   */
  async check(pod: Pod): Promise<PodEviction | undefined> {
    const {clock, events, node} = this.#context;
    if (node.ephemeralStorageBytes === 0n) return undefined;
    if (clock.monotonic() < this.#measureAt || isCriticalPod(pod)) return undefined;
    this.#measureAt = clock.monotonic() + MEASURE_MS;
    const exceeded = (await this.#exceededVolume(pod)) ?? (await this.#exceededStorage(pod));
    if (exceeded === undefined) return undefined;
    const {signal, message} = exceeded;
    events({type: 'Warning', reason: EVICTED, message, pod});
    return {signal, status: {phase: 'Failed', reason: EVICTED, message}};
  }

  async #exceededVolume(pod: Pod): Promise<Exceeded | undefined> {
    const volume = await this.#context.files.exceededVolume(pod);
    if (volume === undefined) return undefined;
    const {name, sizeLimit} = volume;
    const message = `Usage of EmptyDir volume "${name}" exceeds the limit "${sizeLimit}". `;
    return {signal: 'emptydirfs.limit', message};
  }

  async #exceededStorage(pod: Pod): Promise<Exceeded | undefined> {
    if (!limitsEphemeralStorage(pod)) return undefined;
    const {files, services} = this.#context;
    const {containers} = await readRuntimePodStatus(services.runtime, podRef(pod));
    const running = containers.filter(({state}) => state === 'CONTAINER_RUNNING');
    const layers = await Promise.all(
      running.map(async ({id, name}) => [name, await this.#layer(id)] as const),
    );
    const {dedicatedImageFs} = (await this.#filesystems.read()).layout;
    return findExceededStorage(pod, {
      ...(await files.storageUsage(pod)),
      layers: new Map(layers),
      dedicatedImageFs,
    });
  }

  /** Returns the bytes of a container's writable layer; 0 if the runtime does not know them. */
  async #layer(containerId: ContainerId): Promise<bigint> {
    try {
      const {stats} = await this.#context.services.runtime.containerStats({containerId});
      return stats?.writableLayer?.usedBytes?.value ?? 0n;
    } catch (error) {
      if (isNotFound(error)) return 0n;
      throw error;
    }
  }
}

/** A limit that a pod exceeds. */
interface Exceeded {
  readonly signal: PodEviction['signal'];
  readonly message: string;
}
