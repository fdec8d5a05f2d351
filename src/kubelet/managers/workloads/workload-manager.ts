import {belongsTo, workloadRef} from '../../../api/workloads/workload-of-pod.js';
import type {Workload} from '../../../api/types/v1-workloads.js';
import {WakeableSleep} from '../../../base/async/wakeable-sleep.js';
import {timestampOf, type Clock} from '../../../base/clock.js';
import type {PodUid} from '../../../cri/index.js';
import type {
  DesiredPodSet,
  DesiredWorkload,
  PodStates,
  DesiredPod,
  PodSourceName,
} from '../../contract/pod-update.js';
import {CheckTimes} from './check-times.js';
import {decidePods} from './decide-pods.js';
import {decideReplacement, type FailureState} from './decide-replacement.js';
import {JobManager, type JobReport} from './job-manager.js';
import type {JobStore} from './job-store.js';
import {availableAtMs, minReadyMsOf} from './pod-availability.js';

/** Pods and workloads of a source. */
export interface SourceWorkloads {
  readonly pods: readonly DesiredPod[];
  readonly workloads: readonly DesiredWorkload[];
  /** True if further workloads may exist. */
  readonly isIncomplete: boolean;
}

/** Options of a WorkloadManager. */
export interface WorkloadManagerOptions {
  /** Names of all configured sources. */
  readonly sources: readonly PodSourceName[];
  readonly clock: Clock;
  readonly states: PodStates;
  readonly jobs: JobStore;
  /** Receives all desired pods of a source; must not throw. */
  readonly deliver: (source: PodSourceName, pods: readonly DesiredPod[]) => void;
  readonly report: (report: JobReport) => void;
}

/** Interval of the checks whether pods that are no longer desired have been removed, in ms. */
const REMOVAL_CHECK_MS = 1000;
/** Longest time between two decisions, in ms. */
const MAX_SLEEP_MS = 3_600_000;

/**
 * Maintains the pods of workloads: decides again which pods are desired whenever a source, the status of a pod or the
 * time changes, in place of the controllers of a cluster. A source without workloads is delivered unchanged.
 */
export class WorkloadManager {
  readonly #options: WorkloadManagerOptions;
  readonly #sleep: WakeableSleep;
  readonly #jobs: JobManager;
  readonly #sources = new Map<PodSourceName, SourceWorkloads>();
  readonly #delivered = new Map<PodSourceName, DeliveredPods>();

  constructor(options: WorkloadManagerOptions) {
    const {clock, jobs, states, report} = options;
    this.#options = options;
    this.#sleep = new WakeableSleep(clock);
    this.#jobs = new JobManager({clock, store: jobs, states, report});
  }

  /** Replaces the pods and workloads of a source. */
  set(source: PodSourceName, content: SourceWorkloads): void {
    this.#sources.set(source, content);
    const isPlain = content.workloads.length === 0 && !this.#delivered.has(source);
    if (isPlain) this.#options.deliver(source, content.pods);
    this.#sleep.wake();
  }

