import type {Pod} from '../../../api/types/v1-pod.js';
import {PodActuatedResources, type ActuatedResourcesBackend} from '../allocation/actuated-resources-store.js';
import {observeCriCalls} from '../../contract/observation/observe-cri-calls.js';
import type {CallLimiter} from '../../../base/async/call-limiter.js';
import type {PodEvent} from '../../contract/pod-event.js';
import type {KubeletMetrics} from '../../contract/kubelet-metrics.js';
import type {NodeFacts, PodLocation} from '../../contract/node-facts.js';
import type {NodeManagers} from '../../contract/node-manager.js';
import {podRef, type PodRef} from '../../contract/pod-ref.js';
import {ALWAYS_READY} from '../../contract/probe-results.js';
import {NO_HISTORY, type PodHistory} from '../history/pod-history.js';
import {ImageManager} from '../../managers/images/image-manager.js';
import {FilePullRecordsAccessor} from '../../managers/images/pull-manager/pull-records-accessor.js';
import {createStartLimiter, limitStarts} from '../../managers/kuberuntime/limit-starts.js';
import {createCrashLoopBackOff} from '../../managers/kuberuntime/actions/crash-loop-back-off.js';
import type {SyncContext} from '../../managers/kuberuntime/sync-context.js';
import {createHookRunner} from '../../managers/lifecycle/hook-runner.js';
import type {
  ImagePullOptions,
  PodRegistryOptions,
  PodStateOptions,
  PodSyncOptions,
} from './pod-registry-options.js';
import {createMountBackOff} from '../sync/prepare-pod-filesystem.js';
import {PodSyncer} from '../sync/pod-syncer.js';
import {PodRedactor} from '../../managers/redaction/pod-redactor.js';

/** Dependencies of PodSyncerFactory. */
export interface PodSyncerFactoryOptions
  extends
    PodSyncOptions,
    Pick<PodStateOptions, 'histories'>,
    Pick<PodRegistryOptions, 'services' | 'runtimeName' | 'node' | 'clock' | 'observer'> {
  readonly images: ImageManager;
  readonly actuated: ActuatedResourcesBackend;
  readonly nodeManagers: NodeManagers;
}

/** Creates the image manager that all pods of a node share, with its pull queue and limits. */
export function createImageManager({
  node,
  clock,
  endpoint,
  imageCredentials,
  imagePolicy,
  pullRecords,
}: ImagePullOptions & Pick<PodRegistryOptions, 'node' | 'clock' | 'endpoint'>): ImageManager {
  return new ImageManager({
    ...imagePolicy,
    clock,
    credentials: imageCredentials,
    records: pullRecords ?? new FilePullRecordsAccessor(node.rootDir, endpoint),
  });
}

/** Creates the syncers of pods from the parts that the pods of a root directory share. */
export class PodSyncerFactory {
  readonly #options: PodSyncerFactoryOptions;
  /** The queue of the pods that start. */
  readonly starts: CallLimiter;

  constructor(options: PodSyncerFactoryOptions) {
    this.#options = options;
    this.starts = createStartLimiter(options.clock);
  }

  /** Sets the metrics of probes and image pulls. Before that nothing is counted. */
  setMetrics(metrics: Pick<KubeletMetrics, 'probeCompleted' | 'imageEnsured' | 'imagePulled'>): void {
    const {probes, images} = this.#options;
    probes?.setMetrics(metrics);
    images.setMetrics(metrics);
  }

  /** Opens the history of a pod. */
  openHistory(pod: Pod): PodHistory {
    const {histories, observer} = this.#options;
    const ref = podRef(pod);
    const onFailure = (error: unknown): void => {
      observer.recordingFailed(ref, error);
    };
    const history = histories?.of(ref.uid, onFailure) ?? NO_HISTORY;
    return {
      ...history,
      remember: (known) => {
        history.remember(known);
        observer.statusChanged?.(pod, known);
      },
    };
  }

  /** Creates the syncer of a pod at its location. */
  createSyncer(pod: Pod, place: PodLocation, history: PodHistory = this.openHistory(pod)): PodSyncer {
    const context = this.#context(podRef(pod), nodeAtLocation(this.#options.node, place), history);
    return new PodSyncer(context, pod, this.#options.runtimeName, history);
  }

  #context(ref: PodRef, node: NodeFacts, history: PodHistory): SyncContext {
    const {services, observer, clock, files, hooks = createHookRunner} = this.#options;
    const {objects, envObjects, probes, crashBackoffMaxMs} = this.#options;
    const observed = observeCriCalls(services, clock, (...call) => {
      observer.call(ref, ...call);
    });
    const limited = limitStarts(observed, this.starts);
    const secrets = new PodRedactor((texts) => observer.secret?.(texts, ref));
    const events = (raised: PodEvent): void => {
      const event = {...raised, message: secrets.mask(raised.message)};
      observer.event(event);
      history.event(event);
    };
    return {
      services: limited,
      node,
      nodeManagers: this.#options.nodeManagers,
      files: files(node),
      images: this.#options.images,
      objects,
      envObjects: envObjects ?? objects,
      crashBackoff: createCrashLoopBackOff(crashBackoffMaxMs),
      mountBackoff: createMountBackOff(),
      runHook: hooks({runtime: observed.runtime, clock, events}),
      probes: probes?.createPodProbes({runtime: observed.runtime, events}) ?? ALWAYS_READY,
      actuated: new PodActuatedResources(this.#options.actuated, ref.uid, (error) => {
        observer.recordingFailed(ref, error);
      }),
      events,
      onVolume: (step) => {
        history.volume('error' in step ? {...step, error: secrets.mask(step.error)} : step);
      },
      onPrepared: (startedAt, isFailed) => observer.prepared?.(ref, startedAt, isFailed),
      onLinkFailed: (error) => observer.linkFailed?.(ref, error),
      secrets,
      clock,
    };
  }
}

/** Returns the node facts for a pod that was created at `place`. */
export function nodeAtLocation(node: NodeFacts, place: PodLocation): NodeFacts {
  const {podLogsDir, cgroup} = place;
  const {containerLogsDir = node.containerLogsDir, volumePluginDir = node.volumePluginDir} = place;
  return {...node, podLogsDir, containerLogsDir, cgroup, volumePluginDir};
}
