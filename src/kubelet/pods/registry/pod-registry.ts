import type {Pod} from '../../../api/types/v1-pod.js';
import {coalesce} from '../../../base/async/coalesce.js';
import type {PodUid} from '../../../cri/index.js';
import {
  ActuatedResourcesStore,
  type ActuatedResourcesBackend,
} from '../allocation/actuated-resources-store.js';
import type {StartQueue} from '../../contract/cluster/cluster-link.js';
import type {KubeletMetrics} from '../../contract/kubelet-metrics.js';
import {podLocation, type NodeFacts, type PodLocation} from '../../contract/node-facts.js';
import type {NodeManagers} from '../../contract/node-manager.js';
import type {PodVolumeState} from '../../contract/volumes/pod-volume-state.js';
import {listVolumes} from '../../managers/volumes/list-volumes.js';
import {actuationOf, withPodLevel} from '../../resources/pod-allocation.js';
import {podRef, type PodRef} from '../../contract/pod-ref.js';
import {findMovedPods, takeOverPods} from './left-pods.js';
import {createNodeManagers} from '../node-managers/create-node-managers.js';
import {NodeManagerSet} from '../node-managers/node-manager-set.js';
import type {PodRegistryOptions} from './pod-registry-options.js';
import {createNodePodSnapshot, type NodePodSnapshot} from './node-pod-snapshot.js';
import {checkPodConflicts, type PodConflicts} from './check-pod-conflicts.js';
import {PodLocks} from './pod-locks.js';
import {PodRemover} from './pod-remover.js';
import type {PodSyncer} from '../sync/pod-syncer.js';
import {createImageManager, PodSyncerFactory} from './pod-syncer-factory.js';
import {PodStore, type PodRecord, type PodRecords} from './pod-store.js';
import {RejectedPodStore, type RejectedPod} from './rejected-pod-store.js';
import type {Rejection} from '../../contract/pod-rejection.js';
import {computeRejectedStatus} from '../admission/rejected-status.js';
import {formatMs} from '../status/compute/container-status.js';
import type {VolumeProvisioner} from '../../managers/volumes/provisioning/volume-provisioner.js';
import type {ProbeManager} from '../../managers/probes/probe-manager.js';
import {reconstructRecord} from './reconstruct-record.js';

/** A pod owned by kcri after its adoption. */
export interface AdoptedPod {
  readonly record: PodRecord;
  /** Pod of the record that was replaced; undefined for a new pod. */
  readonly before: Pod | undefined;
}

/** Options of PodRegistry.adopt. */
interface AdoptOptions {
  readonly signal?: AbortSignal | undefined;
  /** True to delete the pod first if it exists, even if it is unchanged. */
  readonly replace?: boolean | undefined;
}

/** Options of PodRegistry.checkConflicts. */
interface CheckConflictsOptions extends Pick<AdoptOptions, 'replace'> {
  readonly snapshot?: NodePodSnapshot | undefined;
}

/**
 * Registry of the pods that kcri created: those with a record under the root directory. kcri never changes any other
 * pod of the runtime. Locks, ownership (pod-ownership.ts) and removal are separate parts.
 */
export class PodRegistry {
  readonly #options: PodRegistryOptions;
  readonly #actuated: ActuatedResourcesBackend;
  readonly #syncers: PodSyncerFactory;
  readonly #snapshot: NodePodSnapshot;
  readonly store: PodStore;
  /** Pods that the node did not admit. */
  readonly rejected: RejectedPodStore;
  /** Locks of the pods; whoever changes a pod holds its lock. */
  readonly locks: PodLocks;
  /** Managers of the node's resources. */
  readonly nodeManagers: NodeManagers;
  /** Deletes pods and removes their resources. */
  readonly remover: PodRemover;

