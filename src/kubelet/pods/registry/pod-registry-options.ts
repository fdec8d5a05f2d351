import type {ActuatedResourcesBackend} from '../allocation/actuated-resources-store.js';
import type {Pod} from '../../../api/types/v1-pod.js';
import type {Clock} from '../../../base/clock.js';
import type {PodUid} from '../../../cri/index.js';
import type {ApiObjects} from '../../contract/api-objects.js';
import type {CriCallListener} from '../../contract/observation/observe-cri-calls.js';
import type {EventSink} from '../../contract/pod-event.js';
import type {RunHook} from '../../contract/lifecycle-hook.js';
import type {KubeletMetrics} from '../../contract/kubelet-metrics.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeManagers} from '../../contract/node-manager.js';
import type {PodFilesystem} from '../../contract/pod-filesystem.js';
import type {PodRef} from '../../contract/pod-ref.js';
import type {KubeServices} from '../../contract/kube-services.js';
import type {LastKnown, PodHistories} from '../history/pod-history.js';
import type {NodeCredentials} from '../../managers/images/credentials/node-credentials.js';
import type {ImageManagerOptions} from '../../managers/images/image-manager.js';
import type {PullRecordsAccessor} from '../../managers/images/pull-manager/pull-records-accessor.js';
import type {HookContext} from '../../managers/lifecycle/hook-runner.js';
import type {VolumeProvisioner} from '../../managers/volumes/provisioning/volume-provisioner.js';
import type {ProbeManager} from '../../managers/probes/probe-manager.js';

/** Observer of pods during work on them. */
export interface PodObserver {
  readonly event: EventSink;
  call(pod: PodRef, ...call: Parameters<CriCallListener>): void;
  /** Called when another process holds the pod's lock and this process waits for it. */
  waitingForLock(pod: PodRef, holderPid: number): void;
  /** Sets the known secret values of the pod: values of Secrets and of files for variables. */
  secret?(texts: readonly string[], pod: PodRef): void;
  /** Called when the pod has a new status. */
  statusChanged?(pod: Pod, known: Omit<LastKnown, 'seenAt'>): void;
  /** Called after the volumes of a pod were prepared for its containers; `startedAt` is in ms of the monotonic clock. */
  prepared?(pod: PodRef, startedAt: number, isFailed: boolean): void;
  /** Called when the containers of a pod that is being deleted have stopped, before they are removed with their logs. */
  containersStopped?(pod: PodRef): Promise<void>;
  /** Called when the pod's history cannot be written; work on the pod continues. */
  recordingFailed(pod: PodRef, error: unknown): void;
  /** Called when the log of a container cannot be linked for log collectors; work on the pod continues. */
  linkFailed?(pod: PodRef, error: unknown): void;
}

/** Observer that ignores everything. */
export const SILENT_OBSERVER: PodObserver = {
  event: () => undefined,
  call: () => undefined,
  waitingForLock: () => undefined,
  recordingFailed: () => undefined,
};

/** Runtime that pods are created on. */
export interface RuntimeOptions {
  readonly services: KubeServices;
  /** Canonical endpoint of the runtime (canonicalEndpoint). */
  readonly endpoint: string;
  /** Name of the runtime, the prefix of container IDs in statuses. */
  readonly runtimeName: string;
}

/** Options of the image pulls of all pods of a node. */
export interface ImagePullOptions {
  /** The node's own registry credentials; none by default. */
  readonly imageCredentials?: NodeCredentials | undefined;
  /** Limits of pulls and verification of credentials; the kubelet's defaults by default. */
  readonly imagePolicy?: Pick<ImageManagerOptions, 'limits' | 'verification'>;
  /** Records of image pulls; below the root directory by default. */
  readonly pullRecords?: PullRecordsAccessor;
}

/** Options of the syncs of pods. */
export interface PodSyncOptions {
  /** API objects that pods refer to. */
  readonly objects: ApiObjects;
  /** API objects for environment variables, if they differ from `objects`. */
  readonly envObjects?: ApiObjects | undefined;
  readonly files: (node: NodeFacts) => PodFilesystem;
  /** Maximum back-off of a crashing container, in ms (crashLoopBackOff.maxContainerRestartPeriod). */
  readonly crashBackoffMaxMs?: number;
  /** Creates the runner of lifecycle hooks; the kubelet's own by default. */
  readonly hooks?: (context: HookContext) => RunHook;
  /** Probe manager; without one all containers count as ready. */
  readonly probes?: ProbeManager;
  /** Managers of the node's resources; those of createNodeManagers by default. */
  readonly nodeManagers?: NodeManagers | undefined;
}

/** Stores of pod state besides the records. */
export interface PodStateOptions {
  /** Store of actuated resources; below the root directory by default. */
  readonly actuated?: ActuatedResourcesBackend;
  /** Store of events and last-known statuses; without it neither is stored. */
  readonly histories?: PodHistoryStore;
}

/** Shared options of the pods of one root directory. */
export interface PodRegistryOptions
  extends RuntimeOptions, ImagePullOptions, PodSyncOptions, PodStateOptions {
  readonly node: NodeFacts;
  readonly clock: Clock;
  readonly observer: PodObserver;
  /** Returns the volumes of a pod that this process has mounted, by name; none by default. */
  readonly mounted?: (uid: PodUid) => ReadonlyMap<string, unknown>;
  readonly metrics?: Pick<KubeletMetrics, 'cgroupManaged'>;
  /** Creates and deletes the volumes of claims. */
  readonly provisioner?: VolumeProvisioner;
}

/** Methods of PodHistories used by a pod registry. */
export type PodHistoryStore = Pick<PodHistories, 'of' | 'lastKnown' | 'delete'>;
