import type {Clock} from '../../../base/clock.js';
import type {PodUid} from '../../../cri/index.js';
import type {KubeletMetrics} from '../../contract/kubelet-metrics.js';
import {getCgroupRoot} from '../../resources/cgroup-root.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {PodFilesystem} from '../../contract/pod-filesystem.js';
import {removePodCgroup} from '../../managers/cgroups/remove-pod-cgroup.js';
import {podCgroupParents} from '../../resources/pod-cgroup-parent.js';
import type {VolumeProvisioner} from '../../managers/volumes/provisioning/volume-provisioner.js';
import type {ActuatedResourcesBackend} from '../allocation/actuated-resources-store.js';
import {computeDeletion, type PodHistory} from '../history/pod-history.js';
import {requireOwnership} from './pod-ownership.js';
import {podRef} from '../../contract/pod-ref.js';
import {removeRunMarks} from './pod-runs.js';
import type {PodHistoryStore, PodObserver} from './pod-registry-options.js';
import type {PodRecord, PodStore} from './pod-store.js';
import {nodeAtLocation, type PodSyncerFactory} from './pod-syncer-factory.js';
import {recordUnmountOf, type UnmountRecorder} from '../sync/record-unmount.js';

/** Dependencies of PodRemover. */
export interface PodRemoverOptions {
  readonly store: Pick<PodStore, 'put' | 'delete'>;
  readonly syncers: PodSyncerFactory;
  readonly actuated: ActuatedResourcesBackend;
  readonly histories?: PodHistoryStore | undefined;
  readonly files: (node: NodeFacts) => PodFilesystem;
  readonly endpoint: string;
  readonly node: NodeFacts;
  readonly clock: Clock;
  readonly observer: Pick<PodObserver, 'containersStopped'>;
  readonly metrics?: Pick<KubeletMetrics, 'cgroupManaged'> | undefined;
  /** Deletes the volumes that were created for a pod. */
  readonly provisioner?: Pick<VolumeProvisioner, 'reclaimOf'> | undefined;
}

/** Options of PodRemover.deletePod. */
export interface DeletePodOptions {
  /** Override of the pod's own grace period, in seconds. */
  readonly gracePeriodSeconds?: number | undefined;
  /** Signal that interrupts the waits for containers and for drivers: deletePod rejects with its reason and can be repeated. */
  readonly signal?: AbortSignal | undefined;
}

/** Stops pods and removes their resources in the runtime, on the node and in the root directory. */
export class PodRemover {
  readonly #options: PodRemoverOptions;

  constructor(options: PodRemoverOptions) {
    this.#options = options;
  }

  /**
   * Stops a pod and removes its containers, sandboxes, logs, volumes, directories and cgroup. Removes the record last,
   * so that an interrupted deletion can be repeated. Rejects like requireOwnership, before any change, and with
   * PodError and SystemError. The caller holds the pod's lock.
   */
  async deletePod(record: PodRecord, {gracePeriodSeconds, signal}: DeletePodOptions = {}): Promise<void> {
    const {syncers, observer} = this.#options;
    await requireOwnership(record, this.#options);
    const history = syncers.openHistory(record.pod);
    await this.#rememberDeletion(record, history, gracePeriodSeconds);
    const syncer = syncers.createSyncer(record.pod, record.place, history);
    await syncer.terminate(gracePeriodSeconds, signal);
    await observer.containersStopped?.(podRef(record.pod));
    await syncer.removeFromRuntime();
    await this.removeFromNode(record, syncer, signal);
    await history.flush();
    await this.forget(record);
  }

  /**
   * Removes the resources of a pod on the node, after those in the runtime; the syncer records the unmount of its volumes. Rejects with
   * the signal's reason while it waits for drivers.
   */
  async removeFromNode(record: PodRecord, syncer: UnmountRecorder, signal?: AbortSignal): Promise<void> {
    await recordUnmountOf(syncer, async () => this.#filesOf(record).removePod(record.pod, signal));
    await this.#options.provisioner?.reclaimOf(record.uid, signal);
    await this.#removeCgroup(record);
  }

  /** Removes the volumes and the cgroup of a terminated pod; its logs and containers stay. Rejects with the signal's reason. */
  async removeVolumesAndCgroup(
    record: PodRecord,
    syncer: UnmountRecorder,
    signal?: AbortSignal,
  ): Promise<void> {
    await recordUnmountOf(syncer, async () => this.#filesOf(record).removeVolumes(record.pod, signal));
    await this.#removeCgroup(record);
  }

  /** Removes the pod's record, history and actuated resources; the pod no longer belongs to kcri. */
  async forget({uid}: PodRecord): Promise<void> {
    await this.#forgetPast(uid);
    await removeRunMarks(this.#options.node.rootDir, uid);
    await this.#options.store.delete(uid);
  }

  /** Marks the pod as removed from the node and returns its record. Dead containers may remain in the runtime. */
  async markRemoved(record: PodRecord): Promise<PodRecord> {
    const {store, clock} = this.#options;
    await this.#forgetPast(record.uid);
    const removed = {...record, removedAt: new Date(clock.now()).toISOString()};
    await store.put(removed);
    return removed;
  }

  #filesOf({place}: PodRecord): PodFilesystem {
    const {files, node} = this.#options;
    return files(nodeAtLocation(node, place));
  }

  async #removeCgroup({uid, place}: PodRecord): Promise<void> {
    const node = nodeAtLocation(this.#options.node, place);
    const found = getCgroupRoot(node);
    if (found === undefined) return;
    // Those that the kubelet keeps are where its own pods are.
    const root = {...found, allPods: getCgroupRoot(this.#options.node)?.allPods};
    const {clock, metrics} = this.#options;
    const startedAt = clock.monotonic();
    const isRemoved = await removePodCgroup(root, podCgroupParents(uid, node.cgroup), clock);
    if (isRemoved) metrics?.cgroupManaged('destroy', clock.monotonic() - startedAt);
  }

  async #forgetPast(uid: PodUid): Promise<void> {
    await this.#options.histories?.delete(uid);
    await this.#options.actuated.delete(uid);
  }

  /** Persists the deletion mark, which remains if the deletion is interrupted. */
  async #rememberDeletion(
    {pod}: PodRecord,
    history: PodHistory,
    gracePeriodSeconds = pod.spec.terminationGracePeriodSeconds ?? 0,
  ): Promise<void> {
    const {status = {}, reasons = {}} = (await history.lastKnown()) ?? {};
    const deletion = computeDeletion(this.#options.clock.now(), gracePeriodSeconds);
    history.remember({status, reasons, deletion});
  }
}
