import type {Pod} from '../api/v1.js';
import {rejectionOf} from './admission/admit-pod.js';
import {tellUnknownResources} from './admission/unknown-resources.js';
import {ActuatedFiles, PodActuated, type ActuatedStore} from './allocation/actuated-files.js';
import {judgeResize} from './allocation/judge-resize.js';
import {Backoff} from '../base/backoff.js';
import type {Clock} from '../base/clock.js';
import {SystemError} from '../base/errors.js';
import {acquireLock, type LockOptions} from '../base/lock.js';
import type {PodUid} from '../cri/index.js';
import type {ApiObjects} from './container/api-objects.js';
import {observeCalls, type CallListener} from './container/cri-calls.js';
import type {EventSink, PodEvent} from './container/events.js';
import type {RunHook} from './container/lifecycle-hook.js';
import {cgroupGround, type NodeFacts, type PodPlace} from './container/node.js';
import type {PodFilesystem} from './container/pod-filesystem.js';
import {allocationOf, isAllocated} from './container/pod-allocation.js';
import {podRef, type PodRef} from './container/pod-ref.js';
import {ALL_WELL} from './container/probe-results.js';
import type {KubeServices} from './container/services.js';
import {deletionAt, NO_HISTORY, type PodHistories, type PodHistory} from './events/pod-history.js';
import type {NodeCredentials} from './images/credentials/node-credentials.js';
import type {KubeletMetrics} from './container/kubelet-metrics.js';
import {ImageManager, type ImageManagerOptions} from './images/image-manager.js';
import {FilePullRecords, type PullRecords} from './images/records/pull-records.js';
import {findKubelet} from './kubelet-file.js';
import {POD_UID_LABEL} from './kuberuntime/labels.js';
import {podCgroupParents} from './kuberuntime/pod-cgroup.js';
import {CRASH_BACKOFF_INITIAL_MS, CRASH_BACKOFF_MAX_MS} from './kuberuntime/sync-context.js';
import {hookRunner, type HookContext} from './lifecycle/run-hook.js';
import {
  BusyPodError,
  KeptByKubeletError,
  OtherRuntimeError,
  PodRejectedError,
  ResizeRejectedError,
  SupersededError,
  uidOfAnother,
} from './pod-error.js';
import {PodSyncer} from './pod-syncer.js';
import {PodStore, type PodRecord} from './pod/pod-store.js';
import type {ProbeManager} from './prober/probe-manager.js';
import {SecretTexts} from './references/secret-texts.js';
import {removePodCgroup} from './resources/pod-cgroup.js';
import {salvageRecord} from './salvage-record.js';

/** Told what happens to a pod while it happens. */
export interface PodObserver {
  readonly event: EventSink;
  call(pod: PodRef, ...call: Parameters<CallListener>): void;
  /** Another process works on this pod; it is waited for. */
  waiting(pod: PodRef, holderPid: number): void;
  /** Texts have become known that nobody is to be shown: values of Secrets, and of files for variables. */
  secret?(texts: readonly string[]): void;
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

/** A pod that has become kcri's own. */
export interface AdoptedPod {
  readonly record: PodRecord;
  /** As it was synced before; undefined for a new one. */
  readonly before: Pod | undefined;
}

/** How a pod stands to what is there already. */
export interface Standing {
  /** The pod's own record: undefined for a new one. */
  readonly known: PodRecord | undefined;
  /** The pod of the same name, made from another content, that has to be ended first. */
  readonly older: PodRecord | undefined;
}

/** How a pod is ended. */
export interface EndOptions {
  /** Replaces the pod's own grace period. */
  readonly gracePeriodSeconds?: number | undefined;
  /** Ends the wait for containers to stop; `end` then rejects with its reason, and can be called again. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The pods that kcri has made: those with a record under the root directory. Every other pod in the runtime
 * is somebody else's and is never touched. Work on one pod is serial, between processes too.
 */
export class LocalPods {
  readonly #options: LocalPodsOptions;
  /** One for all pods: its queue, limits and answers of credential providers are the node's. */
  readonly #images: ImageManager;
  readonly #actuated: ActuatedStore;
  readonly store: PodStore;

