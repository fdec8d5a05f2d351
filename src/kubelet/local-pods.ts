import type {Pod} from '../api/v1.js';
import {Backoff} from '../base/backoff.js';
import type {Clock} from '../base/clock.js';
import {SystemError} from '../base/errors.js';
import {acquireLock} from '../base/lock.js';
import {observeCalls, type CallListener} from './container/cri-calls.js';
import type {EventSink} from './container/events.js';
import type {NodeFacts, PodPlace} from './container/node.js';
import type {PodFilesystem} from './container/pod-filesystem.js';
import {podRef, type PodRef} from './container/pod-ref.js';
import type {KubeServices} from './container/services.js';
import {ImageManager} from './images/image-manager.js';
import {readPodStatus} from './kuberuntime/runtime-status.js';
import {sandboxConfig} from './kuberuntime/sandbox-config.js';
import {CRASH_BACKOFF_INITIAL_MS, CRASH_BACKOFF_MAX_MS} from './kuberuntime/sync-context.js';
import {PodSyncer} from './pod-syncer.js';
import {PodStore, type PodRecord} from './pod/pod-store.js';
import {removePodCgroup} from './resources/pod-cgroup.js';

/** Told what happens to a pod while it happens. */
export interface PodObserver {
  readonly event: EventSink;
  call(pod: PodRef, ...call: Parameters<CallListener>): void;
  /** Another process works on this pod; it is waited for. */
  waiting(pod: PodRef, holderPid: number): void;
}

/** For whoever is not interested. */
export const SILENT_OBSERVER: PodObserver = {
  event: () => undefined,
  call: () => undefined,
  waiting: () => undefined,
};

/** What the pods of one root directory share. */
export interface LocalPodsOptions {
  readonly services: KubeServices;
  readonly node: NodeFacts;
  /** The runtime's own name, as container ids are prefixed with it in statuses. */
  readonly runtimeName: string;
  readonly clock: Clock;
  readonly files: (node: NodeFacts) => PodFilesystem;
  readonly observer: PodObserver;
}

/** A pod that has become kcri's own. */
export interface AdoptedPod {
  readonly record: PodRecord;
  /** No sync of it has been before. */
  readonly isNew: boolean;
}

/**
 * The pods that kcri has made: those with a record under the root directory. Every other pod in the runtime
 * is somebody else's and is never touched. Work on one pod is serial, between processes too.
 */
export class LocalPods {
  readonly #options: LocalPodsOptions;
  readonly store: PodStore;

  constructor(options: LocalPodsOptions) {
    this.#options = options;
    this.store = new PodStore(options.node.rootDir);
  }

  /** What syncs, observes and ends one pod, which stays where it was made. */
  syncer(pod: Pod, place: PodPlace = this.#options.node): PodSyncer {
    const {services, observer, clock, runtimeName, files} = this.#options;
    const node = this.#nodeAt(place);
    const ref = podRef(pod);
    const observed = observeCalls(services, clock, (...call) => {
      observer.call(ref, ...call);
    });
    const context = {
      services: observed,
      node,
      files: files(node),
      images: new ImageManager(observed.images, clock),
      crashBackoff: new Backoff(CRASH_BACKOFF_INITIAL_MS, CRASH_BACKOFF_MAX_MS),
      events: observer.event,
      clock,
    };
    return new PodSyncer(context, pod, runtimeName);
  }

  /** Runs `work` while no other kcri works on the pod of that name. */
  async exclusively<T>(ref: PodRef, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    const path = `${this.#options.node.rootDir}/locks/${ref.namespace}_${ref.name}.lock`;
    await using _ = await acquireLock(path, {
      signal,
      clock: this.#options.clock,
      onWait: (pid: number) => {
        this.#options.observer.waiting(ref, pid);
      },
    });
    return await work();
  }

  /**
   * Makes the pod kcri's own before anything of it exists: ends an older pod of the same name, refuses a UID
   * that somebody else's pod has, writes the record. To be called exclusively.
   */
  async adopt(pod: Pod, source: string): Promise<AdoptedPod> {
    const ref = podRef(pod);
    const {clock, node} = this.#options;
    const older = await this.store.findByName(ref.namespace, ref.name);
    if (older !== undefined && older.uid !== ref.uid) await this.end(older);
    const known = await this.store.get(ref.uid);
    if (known === undefined) await this.#refuseForeign(ref);
    const record: PodRecord = {
      uid: ref.uid,
      namespace: ref.namespace,
      name: ref.name,
      source,
      createdAt: known?.createdAt ?? new Date(clock.now()).toISOString(),
      place: known?.place ?? {podLogsDir: node.podLogsDir, cgroup: node.cgroup},
      pod,
    };
    await this.store.put(record);
    return {record, isNew: known === undefined};
  }

  #nodeAt({podLogsDir, cgroup}: PodPlace): NodeFacts {
    return {...this.#options.node, podLogsDir, cgroup};
  }

  async #refuseForeign(ref: PodRef): Promise<void> {
    const {sandboxes} = await readPodStatus(this.#options.services.runtime, ref);
    if (sandboxes.length === 0) return;
    throw new SystemError(
      `a pod with the UID "${ref.uid}" runs already and was not made by kcri with the root directory "${this.#options.node.rootDir}"`,
      {hint: 'give the manifest another metadata.uid, or end that pod with the tool that made it'},
    );
  }

  /**
   * Ends a pod and removes all that is left of it: containers, sandboxes, logs, volumes, directories, cgroup,
   * and at last the record, so that whatever fails half-way can be ended again. To be called exclusively.
   */
  async end(record: PodRecord, gracePeriodSeconds?: number): Promise<void> {
    const {pod, place} = record;
    const syncer = this.syncer(pod, place);
    await syncer.terminate(gracePeriodSeconds);
    await syncer.removeFromRuntime();
    const node = this.#nodeAt(place);
    await this.#options.files(node).removePod(pod);
    await removePodCgroup(node.cgroup, sandboxConfig(pod, node, 0).linux?.cgroupParent ?? '');
    await this.store.delete(record.uid);
  }
}
