import type {Backoff} from '../../base/backoff.js';
import type {Clock} from '../../base/clock.js';
import type {ApiObjects} from '../container/api-objects.js';
import type {EventSink} from '../container/events.js';
import type {RunHook} from '../container/lifecycle-hook.js';
import type {NodeFacts} from '../container/node.js';
import type {ActuatedResources} from '../container/pod-allocation.js';
import type {PodFilesystem} from '../container/pod-filesystem.js';
import type {PodProbes} from '../container/probe-results.js';
import type {KubeServices} from '../container/services.js';
import type {ImageManager} from '../images/image-manager.js';
import type {SecretTexts} from '../references/secret-texts.js';

/** What syncs of all pods share. */
export interface SyncContext {
  readonly services: KubeServices;
  readonly node: NodeFacts;
  readonly files: PodFilesystem;
  readonly images: ImageManager;
  /** What the pods refer to. */
  readonly objects: ApiObjects;
  /** The same for environments: in a plan, which is shown, without the values of Secrets. */
  readonly envObjects: ApiObjects;
  /** Restart delays of crashing containers: 10 s doubling to 5 min. */
  readonly crashBackoff: Backoff;
  readonly runHook: RunHook;
  readonly probes: PodProbes;
  readonly actuated: ActuatedResources;
  readonly events: EventSink;
  /** Learns what of the pod nobody is to be shown. */
  readonly secrets: SecretTexts;
  readonly clock: Clock;
}

/** The kubelet's crash back-off. */
export const CRASH_BACKOFF_INITIAL_MS = 10_000;
export const CRASH_BACKOFF_MAX_MS = 300_000;
