import type {HealthCheck} from '../../contract/node-manager.js';
import type {NodePressureManager} from '../../pods/eviction/node-pressure-manager.js';
import type {Node} from '../../../api/types/v1-node.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import {hasEnded, type PodStatus} from '../../../api/types/v1-status.js';
import type {DesiredPod} from '../../contract/pod-update.js';
import type {
  ClusterHost,
  ClusterPodState,
  MirroredPod,
  StartQueue,
} from '../../contract/cluster/cluster-link.js';
import type {NodePressure} from '../../contract/cluster/node-pressure.js';
import {timestampOf, type Clock} from '../../../base/clock.js';
import type {PodUid} from '../../../cri/index.js';
import type {ExtendedResources} from '../../contract/resources/extended-resources.js';
import type {RuntimeFeatures} from '../../contract/node-facts.js';
import type {Pleg, RunningPod} from '../../contract/pleg.js';
import type {RuntimePodStatus} from '../../contract/runtime-pod-status.js';
import type {ManagedPodSyncHandler} from '../../pods/workers/managed-pod-sync-handler.js';
import {
  createPlegReport,
  createPodReport,
  formatRfc3339,
  type KubeletPodReport,
  type KubeletReport,
  type ReportRequest,
} from './kubelet-report.js';
import type {RuntimeState} from '../../node/runtime-state.js';
import type {SourceReport} from '../../sources/pod-source.js';
import {createManifestProblems} from './manifest-problem.js';
import {isStaticPod} from '../../sources/static-pod.js';
import type {PodTimelines} from '../../pods/history/pod-timelines.js';
import type {PodManager} from '../../pods/registry/pod-manager.js';
import type {PodRegistry} from '../../pods/registry/pod-registry.js';
import type {PodVolumeState} from '../../contract/volumes/pod-volume-state.js';
import type {WorkerSummary} from '../../contract/pod-worker-summary.js';
import type {PodWorkers} from '../../pods/workers/pod-workers.js';
import type {ProbeManager} from '../../managers/probes/probe-manager.js';

/** The parts of a kubelet that the view reads. */
interface Parts {
  readonly manager: PodManager;
  /** Handler of the sync loop. */
  readonly handler: {
    getStatus(pod: DesiredPod): PodStatus;
    knownStatus(uid: PodUid): PodStatus | undefined;
    isRejected(uid: PodUid): boolean;
    errors(): readonly string[];
    readonly allSourcesReady: boolean;
  };
  readonly pods: ManagedPodSyncHandler;
  readonly probes: ProbeManager | undefined;
  readonly workers: PodWorkers;
  readonly pleg: Pleg;
  readonly nodePressure: Pick<NodePressureManager, 'pressures' | 'thresholds'> | undefined;
  readonly loop: {readonly lastActiveAt: number};
  readonly runtimeState: RuntimeState;
  readonly clock: Clock;
  readonly starts: StartQueue;
  readonly registry: Pick<PodRegistry, 'volumes' | 'nodeManagers'>;
  readonly timelines: Pick<PodTimelines, 'steps' | 'livesWithout'>;
  /** Returns the Node object of the cluster, if the kubelet has joined one and knows it. */
  readonly clusterNode: () => Node | undefined;
  /** Returns the current problems of the pod sources. */
  readonly sourceProblems: () => readonly SourceReport[];
}

/** Report of the kubelet without the fields of its process. */
export type ViewReport = Omit<KubeletReport, 'pid' | 'startedAt' | 'endpoint' | 'urls' | 'localNode'>;

/** Read-only view of a running kubelet, for its HTTP servers, metrics and introspection. */
export class KubeletView implements ClusterHost {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get starts(): StartQueue {
    return this.#parts.starts;
  }

  /** Returns the desired pods with their statuses. */
  pods(): readonly Pod[] {
    const {manager, handler} = this.#parts;
    return manager.list().map((desired) => ({...desired.pod, status: handler.getStatus(desired)}));
  }

  pod(uid: PodUid): Pod | undefined {
    const {manager, handler} = this.#parts;
    const desired = manager.get(uid);
    return desired && {...desired.pod, status: handler.getStatus(desired)};
  }

  /** Returns all running pods of the runtime, including those that kcri did not create. */
  runningPods(): readonly RunningPod[] {
    return this.#parts.pleg.runningPods().filter(({isRunning}) => isRunning);
  }

  /** Returns the runtime status of a managed pod from the last read. Throws the runtime's error if that read failed. */
  runtimeStatus(uid: PodUid): RuntimePodStatus {
    return this.#parts.pleg.cache.get(uid);
  }

  /** Reports whether the pod uses resources of the node (filterOutInactivePods). */
  isActive(uid: PodUid): boolean {
    return !hasEnded(this.pod(uid)?.status?.phase) && !this.#parts.workers.isTerminated(uid);
  }

  /** Returns the volumes that containers of the pod mount. */
  volumes(pod: Pod): readonly PodVolumeState[] {
    return this.#parts.registry.volumes(pod);
  }

  /** Returns a summary of each pod worker. */
  workers(): readonly WorkerSummary[] {
    return this.#parts.workers.list();
  }

