import {describe, expect, test} from 'vitest';
import type {Job, JobSpec} from '../../../src/api/types/v1-workloads.js';
import {decideJob, type FinishedJobPod} from '../../../src/api/workloads/job-progress.js';

/** Returns a Job with one completion by default. */
function aJob(spec: Partial<JobSpec> = {}): Job {
  const template = {spec: {restartPolicy: 'Never', containers: []}} as JobSpec['template'];
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {name: 'j'},
    spec: {completions: 1, template, ...spec},
  };
}

/** Returns a finished pod; it has succeeded if the exit code is 0. */
function finished(index: number, exitCode = 0, attempt = 0): FinishedJobPod {
  const exits = [{container: 'c', exitCode}];
  return {place: {index, attempt}, succeeded: exitCode === 0, exits, conditions: []};
}

const at = (index: number, attempt = 0): object => ({index, attempt});
const run = (places: readonly object[], delayMs = 0): object => ({kind: 'run', places, delayMs});

describe('a Job', () => {
  test('starts as many pods at a time as its parallelism', () => {
    const job = aJob({completions: 3, parallelism: 2});
    expect(decideJob(job, {active: [], finished: []})).toEqual(run([at(0), at(1)]));
    expect(decideJob(job, {active: [{index: 1, attempt: 0}], finished: [finished(0)]})).toEqual(run([at(2)]));
    expect(decideJob(job, {active: [{index: 2, attempt: 0}], finished: [finished(0), finished(1)]})).toEqual(
      run([]),
    );
  });

  test('is complete after its completions', () => {
    const pods = {active: [], finished: [finished(0), finished(1, 3), finished(2)]};
    expect(decideJob(aJob({completions: 2}), pods)).toEqual({kind: 'complete'});
  });

  test('replaces a failed pod after a delay that doubles', () => {
    const decide = (...pods: readonly FinishedJobPod[]): unknown =>
      decideJob(aJob({completions: 2}), {active: [], finished: pods});
    expect(decide(finished(0, 1))).toEqual(run([at(1)], 10_000));
    expect(decide(finished(0, 1), finished(1, 1))).toEqual(run([at(2)], 20_000));
    expect(decide(finished(0, 1), finished(1))).toEqual(run([at(2)], 0));
  });

  test('fails after more failures than its backoffLimit', () => {
    const job = aJob({backoffLimit: 1});
    expect(decideJob(job, {active: [], finished: [finished(0, 1)]})).toMatchObject({kind: 'run'});
    expect(decideJob(job, {active: [], finished: [finished(0, 1), finished(1, 1)]})).toEqual({
      kind: 'failed',
      reason: 'BackoffLimitExceeded',
      message: 'Job has reached the specified backoff limit',
    });
  });

  test('without completions is complete when one worker has succeeded and all have ended', () => {
    const job = aJob();
    const queue = {...job, spec: {template: job.spec.template, parallelism: 2}};
    expect(decideJob(queue, {active: [], finished: []})).toEqual(run([at(0), at(1)]));
    expect(decideJob(queue, {active: [{index: 1, attempt: 0}], finished: [finished(0)]})).toEqual(run([]));
    expect(decideJob(queue, {active: [], finished: [finished(0), finished(1, 1)]})).toEqual({
      kind: 'complete',
    });
  });

  test('starts no pods while it is suspended', () => {
    expect(decideJob(aJob({suspend: true}), {active: [], finished: []})).toEqual(run([]));
  });
});

describe('an Indexed Job', () => {
  const indexed = {completionMode: 'Indexed', completions: 3, parallelism: 2} as const;

  test('repeats an index that has failed', () => {
    const job = aJob(indexed);
    expect(decideJob(job, {active: [{index: 1, attempt: 0}], finished: [finished(0, 1)]})).toEqual(
      run([at(0, 1)], 10_000),
    );
    const all = [finished(0, 1), finished(0, 0, 1), finished(1), finished(2)];
    expect(decideJob(job, {active: [], finished: all})).toEqual({kind: 'complete'});
  });

  test('continues without an index that has failed too often, and fails in the end', () => {
    const job = aJob({...indexed, backoffLimitPerIndex: 0});
    expect(decideJob(job, {active: [], finished: [finished(0, 1)]})).toMatchObject({
      places: [at(1), at(2)],
    });
    expect(decideJob(job, {active: [], finished: [finished(0, 1), finished(1), finished(2)]})).toMatchObject({
      kind: 'failed',
      reason: 'FailedIndexes',
    });
    const strict = aJob({...indexed, backoffLimitPerIndex: 0, maxFailedIndexes: 0});
    expect(decideJob(strict, {active: [], finished: [finished(0, 1)]})).toMatchObject({
      reason: 'MaxFailedIndexesExceeded',
    });
  });

  test.each([
    [{succeededIndexes: '0,2-3'}, [0, 2], false],
    [{succeededIndexes: '0,2-3'}, [0, 2, 3], true],
    [{succeededIndexes: '0,2-3', succeededCount: 1}, [2], true],
    [{succeededCount: 2}, [1, 2], true],
  ])('with the success rule %j and the indexes %j succeeds: %s', (rule, indexes, isComplete) => {
    const job = aJob({...indexed, completions: 5, successPolicy: {rules: [rule]}});
    const pods = {active: [], finished: indexes.map((index) => finished(index))};
    expect(decideJob(job, pods).kind === 'complete').toBe(isComplete);
  });
});

describe('a rule of podFailurePolicy', () => {
  const withRule = (action: 'FailJob' | 'Ignore', operator: 'In' | 'NotIn'): Job =>
    aJob({
      backoffLimit: 0,
      podFailurePolicy: {rules: [{action, onExitCodes: {operator, values: [42]}}]},
    });

  test('fails the Job', () => {
    expect(decideJob(withRule('FailJob', 'In'), {active: [], finished: [finished(0, 42)]})).toEqual({
      kind: 'failed',
      reason: 'PodFailurePolicy',
      message: 'container c with exit code 42 matches a FailJob rule of podFailurePolicy',
    });
  });

  test('ignores a failure', () => {
    expect(decideJob(withRule('Ignore', 'In'), {active: [], finished: [finished(0, 42)]})).toMatchObject({
      kind: 'run',
      places: [at(1)],
    });
    expect(decideJob(withRule('Ignore', 'NotIn'), {active: [], finished: [finished(0, 42)]})).toMatchObject({
      reason: 'BackoffLimitExceeded',
    });
  });
});