  constructor(options: PodRegistryOptions) {
    const {node, clock, observer} = options;
    this.#options = options;
    this.store = new PodStore(node.rootDir);
    this.rejected = new RejectedPodStore(node.rootDir);
    this.#snapshot = createNodePodSnapshot({...options, store: this.store}, coalesce);
    this.#actuated = options.actuated ?? new ActuatedResourcesStore(node.rootDir);
    const images = createImageManager(options);
    this.nodeManagers = options.nodeManagers ?? new NodeManagerSet(createNodeManagers(node));
    this.#syncers = new PodSyncerFactory({
      ...options,
      images,
      actuated: this.#actuated,
      nodeManagers: this.nodeManagers,
    });
    this.locks = new PodLocks({rootDir: node.rootDir, clock, observer});
    this.remover = new PodRemover({
      ...options,
      store: this.store,
      syncers: this.#syncers,
      actuated: this.#actuated,
    });
  }

  /** Sets the metrics of probes and image pulls. Before that nothing is counted. */
  setMetrics(metrics: Pick<KubeletMetrics, 'probeCompleted' | 'imageEnsured' | 'imagePulled'>): void {
    this.#syncers.setMetrics(metrics);
  }

  /** The runtime's endpoint. */
  get endpoint(): string {
    return this.#options.endpoint;
  }

  /** Creates and deletes the volumes of claims; undefined in tests of other things. */
  get provisioner(): VolumeProvisioner | undefined {
    return this.#options.provisioner;
  }

  /** Facts of the node that the pods run on. */
  get node(): NodeFacts {
    return this.#options.node;
  }

  /** The queue of the pods that start. */
  get starts(): StartQueue {
    return this.#syncers.starts;
  }

  /** Returns the volumes that containers of the pod mount. */
  volumes(pod: Pod): readonly PodVolumeState[] {
    const {node, objects, mounted, nodeManagers} = this.#options;
    const own = mounted?.(podRef(pod).uid);
    const isMounted = (name: string): boolean => own?.has(name) === true;
    return listVolumes(pod, {node, objects, isMounted, csi: nodeManagers?.csiVolumes});
  }

  /** The probe manager; undefined if all containers count as ready. */
  get probes(): ProbeManager | undefined {
    return this.#options.probes;
  }

  /** Creates the syncer of one pod at its location. */
  createSyncer(pod: Pod, place: PodLocation = this.#options.node): PodSyncer {
    return this.#syncers.createSyncer(pod, place);
  }

  /**
   * Updates the names of Services in the hosts file of a pod with these addresses; its containers see the change. Rejects
   * with SystemError.
   */
  async updateHostsFile(pod: Pod, podIps: readonly string[]): Promise<void> {
    const {files, node, objects} = this.#options;
    await files(node).updateHostsFile({pod, podIps, serviceHosts: objects.serviceHosts?.(pod)});
  }

  /** Checks the pod against the others of the node; see checkPodConflicts. Changes nothing. */
  async checkConflicts(
    pod: Pod,
    {snapshot = this.#snapshot, replace}: CheckConflictsOptions = {},
  ): Promise<PodConflicts> {
    return await checkPodConflicts(pod, {...this.#options, store: this.store, snapshot, replace});
  }

  /** Returns the record of the pod with that name; there is at most one. Rejects with SystemError. */
  async findByName({namespace, name}: Pick<PodRef, 'namespace' | 'name'>): Promise<PodRecord | undefined> {
    const {records} = await this.#snapshot.records();
    return records.find((record) => record.namespace === namespace && record.name === name);
  }

  /**
   * Completes the actuated resources of a pod; without any, those of the record count as actuated. Call it before the pod's
   * spec changes.
   */
  async ensureActuatedResources({uid, pod}: Pick<PodRecord, 'uid' | 'pod'>): Promise<void> {
    const known = await this.#actuated.read(uid);
    const actuated = known === undefined ? actuationOf(pod) : withPodLevel(known, pod);
    if (actuated !== known) await this.#actuated.write(uid, actuated);
  }

  /**
   * Adopts the pod before it is created: rejects like checkConflicts, deletes an older pod of the same name, and writes
   * the record. With `replace`, the pod itself is deleted first too. The caller holds the pod's lock.
   */
  async adopt(pod: Pod, source: string, {signal, replace}: AdoptOptions = {}): Promise<AdoptedPod> {
    return await this.locks.withUidLock(podRef(pod), signal, async () => {
      const {known, older} = await this.checkConflicts(pod, {replace});
      if (older !== undefined) await this.remover.deletePod(older, {signal});
      if (known !== undefined) await this.ensureActuatedResources(known);
      const record = this.createRecord(pod, source, known);
      await this.store.put(record);
      return {record, before: known?.pod};
    });
  }

  /** Returns the record of a pod that the node did not admit, with its status and event. */
  createRejectedPod(pod: Pod, source: string, rejection: Rejection): RejectedPod {
    const record = this.createRecord(pod, source);
    const {reason, message} = rejection;
    const times = {firstTimestamp: record.createdAt, lastTimestamp: record.createdAt};
    const startTime = formatMs(this.#options.clock.now());
    return {
      ...record,
      rejection: {
        status: computeRejectedStatus(pod, rejection, startTime),
        events: [{type: 'Warning', reason, message, count: 1, ...times}],
      },
    };
  }

  /** Returns a record of the pod; times and location are those of `known`, if given. */
  createRecord(pod: Pod, source: string, known?: PodRecord): PodRecord {
    const {uid, namespace, name} = podRef(pod);
    const {clock, node, endpoint} = this.#options;
    const createdAt = known?.createdAt ?? new Date(clock.now()).toISOString();
    const place = known?.place ?? podLocation(node);
    const takenOverAt = known?.takenOverAt;
    return {
      ...{uid, namespace, name, source, createdAt},
      ...(takenOverAt !== undefined && {takenOverAt}),
      ...{endpoint, place, pod},
    };
  }

  /** Takes over the pods that another kubelet has left in the root directory; see takeOverPods. */
  async takeOverPods(known: PodRecords, signal: AbortSignal): Promise<readonly PodRecord[]> {
    return await takeOverPods(known, {...this.#options, store: this.store}, signal);
  }

  /**
   * Writes the records of the daemon's pods whose runtime has another socket now, and resolves with them; see findMovedPods.
   * Rejects with SystemError and CriError.
   */
  async moveRecords(records: readonly PodRecord[], signal: AbortSignal): Promise<readonly PodRecord[]> {
    const moved = await findMovedPods(records, this.#options, signal);
    await this.store.putAll(moved);
    return moved;
  }

  /** Returns a record that replaces an unreadable one and suffices to delete the pod. Rejects with CriError. */
  async reconstructRecord(uid: PodUid): Promise<PodRecord> {
    const {services, node, endpoint} = this.#options;
    return {...(await reconstructRecord(services.runtime, uid, podLocation(node))), endpoint};
  }
}
