import type {PodCondition} from '../types/v1-status.js';
import type {Job, PodFailurePolicyRule} from '../types/v1-workloads.js';
import {parseIndexes} from './indexes.js';
import {isIndexed, type JobPodPlace} from './job-pods.js';

/** Delay after the first failure and its maximum, in ms (DefaultJobPodFailureBackOff, MaxJobPodFailureBackOff). */
const FIRST_DELAY_MS = 10_000;
const MAX_DELAY_MS = 600_000;
const DEFAULT_BACKOFF_LIMIT = 6;

/** Exit code of a container. */
export interface ContainerExit {
  readonly container: string;
  readonly exitCode: number;
}

/** A pod of a Job that has terminated. */
export interface FinishedJobPod {
  readonly place: JobPodPlace;
  readonly succeeded: boolean;
  readonly exits: readonly ContainerExit[];
  readonly conditions: readonly PodCondition[];
}

/** Pods of a Job, the finished ones in the order in which they finished. */
export interface JobPods {
  readonly active: readonly JobPodPlace[];
  readonly finished: readonly FinishedJobPod[];
}

/** Next step of a Job. */
export type JobDecision =
  | {readonly kind: 'complete'}
  /** The Job has failed, with the reason and message of its condition. */
  | {readonly kind: 'failed'; readonly reason: string; readonly message: string}
  /** These pods are to be started after a delay; none if all that may run are active. */
  | {readonly kind: 'run'; readonly places: readonly JobPodPlace[]; readonly delayMs: number};

/** Counts of a Job's finished pods. */
interface Tally {
  readonly succeeded: number;
  readonly succeededIndexes: ReadonlySet<number>;
  /** Failures that count towards backoffLimit. */
  readonly failed: number;
  readonly failuresByIndex: ReadonlyMap<number, number>;
  readonly failedIndexes: ReadonlySet<number>;
  /** Message of a failure that fails the Job. */
  readonly fatal: string | undefined;
}

/** Returns the first rule of the failure policy that matches a failed pod (matchPodFailurePolicy). */
function matchRule(job: Job, pod: FinishedJobPod): PodFailurePolicyRule | undefined {
  return job.spec.podFailurePolicy?.rules.find(({onExitCodes, onPodConditions = []}) => {
    if (onExitCodes === undefined)
      return onPodConditions.some(({type, status = 'True'}) =>
        pod.conditions.some((condition) => condition.type === type && condition.status === status),
      );
    const {containerName, operator, values} = onExitCodes;
    return pod.exits.some(
      ({container, exitCode}) =>
        exitCode !== 0 &&
        (containerName ?? container) === container &&
        values.includes(exitCode) === (operator === 'In'),
    );
  });
}

function tally(job: Job, pods: readonly FinishedJobPod[]): Tally {
  const {backoffLimitPerIndex = Number.POSITIVE_INFINITY} = job.spec;
  const failuresByIndex = new Map<number, number>();
  const failedIndexes = new Set<number>();
  const failures = pods.filter(({succeeded}) => !succeeded);
  let failed = 0;
  let fatal: string | undefined;
  for (const pod of failures) {
    const {index} = pod.place;
    const {action = 'Count'} = matchRule(job, pod) ?? {};
    if (action === 'FailJob') fatal ??= describeFatal(pod);
    if (action === 'FailIndex') failedIndexes.add(index);
    if (action === 'Ignore') continue;
    failed += 1;
    const count = (failuresByIndex.get(index) ?? 0) + 1;
    failuresByIndex.set(index, count);
    if (count > backoffLimitPerIndex) failedIndexes.add(index);
  }
  const succeededIndexes = new Set(pods.filter(({succeeded}) => succeeded).map(({place: {index}}) => index));
  const succeeded = pods.length - failures.length;
  return {succeeded, succeededIndexes, failed, failuresByIndex, failedIndexes, fatal};
}

function describeFatal({exits}: FinishedJobPod): string {
  const exit = exits.find(({exitCode}) => exitCode !== 0);
  const what = exit === undefined ? 'a pod' : `container ${exit.container} with exit code ${exit.exitCode}`;
  return `${what} matches a FailJob rule of podFailurePolicy`;
}

