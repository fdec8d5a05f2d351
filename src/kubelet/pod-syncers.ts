import type {Pod} from '../api/v1.js';
import {Backoff} from '../base/backoff.js';
import {PodActuated, type ActuatedStore} from './allocation/actuated-files.js';
import {observeCalls} from './container/cri-calls.js';
import type {PodEvent} from './container/events.js';
import type {KubeletMetrics} from './container/kubelet-metrics.js';
import type {NodeFacts, PodPlace} from './container/node.js';
import {podRef, type PodRef} from './container/pod-ref.js';
import {ALL_WELL} from './container/probe-results.js';
import {NO_HISTORY, type PodHistory} from './events/pod-history.js';
import {ImageManager} from './images/image-manager.js';
import {FilePullRecords} from './images/records/pull-records.js';
import {
  CRASH_BACKOFF_INITIAL_MS,
  CRASH_BACKOFF_MAX_MS,
  type SyncContext,
} from './kuberuntime/sync-context.js';
import {hookRunner} from './lifecycle/run-hook.js';
import type {LocalPodsOptions} from './local-pods-options.js';
import {PodSyncer} from './pod-syncer.js';
import {SecretTexts} from './references/secret-texts.js';

/** Makes what syncs, observes and ends one pod, from what the pods of a root directory share. */
export class PodSyncers {
  readonly #options: LocalPodsOptions;
  readonly #actuated: ActuatedStore;
  /** One for all pods: its queue, limits and answers of credential providers are the node's. */
  readonly #images: ImageManager;

  constructor(options: LocalPodsOptions, actuated: ActuatedStore) {
    const {node, clock, endpoint, imageCredentials, pullRecords} = options;
    this.#options = options;
    this.#actuated = actuated;
    this.#images = new ImageManager({
      ...options.imagePolicy,
      clock,
      credentials: imageCredentials,
      records: pullRecords ?? new FilePullRecords(node.rootDir, endpoint),
    });
  }

  /** Has probes and pulls counted; nobody counts them before. */
  count(metrics: Pick<KubeletMetrics, 'probed' | 'imageEnsured' | 'imagePulled'>): void {
    this.#options.probes?.count(metrics);
    this.#images.count(metrics);
  }

  /** Where what happens to a pod is kept. */
  historyOf(ref: PodRef): PodHistory {
    const {histories, observer} = this.#options;
    const tell = (error: unknown): void => {
      observer.unrecorded(ref, error);
    };
    return histories?.of(ref.uid, tell) ?? NO_HISTORY;
  }

  /** The pod stays where it was made. */
  syncerOf(pod: Pod, place: PodPlace, history: PodHistory = this.historyOf(podRef(pod))): PodSyncer {
    const context = this.#context(podRef(pod), nodeAt(this.#options.node, place), history);
    return new PodSyncer(context, pod, this.#options.runtimeName, history);
  }

  #context(ref: PodRef, node: NodeFacts, history: PodHistory): SyncContext {
    const {services, observer, clock, files, hooks = hookRunner} = this.#options;
    const {objects, envObjects, probes, crashBackoffMaxMs = CRASH_BACKOFF_MAX_MS} = this.#options;
    const observed = observeCalls(services, clock, (...call) => {
      observer.call(ref, ...call);
    });
    const secrets = new SecretTexts((texts) => observer.secret?.(texts, ref));
    const events = (told: PodEvent): void => {
      const event = {...told, message: secrets.mask(told.message)};
      observer.event(event);
      history.event(event);
    };
    return {
      services: observed,
      node,
      files: files(node),
      images: this.#images,
      objects,
      envObjects: envObjects ?? objects,
      crashBackoff: new Backoff(Math.min(CRASH_BACKOFF_INITIAL_MS, crashBackoffMaxMs), crashBackoffMaxMs),
      runHook: hooks({runtime: observed.runtime, clock, events}),
      probes: probes?.with({runtime: observed.runtime, events}) ?? ALL_WELL,
      actuated: new PodActuated(this.#actuated, ref.uid, (error) => {
        observer.unrecorded(ref, error);
      }),
      events,
      secrets,
      clock,
    };
  }
}

/** The node as a pod sees it that was made at `place`. */
export function nodeAt(node: NodeFacts, {podLogsDir, cgroup}: PodPlace): NodeFacts {
  return {...node, podLogsDir, cgroup};
}