  constructor(options: LocalPodsOptions) {
    const {node, clock, endpoint, imageCredentials, pullRecords} = options;
    this.#options = options;
    this.#images = new ImageManager({
      ...options.imagePolicy,
      clock,
      credentials: imageCredentials,
      records: pullRecords ?? new FilePullRecords(node.rootDir, endpoint),
    });
    this.store = new PodStore(node.rootDir);
    this.#actuated = options.actuated ?? new ActuatedFiles(node.rootDir);
  }

  /** Has probes and pulls counted; nobody counts them before. */
  count(metrics: Pick<KubeletMetrics, 'probed' | 'imageEnsured' | 'imagePulled'>): void {
    this.#options.probes?.count(metrics);
    this.#images.count(metrics);
  }

  /** What probes the pods; undefined where all are taken to be well. */
  get probes(): ProbeManager | undefined {
    return this.#options.probes;
  }

  /** What syncs, observes and ends one pod, which stays where it was made. */
  syncer(pod: Pod, place: PodPlace = this.#options.node): PodSyncer {
    return this.#syncer(pod, place, this.#historyOf(podRef(pod)));
  }

  #historyOf(ref: PodRef): PodHistory {
    const {histories, observer} = this.#options;
    const tell = (error: unknown): void => {
      observer.unrecorded(ref, error);
    };
    return histories?.of(ref.uid, tell) ?? NO_HISTORY;
  }

  #syncer(pod: Pod, place: PodPlace, history: PodHistory): PodSyncer {
    const {services, observer, clock, runtimeName, files, hooks = hookRunner} = this.#options;
    const {objects, envObjects, probes, crashBackoffMaxMs = CRASH_BACKOFF_MAX_MS} = this.#options;
    const node = this.#nodeAt(place);
    const ref = podRef(pod);
    const observed = observeCalls(services, clock, (...call) => {
      observer.call(ref, ...call);
    });
    const secrets = new SecretTexts((texts) => observer.secret?.(texts));
    const events = (told: PodEvent): void => {
      const event = {...told, message: secrets.mask(told.message)};
      observer.event(event);
      history.event(event);
    };
    const context = {
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
    return new PodSyncer(context, pod, runtimeName, history);
  }

  /** Runs `work` while no other kcri works on the pod of that name. */
  async exclusively<T>(ref: PodRef, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    return await this.#locked(`${ref.namespace}_${ref.name}`, this.#turn(ref, signal), work);
  }

  /** The same, but rejects with BusyPodError when another one does. */
  async unlessBusy<T>(ref: PodRef, work: () => Promise<T>): Promise<T> {
    const onWait = (pid: number): void => {
      throw new BusyPodError(ref, pid);
    };
    return await this.#locked(`${ref.namespace}_${ref.name}`, {onWait}, work);
  }

  #turn(ref: PodRef, signal: AbortSignal | undefined): LockOptions {
    const onWait = (pid: number): void => {
      this.#options.observer.waiting(ref, pid);
    };
    return {signal, onWait};
  }

  async #locked<T>(name: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
    const {node, clock} = this.#options;
    const lock = await acquireLock(`${node.rootDir}/locks/${name}.lock`, {clock, ...options});
    try {
      return await work();
    } finally {
      await lock[Symbol.asyncDispose]();
    }
  }

  /**
   * How the pod stands to what kcri and others run already. Rejects with SystemError when its UID belongs to
   * another pod or when a pod of that name runs whose record is broken, and with OtherRuntimeError when the pod
   * or the older one was made on another runtime, and with PodRejectedError when the node doesn't take a new pod.
   * Changes nothing.
   */
  async standing(pod: Pod): Promise<Standing> {
    const ref = podRef(pod);
    const found = await this.store.get(ref.uid);
    if (found === undefined) await this.#refuseForeign(ref);
    else if (found.namespace !== ref.namespace || found.name !== ref.name) throw uidOfAnother(ref, found);
    await this.#refuseBrokenNamesake(ref);
    const known = found?.goneAt === undefined ? found : undefined;
    const namesake = await this.store.findByName(ref.namespace, ref.name);
    const older = namesake?.uid === ref.uid ? undefined : namesake;
    for (const record of [known, older])
      if (record !== undefined) {
        this.#requireHere(record);
        await this.#refuseKept(record);
      }
    await this.#requireAdmission(pod, {known, older});
    return {known, older};
  }

  /** Whether the node takes a new pod, or one with other resources, beside those that have not ended. */
  async #requireAdmission(pod: Pod, {known, older}: Standing): Promise<void> {
    const {node, observer} = this.#options;
    const allocation = known && allocationOf(known.pod);
    if (allocation !== undefined && isAllocated(pod, allocation)) return;
    const others = await this.#activePods(known ?? older);
    if (allocation !== undefined) {
      const verdict = judgeResize({pod, allocation, others, node, admission: true});
      if (verdict.kind === 'pending') throw new ResizeRejectedError(podRef(pod), verdict.pending);
      return;
    }
    const rejection = rejectionOf({pod, others, node});
    if (rejection === undefined) {
      tellUnknownResources(pod, observer.event);
      return;
    }
    observer.event({type: 'Warning', reason: rejection.reason, message: rejection.message, pod});
    throw new PodRejectedError(podRef(pod), rejection);
  }

  async #activePods(except: PodRecord | undefined): Promise<readonly Pod[]> {
    const active: Pod[] = [];
    for (const record of (await this.store.list()).records) {
      const phase = (await this.#options.histories?.lastKnown(record.uid))?.status.phase;
      const ended = phase === 'Succeeded' || phase === 'Failed';
      if (record.uid !== except?.uid && !ended) active.push(record.pod);
    }
    return active;
  }

  /** Takes what a pod says for what it was given, where nothing is known of that: before it says something else. */
  async keepActuated({uid, pod}: PodRecord): Promise<void> {
    if ((await this.#actuated.read(uid)) === undefined) await this.#actuated.write(uid, allocationOf(pod));
  }

  /**
   * Makes the pod kcri's own before anything of it exists: refuses a UID that another pod has, ends an older pod
   * of the same name, writes the record. To be called exclusively.
   */
  async adopt(pod: Pod, source: string, signal?: AbortSignal): Promise<AdoptedPod> {
    const ref = podRef(pod);
    // Pods of different names may claim one UID at the same time. No namespace begins with an underscore.
    const adopt = async (): Promise<AdoptedPod> => await this.#adopt(pod, source, signal);
    return await this.#locked(`_${ref.uid}`, this.#turn(ref, signal), adopt);
  }

  async #adopt(pod: Pod, source: string, signal: AbortSignal | undefined): Promise<AdoptedPod> {
    const {known, older} = await this.standing(pod);
    if (older !== undefined) await this.end(older, {signal});
    if (known !== undefined) await this.keepActuated(known);
    const record = this.recordOf(pod, source, known);
    await this.store.put(record);
    return {record, before: known?.pod};
  }

  /** The record of a pod that is made here, or was before. */
  recordOf(pod: Pod, source: string, known?: PodRecord): PodRecord {
    const {uid, namespace, name} = podRef(pod);
    const {clock, node, endpoint} = this.#options;
    const createdAt = known?.createdAt ?? new Date(clock.now()).toISOString();
    const place = known?.place ?? {podLogsDir: node.podLogsDir, cgroup: node.cgroup};
    return {uid, namespace, name, source, createdAt, endpoint, place, pod};
  }

  /**
   * Rejects with SupersededError when the pod is no longer what `adopt` made of it: another kcri has deleted it
   * or given it another spec. To be called exclusively.
   */
  async requireOwn(pod: Pod): Promise<void> {
    const ref = podRef(pod);
    const record = await this.store.get(ref.uid);
    if (record === undefined) throw new SupersededError(ref, 'deleted');
    if (JSON.stringify(record.pod.spec) !== JSON.stringify(pod.spec))
      throw new SupersededError(ref, 'changed');
  }

  /** A record in the place of one that can't be read, good enough to end the pod. Rejects with CriError. */
  async salvage(uid: PodUid): Promise<PodRecord> {
    const {services, node, endpoint} = this.#options;
    const place = {podLogsDir: node.podLogsDir, cgroup: node.cgroup};
    return {...(await salvageRecord(services.runtime, uid, place)), endpoint};
  }

  #nodeAt({podLogsDir, cgroup}: PodPlace): NodeFacts {
    return {...this.#options.node, podLogsDir, cgroup};
  }

  async #refuseForeign(ref: PodRef): Promise<void> {
    // Only kubelets put the UID into the labels as well.
    const {items} = await this.#options.services.runtime.listPodSandbox({});
    if (!items.some(({metadata, labels}) => [metadata?.uid, labels[POD_UID_LABEL]].includes(ref.uid))) return;
    throw new SystemError(
      `a pod with the UID "${ref.uid}" runs already and was not made by kcri with the root directory "${this.#options.node.rootDir}"`,
      {hint: 'give the manifest another metadata.uid, or end that pod with the tool that made it'},
    );
  }

  /** Fails when a pod of that name runs whose record can't be read: it would not be ended before this one starts. */
  async #refuseBrokenNamesake({namespace, name}: PodRef): Promise<void> {
    const {broken} = await this.store.list();
    if (broken.length === 0) return;
    const {items} = await this.#options.services.runtime.listPodSandbox({});
    const namesakes = items.filter(
      ({metadata}) => metadata?.namespace === namespace && metadata.name === name,
    );
    for (const {uid, error} of broken)
      if (namesakes.some(({metadata}) => metadata?.uid === uid))
        throw new SystemError(`another pod "${namespace}/${name}" is there already, and ${error.message}`, {
          cause: error,
          hint: `"kcri delete ${uid}" ends it, or restore the file`,
        });
  }

  /** A pod that a running daemon keeps would be made again as soon as it is gone. */
  async #refuseKept(record: PodRecord): Promise<void> {
    if (record.manager !== 'kubelet') return;
    const kubelet = await findKubelet(this.#options.node.rootDir);
    if (kubelet !== undefined) throw new KeptByKubeletError(record, kubelet.pid, record.source);
  }

  #requireHere(record: PodRecord): void {
    const {endpoint} = this.#options;
    if (record.endpoint !== endpoint) throw new OtherRuntimeError(record, record.endpoint, endpoint);
  }

  /**
   * Ends a pod and removes all that is left of it: containers, sandboxes, logs, volumes, directories, cgroup,
   * and at last the record, so that whatever fails or is interrupted half-way can be ended again. To be called
   * exclusively. Rejects with OtherRuntimeError, before anything is changed, when it was made elsewhere.
   */
  async end(record: PodRecord, {gracePeriodSeconds, signal}: EndOptions = {}): Promise<void> {
    this.#requireHere(record);
    await this.#refuseKept(record);
    const {pod, place} = record;
    const history = this.#historyOf(record);
    await this.#rememberDeletion(record, history, gracePeriodSeconds);
    const syncer = this.#syncer(pod, place, history);
    await syncer.terminate(gracePeriodSeconds, signal);
    await syncer.removeFromRuntime();
    await this.removeRest(record);
    await history.settled();
    await this.forget(record);
  }

  /** Removes what a pod still has on the node when nothing of it is in the runtime any more. */
  async removeRest(record: PodRecord): Promise<void> {
    await this.#options.files(this.#nodeAt(record.place)).removePod(record.pod);
    await this.#removeCgroup(record);
  }

  /** Removes the volumes and the cgroup of a pod that has ended; what it said and left in the runtime stays. */
  async removeResources(record: PodRecord): Promise<void> {
    await this.#options.files(this.#nodeAt(record.place)).removeVolumes(record.pod);
    await this.#removeCgroup(record);
  }

  async #removeCgroup({uid, place}: PodRecord): Promise<void> {
    const node = this.#nodeAt(place);
    const ground = cgroupGround(node);
    if (ground === undefined) return;
    await removePodCgroup(ground, podCgroupParents(uid, node.cgroup), this.#options.clock);
  }

  /** The pod is no longer kcri's: nothing of it may be left. */
  async forget({uid}: PodRecord): Promise<void> {
    await this.#forgetPast(uid);
    await this.store.delete(uid);
  }

  /** The pod is gone but for what the runtime keeps of its end; gives its record. */
  async leave(record: PodRecord): Promise<PodRecord> {
    await this.#forgetPast(record.uid);
    const gone = {...record, goneAt: new Date(this.#options.clock.now()).toISOString()};
    await this.store.put(gone);
    return gone;
  }

  async #forgetPast(uid: PodUid): Promise<void> {
    await this.#options.histories?.delete(uid);
    await this.#actuated.delete(uid);
  }

  /** The pod is told to be ending as long as it does, and when its end is interrupted. */
  async #rememberDeletion(
    {pod}: PodRecord,
    history: PodHistory,
    gracePeriodSeconds = pod.spec.terminationGracePeriodSeconds ?? 0,
  ): Promise<void> {
    const {status = {}, reasons = {}} = (await history.lastKnown()) ?? {};
    const deletion = deletionAt(this.#options.clock.now(), gracePeriodSeconds);
    history.remember({status, reasons, deletion});
  }
}