  /** Returns the state that only this process knows, for the requested pods. */
  report({uids, timelines: hasTimelines = false, deletedPods = false}: ReportRequest = {}): ViewReport {
    const {manager, pods, pleg, loop, clock, nodePressure, timelines} = this.#parts;
    const wanted = manager.uids();
    const node = this.#parts.clusterNode();
    const manifestProblems = this.#parts.sourceProblems().flatMap(createManifestProblems);
    const present = new Set([...wanted, ...pods.presentRecords().map(({uid}) => uid)]);
    return {
      now: formatRfc3339(clock.now()),
      lastActiveAt: formatRfc3339(timestampOf(clock, loop.lastActiveAt)),
      errors: this.errors(),
      ...(this.pressures.length > 0 && {pressures: this.pressures}),
      ...(nodePressure && {thresholds: nodePressure.thresholds}),
      pleg: createPlegReport(pleg.report()),
      ...(node && {node}),
      ...(manifestProblems.length > 0 && {manifestProblems}),
      wantedPods: wanted.size,
      pods: (uids ?? [...present]).flatMap((uid) => this.#podReport(uid, hasTimelines) ?? []),
      ...(deletedPods && {deletedPods: timelines.livesWithout(present)}),
    };
  }

  #podReport(uid: PodUid, hasTimeline: boolean): KubeletPodReport | undefined {
    const {manager, pods, workers, handler, probes, timelines} = this.#parts;
    const desired = manager.get(uid);
    const pod = desired?.pod ?? pods.getPod(uid);
    return (
      pod &&
      createPodReport({
        uid,
        pod,
        desired,
        isRejected: handler.isRejected(uid),
        worker: workers.report(uid),
        backOffs: pods.getBackOffs(uid),
        probes: probes?.states(uid) ?? [],
        timeline: hasTimeline ? timelines.steps(uid) : undefined,
      })
    );
  }

  /** Time at which the sync loop was last active, in ms since the epoch. */
  get lastActiveAt(): number {
    return this.#parts.loop.lastActiveAt;
  }

  /** Returns the reasons why pods cannot be synced now; empty if they can. */
  errors(): readonly string[] {
    return this.#parts.handler.errors();
  }

  volumesInUse(): readonly string[] | undefined {
    return this.#parts.registry.nodeManagers.volumesInUse();
  }

  takeExtendedResources(): ExtendedResources {
    return this.#parts.registry.nodeManagers.takeExtendedResources();
  }

  podUids(): readonly PodUid[] {
    const {manager} = this.#parts;
    const mirrored = manager.mirrors().flatMap(({uid}) => manager.staticPodOf(uid)?.uid ?? []);
    return [...new Set([...manager.uids(), ...mirrored])];
  }

  podState(uid: PodUid): ClusterPodState | undefined {
    const {manager, handler, workers} = this.#parts;
    const desired = manager.get(uid);
    const stored = desired === undefined || isStaticPod(desired.pod) ? manager.mirrorOf(uid) : desired;
    if (stored === undefined) return undefined;
    const isRejected = handler.isRejected(uid);
    return {
      pod: stored.pod,
      status: handler.knownStatus(uid),
      couldHaveRunningContainers: !isRejected && workers.couldHaveRunningContainers(uid),
      isFinished: (isRejected && !workers.isKnown(uid)) || workers.isFinished(uid),
      terminatingAt: workers.report(uid)?.terminatingAt,
    };
  }

  staticPods(): readonly MirroredPod[] {
    const {manager, workers} = this.#parts;
    const syncing = manager.list().filter(({uid, pod}) => isStaticPod(pod) && workers.isSyncing(uid));
    return syncing.map(({uid, pod}) => ({pod, mirror: manager.mirrorOf(uid)?.pod}));
  }

  orphanedMirrorPods(): readonly Pod[] {
    const {manager, handler} = this.#parts;
    if (!handler.allSourcesReady) return [];
    return manager.mirrors().flatMap(({uid, pod}) => (this.#isRepresented(uid) ? [] : [pod]));
  }

  /** Reports whether the static pod of a mirror pod is in a source or has not stopped yet. */
  #isRepresented(mirrorUid: PodUid): boolean {
    const {manager, workers} = this.#parts;
    const uid = manager.staticPodOf(mirrorUid)?.uid;
    if (uid === undefined) return false;
    return manager.get(uid) !== undefined || (workers.isKnown(uid) && !workers.isTerminated(uid));
  }

  get nodeErrors(): readonly string[] {
    const {networkError} = this;
    const {nodeErrors} = this.#parts.registry.nodeManagers;
    return [...this.errors(), ...(networkError === undefined ? [] : [networkError]), ...nodeErrors];
  }

  get healthChecks(): readonly HealthCheck[] {
    return this.#parts.registry.nodeManagers.healthChecks;
  }

  get pressures(): readonly NodePressure[] {
    return this.#parts.nodePressure?.pressures ?? [];
  }

  get runtimeFeatures(): RuntimeFeatures | undefined {
    return this.#parts.runtimeState.features;
  }

  get networkError(): string | undefined {
    return this.#parts.runtimeState.networkError;
  }
}