/** Reports whether a rule of the success policy is met (matchSuccessPolicy). */
function meetsSuccessPolicy({spec: {successPolicy}}: Job, {succeededIndexes}: Tally): boolean {
  return (successPolicy?.rules ?? []).some(({succeededIndexes: text, succeededCount}) => {
    const intervals = text === undefined ? undefined : (parseIndexes(text) ?? []);
    const counted = [...succeededIndexes].filter(
      (index) => intervals?.some(({first, last}) => first <= index && index <= last) ?? true,
    );
    const size = intervals?.reduce((sum, {first, last}) => sum + last - first + 1, 0);
    return counted.length >= (succeededCount ?? size ?? Number.POSITIVE_INFINITY);
  });
}

function findFailure({spec}: Job, counts: Tally): Extract<JobDecision, {kind: 'failed'}> | undefined {
  const fail = (reason: string, message: string): Extract<JobDecision, {kind: 'failed'}> => ({
    ...{kind: 'failed', reason, message},
  });
  const unlimited =
    spec.backoffLimitPerIndex === undefined ? DEFAULT_BACKOFF_LIMIT : Number.POSITIVE_INFINITY;
  if (counts.fatal !== undefined) return fail('PodFailurePolicy', counts.fatal);
  if (counts.failed > (spec.backoffLimit ?? unlimited))
    return fail('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  if (counts.failedIndexes.size > (spec.maxFailedIndexes ?? Number.POSITIVE_INFINITY))
    return fail(
      'MaxFailedIndexesExceeded',
      'Job has exceeded the specified maximal number of failed indexes',
    );
  return undefined;
}

/**
 * Returns the next step of a Job from its pods, as the Job controller takes it (syncJob, manageJob). Pure: the same
 * pods always give the same decision, so that a repeated sync continues where the last one ended.
 */
export function decideJob(job: Job, pods: JobPods): JobDecision {
  const counts = tally(job, pods.finished);
  const failure = findFailure(job, counts);
  if (failure !== undefined) return failure;
  if (meetsSuccessPolicy(job, counts)) return {kind: 'complete'};
  if (job.spec.suspend === true) return {kind: 'run', places: [], delayMs: 0};
  return isIndexed(job) ? decideIndexed(job, pods, counts) : decidePlain(job, pods, counts);
}

function decideIndexed(job: Job, {active, finished}: JobPods, counts: Tally): JobDecision {
  const {completions = 0, parallelism = 1} = job.spec;
  const {succeededIndexes, failedIndexes, failuresByIndex} = counts;
  if (succeededIndexes.size + failedIndexes.size >= completions)
    return failedIndexes.size === 0
      ? {kind: 'complete'}
      : {kind: 'failed', reason: 'FailedIndexes', message: 'Job has failed indexes'};
  const running = new Set(active.map(({index}) => index));
  const pending = Array.from({length: completions}, (_, index) => index).filter(
    (index) => !succeededIndexes.has(index) && !failedIndexes.has(index) && !running.has(index),
  );
  const places = pending
    .slice(0, Math.max(0, parallelism - active.length))
    .map((index) => ({index, attempt: attemptsOf(finished, index, failuresByIndex)}));
  return {kind: 'run', places, delayMs: delayAfter(finished)};
}

/** Returns the number of pods of an index so far, including failures that do not count. */
function attemptsOf(
  finished: readonly FinishedJobPod[],
  index: number,
  failures: ReadonlyMap<number, number>,
): number {
  const all = finished.filter(({place}) => place.index === index).length;
  return Math.max(all, failures.get(index) ?? 0);
}

function decidePlain(job: Job, {active, finished}: JobPods, {succeeded}: Tally): JobDecision {
  const {completions, parallelism = 1} = job.spec;
  const isWorkQueue = completions === undefined;
  const isDone = isWorkQueue ? succeeded > 0 && active.length === 0 : succeeded >= completions;
  if (isDone) return {kind: 'complete'};
  const wanted = isWorkQueue
    ? succeeded > 0
      ? active.length
      : parallelism
    : Math.min(parallelism, completions - succeeded);
  const next = active.length + finished.length;
  const places = Array.from({length: Math.max(0, wanted - active.length)}, (_, offset) => ({
    index: next + offset,
    attempt: 0,
  }));
  return {kind: 'run', places, delayMs: delayAfter(finished)};
}

/** Returns the delay before the next pod: 10 s after a failure, doubled for each further one without a success. */
function delayAfter(finished: readonly FinishedJobPod[]): number {
  const lastSuccess = finished.findLastIndex(({succeeded}) => succeeded);
  const failures = finished.length - 1 - lastSuccess;
  return failures === 0 ? 0 : Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1));
}
