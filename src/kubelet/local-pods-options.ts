import type {ActuatedStore} from './allocation/actuated-files.js';
import type {Clock} from '../base/clock.js';
import type {ApiObjects} from './container/api-objects.js';
import type {CallListener} from './container/cri-calls.js';
import type {EventSink} from './container/events.js';
import type {RunHook} from './container/lifecycle-hook.js';
import type {NodeFacts} from './container/node.js';
import type {PodFilesystem} from './container/pod-filesystem.js';
import type {PodRef} from './container/pod-ref.js';
import type {KubeServices} from './container/services.js';
import type {PodHistories} from './events/pod-history.js';
import type {NodeCredentials} from './images/credentials/node-credentials.js';
import type {ImageManagerOptions} from './images/image-manager.js';
import type {PullRecords} from './images/records/pull-records.js';
import type {HookContext} from './lifecycle/run-hook.js';
import type {ProbeManager} from './prober/probe-manager.js';

/** Told what happens to a pod while it happens. */
export interface PodObserver {
  readonly event: EventSink;
  call(pod: PodRef, ...call: Parameters<CallListener>): void;
  /** Another process works on this pod; it is waited for. */
  waiting(pod: PodRef, holderPid: number): void;
  /** These are the pod's texts by now that nobody is to be shown: values of Secrets, and of files for variables. */
  secret?(texts: readonly string[], pod: PodRef): void;
  /** What happens to this pod can't be taken down for later, which keeps nothing else from being done. */
  unrecorded(pod: PodRef, error: unknown): void;
}

/** For whoever is not interested. */
export const SILENT_OBSERVER: PodObserver = {
  event: () => undefined,
  call: () => undefined,
  waiting: () => undefined,
  unrecorded: () => undefined,
};

/** What the pods of one root directory share. */
export interface LocalPodsOptions {
  readonly services: KubeServices;
  /** Where the runtime listens, as canonicalEndpoint has it. */
  readonly endpoint: string;
  readonly node: NodeFacts;
  /** The runtime's own name, as container ids are prefixed with it in statuses. */
  readonly runtimeName: string;
  readonly clock: Clock;
  /** What the pods refer to. */
  readonly objects: ApiObjects;
  /** What their environments are made from, when it isn't that. */
  readonly envObjects?: ApiObjects | undefined;
  readonly files: (node: NodeFacts) => PodFilesystem;
  /** The node's own credentials for registries; none without it. */
  readonly imageCredentials?: NodeCredentials | undefined;
  /** How many images are pulled at a time and how often, and who must show credentials; as a kubelet by default. */
  readonly imagePolicy?: Pick<ImageManagerOptions, 'limits' | 'verification'>;
  /** How long a container that crashes waits at most (crashLoopBackOff.maxContainerRestartPeriod). */
  readonly crashBackoffMaxMs?: number;
  /** Where pulls are recorded; below the root directory unless told otherwise. */
  readonly pullRecords?: PullRecords;
  /** Where it is kept what pods were last given; below the root directory unless told otherwise. */
  readonly actuated?: ActuatedStore;
  readonly observer: PodObserver;
  /** What runs lifecycle hooks, in the place of the kubelet's own. */
  readonly hooks?: (context: HookContext) => RunHook;
  /** Without it containers are not probed: all are well. */
  readonly probes?: ProbeManager;
  /** Where is kept what happens to the pods; without it nothing is. */
  readonly histories?: KeptHistories;
}

/** What the pods need of PodHistories. */
export type KeptHistories = Pick<PodHistories, 'of' | 'lastKnown' | 'delete'>;
