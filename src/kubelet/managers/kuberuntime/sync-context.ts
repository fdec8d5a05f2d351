import type {Backoff} from '../../../base/async/backoff.js';
import type {Clock} from '../../../base/clock.js';
import type {ApiObjects} from '../../contract/api-objects.js';
import type {VolumeStepSink} from '../../contract/volumes/volume-history.js';
import type {EventSink} from '../../contract/pod-event.js';
import type {RunHook} from '../../contract/lifecycle-hook.js';
import type {NodeFacts} from '../../contract/node-facts.js';
import type {NodeManagers} from '../../contract/node-manager.js';
import type {ActuatedResources} from '../../contract/resources/actuated-resources.js';
import type {PodFilesystem} from '../../contract/pod-filesystem.js';
import type {PodProbes} from '../../contract/probe-results.js';
import type {KubeServices} from '../../contract/kube-services.js';
import type {ImageManager} from '../images/image-manager.js';
import type {PodRedactor} from '../redaction/pod-redactor.js';

/** Services and state that SyncPod works with. */
export interface SyncContext {
  readonly services: KubeServices;
  readonly node: NodeFacts;
  readonly nodeManagers: NodeManagers;
  readonly files: PodFilesystem;
  readonly images: ImageManager;
  /** ConfigMaps, Secrets and other objects that pods refer to. */
  readonly objects: ApiObjects;
  /** Objects for environment variables; in a plan, which is printed, without the values of Secrets. */
  readonly envObjects: ApiObjects;
  /** Restart delays of crashing containers (see createCrashLoopBackOff). */
  readonly crashBackoff: Backoff;
  /** Delays after failures to load what the pod's volumes need (see createMountBackOff). */
  readonly mountBackoff: Backoff;
  readonly runHook: RunHook;
  readonly probes: PodProbes;
  readonly actuated: ActuatedResources;
  readonly events: EventSink;
  /** Receives what happens to the volumes of the pod. */
  readonly onVolume?: VolumeStepSink;
  /**
   * Called after the pod's cgroup, directories, objects and volumes were prepared, before containers are started. `startedAt` is in
   * ms of the monotonic clock.
   */
  readonly onPrepared?: (startedAt: number, isFailed: boolean) => void;
  /** Receives the error of a link to a container's log that could not be created. */
  readonly onLinkFailed: (error: unknown) => void;
  /** Receives the secret values that each container starts with. */
  readonly secrets: PodRedactor;
  readonly clock: Clock;
}
