import type {Clock} from '../../../base/clock.js';
import {messageOf} from '../../../base/errors.js';
import type {PodUid} from '../../../cri/index.js';
import type {DesiredJob, DesiredWorkload, PodStates, DesiredPod} from '../../contract/pod-update.js';
import {advanceJob, keptUntilMs} from './advance-job.js';
import type {CheckTimes} from './check-times.js';
import {computeJobKey, createJobState, type EndedJobPod, type JobState} from './job-state.js';
import type {JobStore} from './job-store.js';

/** Log entry about a Job. */
export interface JobReport {
  readonly level: 'error' | 'info';
  readonly message: string;
  readonly error?: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** Options of a JobManager. */
export interface JobManagerOptions {
  readonly clock: Pick<Clock, 'now'>;
  readonly store: Pick<JobStore, 'list' | 'put' | 'delete'>;
  readonly states: Pick<PodStates, 'status'>;
  readonly report: (report: JobReport) => void;
}

/** Delay before the state of a Job is stored again after a failure, in ms. */
const RETRY_MS = 10_000;

/** Runs Jobs: holds their states, stores each change before it takes effect, and creates their pods. */
export class JobManager {
  readonly #options: JobManagerOptions;
  readonly #states = new Map<string, JobState>();
  /** Jobs whose last change is not stored. */
  readonly #unstored = new Set<string>();
  readonly #pods = new Map<PodUid, DesiredPod>();

  constructor(options: JobManagerOptions) {
    this.#options = options;
  }

  /** Loads the states of an earlier daemon; unusable ones are reported. */
  async load(): Promise<void> {
    await this.#attempt('Failed to read the states of Jobs', {}, async () => {
      const {states, errors} = await this.#options.store.list();
      for (const state of states) this.#states.set(titleOf(state), state);
      for (const error of errors) this.#report('Failed to read the state of a Job', {}, error);
    });
  }

  /** Advances all Jobs and resolves with the desired pods of each. Forgets other Jobs if the set is complete. */
  async advance(
    workloads: readonly DesiredWorkload[],
    {isComplete, checks}: {readonly isComplete: boolean; readonly checks: CheckTimes},
  ): Promise<ReadonlyMap<DesiredWorkload, readonly DesiredPod[]>> {
    const jobs = new Map<string, DesiredJob>();
    for (const workload of workloads)
      // Of two Jobs with the same name, from a file and a URL, only the first runs.
      if (workload.kind === 'job' && !jobs.has(titleOf(refOf(workload))))
        jobs.set(titleOf(refOf(workload)), workload);
    const pods = new Map<DesiredWorkload, readonly DesiredPod[]>();
    for (const [title, desired] of jobs) pods.set(desired, await this.#advance(title, desired, checks));
    if (isComplete) await this.#forgetOthers(jobs);
    this.#forgetPods(pods);
    return pods;
  }

  async #advance(title: string, desired: DesiredJob, checks: CheckTimes): Promise<readonly DesiredPod[]> {
    const {clock, states} = this.#options;
    const {job} = desired;
    const now = clock.now();
    const known = this.#states.get(title);
    const current = known?.key === computeJobKey(job) ? known : createJobState(job, now);
    const {state, checkAtMs} = advanceJob(job, current, (uid) => states.status(uid), now);
    if (checkAtMs !== undefined) checks.add(checkAtMs);
    if (state !== known) {
      this.#states.set(title, state);
      this.#unstored.add(title);
    }
    if (this.#unstored.has(title) && !(await this.#store(title, state))) checks.add(now + RETRY_MS);
    if (state.result !== undefined && current.result === undefined) this.#reportResult(title, state);
    const keptMs = keptUntilMs(job, state);
    if (now < keptMs && Number.isFinite(keptMs)) checks.add(keptMs);
    const ended = now < keptMs ? state.ended : [];
    return [...ended, ...state.active].map((pod) => this.#podOf(desired, pod));
  }

  #reportResult(title: string, {result}: JobState): void {
    const {report} = this.#options;
    const fields = {job: title};
    if (result?.kind !== 'failed') report({level: 'info', message: 'Job completed', fields});
    else {
      const {reason = '', message = ''} = result;
      report({level: 'error', message: 'Job failed', error: `${reason}: ${message}`, fields});
    }
  }

  async #store(title: string, state: JobState): Promise<boolean> {
    const isStored = await this.#attempt('Failed to store the state of a Job', {job: title}, async () => {
      await this.#options.store.put(state);
    });
    if (isStored) this.#unstored.delete(title);
    return isStored;
  }

  /** Returns the pod, the same object each time. Of an ended one, the status keeps it from running again. */
  #podOf(
    {createPod}: DesiredJob,
    {place, uid, ...rest}: Pick<EndedJobPod, 'place' | 'uid'> & Partial<EndedJobPod>,
  ): DesiredPod {
    const known = this.#pods.get(uid);
    if (known !== undefined) return known;
    const desired = createPod(place, uid);
    const {status = desired.pod.status} = rest;
    const pod = {...desired, pod: {...desired.pod, ...(status && {status})}};
    this.#pods.set(uid, pod);
    return pod;
  }

  async #forgetOthers(jobs: ReadonlyMap<string, DesiredJob>): Promise<void> {
    for (const [title, state] of this.#states) {
      if (jobs.has(title)) continue;
      const isDeleted = await this.#attempt('Failed to remove the state of a Job', {job: title}, async () => {
        await this.#options.store.delete(state);
      });
      if (!isDeleted) continue;
      this.#states.delete(title);
      this.#unstored.delete(title);
    }
  }

  #forgetPods(pods: ReadonlyMap<DesiredWorkload, readonly DesiredPod[]>): void {
    const uids = new Set([...pods.values()].flat().map(({uid}) => uid));
    for (const uid of this.#pods.keys()) if (!uids.has(uid)) this.#pods.delete(uid);
  }

  /** Runs a file operation; reports its error and resolves with false if it fails. */
  async #attempt(
    message: string,
    fields: Readonly<Record<string, string>>,
    act: () => Promise<void>,
  ): Promise<boolean> {
    try {
      await act();
      return true;
    } catch (error) {
      this.#report(message, fields, error);
      return false;
    }
  }

  #report(message: string, fields: Readonly<Record<string, string>>, error: unknown): void {
    this.#options.report({level: 'error', message, error: messageOf(error), fields});
  }
}

function refOf({job: {metadata}}: DesiredJob): Pick<JobState, 'namespace' | 'name'> {
  return {namespace: metadata.namespace ?? 'default', name: metadata.name ?? ''};
}

function titleOf({namespace, name}: Pick<JobState, 'namespace' | 'name'>): string {
  return `${namespace}/${name}`;
}