  /** Decides again, since the status of a pod has changed. */
  podChanged(): void {
    if (this.#delivered.size > 0) this.#sleep.wake();
  }

  /** Maintains the workloads until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const {clock} = this.#options;
    await this.#jobs.load();
    while (!signal.aborted) {
      const checks = new CheckTimes();
      await this.#decide(checks);
      await this.#sleep.sleep(checks.sleepMs(clock.now(), MAX_SLEEP_MS), signal);
    }
  }

  async #decide(checks: CheckTimes): Promise<void> {
    const contents = [...this.#sources];
    const all = contents.flatMap(([, {workloads}]) => workloads);
    const isComplete =
      contents.length === this.#options.sources.length &&
      contents.every(([, {isIncomplete}]) => !isIncomplete);
    const jobPods = await this.#jobs.advance(all, {isComplete, checks});
    for (const [source, content] of contents) {
      if (content.workloads.length === 0 && !this.#delivered.has(source)) continue;
      this.#deliver(source, content, (workload) => jobPods.get(workload) ?? [], checks);
    }
  }

  /** Delivers the pods of a source if they have changed. */
  #deliver(
    source: PodSourceName,
    {pods, workloads}: SourceWorkloads,
    podsOfJob: (workload: DesiredWorkload) => readonly DesiredPod[],
    checks: CheckTimes,
  ): void {
    const delivered = this.#delivered.get(source) ?? this.#restore(source, workloads);
    this.#delivered.set(source, delivered);
    this.#forgetRemoved(delivered);
    const wanted = workloads.flatMap((workload) =>
      workload.kind === 'job' ? podsOfJob(workload) : this.#podsOf(workload, delivered, checks),
    );
    const next = wanted.filter(({uid}) => !delivered.leaving.has(uid));
    const uids = new Set(next.map(({uid}) => uid));
    for (const pod of delivered.current) if (!uids.has(pod.uid)) delivered.leaving.set(pod.uid, pod);
    delivered.current = next;
    for (const uid of delivered.failures.keys())
      if (!uids.has(uid) && !delivered.leaving.has(uid)) delivered.failures.delete(uid);
    if (delivered.leaving.size > 0) checks.add(this.#options.clock.now() + REMOVAL_CHECK_MS);
    const full = [...pods, ...next];
    if (areSame(full, delivered.full)) return;
    delivered.full = full;
    this.#options.deliver(source, full);
  }

  /** Returns the pods of an earlier daemon, also those of previous templates. A Job knows its pods. */
  #restore(source: PodSourceName, workloads: readonly DesiredWorkload[]): DeliveredPods {
    const refs = workloads.filter(({kind}) => kind === 'pods').map(({workload}) => workloadRef(workload));
    const current = this.#options.states
      .listRecorded(source)
      .filter(({pod}) => refs.some((ref) => belongsTo(pod, ref)));
    return {current, leaving: new Map(), failures: new Map(), full: undefined};
  }

  /** Forgets the pods that have been removed since they were last delivered; they may be created again. */
  #forgetRemoved({leaving}: DeliveredPods): void {
    for (const uid of leaving.keys()) if (!this.#options.states.isPresent(uid)) leaving.delete(uid);
  }

  #podsOf(set: DesiredPodSet, delivered: DeliveredPods, checks: CheckTimes): readonly DesiredPod[] {
    const {clock} = this.#options;
    const {workload} = set;
    const {current, leaving, failures} = delivered;
    const ref = workloadRef(workload);
    const isOwn = ({pod}: DesiredPod): boolean => belongsTo(pod, ref);
    const isAvailable = (uid: PodUid): boolean => this.#isAvailable(workload, uid, checks);
    const decided = decidePods(set, {
      current: current.filter(isOwn),
      isShrinking: [...leaving.values()].some(isOwn),
      isAvailable,
    });
    // A pod template on its own has no controller that replaces its pod.
    if (workload.kind === 'PodTemplate') return decided;
    return decided.filter(({uid}) => {
      const phase = this.#options.states.status(uid)?.phase;
      const state = {phase, isAvailable: isAvailable(uid)};
      const decision = decideReplacement(failures.get(uid), state, clock.monotonic());
      if (decision.failures === undefined) failures.delete(uid);
      else failures.set(uid, decision.failures);
      if (decision.checkAtMs !== undefined) checks.add(timestampOf(clock, decision.checkAtMs));
      return !decision.isRemoved;
    });
  }

  #isAvailable(workload: Workload, uid: PodUid, checks: CheckTimes): boolean {
    const {clock, states} = this.#options;
    const atMs = availableAtMs(states.status(uid) ?? {}, minReadyMsOf(workload));
    if (atMs === undefined || atMs <= clock.now()) return atMs !== undefined;
    checks.add(atMs);
    return false;
  }
}

/** Pods of the workloads of a source. */
interface DeliveredPods {
  /** Desired pods. */
  current: readonly DesiredPod[];
  /** Pods that are no longer desired, and that have not been removed yet. */
  readonly leaving: Map<PodUid, DesiredPod>;
  /** Failures of the pods that are replaced. */
  readonly failures: Map<PodUid, FailureState>;
  /** All pods that were delivered; undefined before the first time. */
  full: readonly DesiredPod[] | undefined;
}

function areSame(a: readonly DesiredPod[], b: readonly DesiredPod[] | undefined): boolean {
  return a.length === b?.length && a.every((pod, index) => pod === b[index]);
}
