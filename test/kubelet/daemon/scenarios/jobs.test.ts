import {readdir, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {aContainerSpec, aScript} from '../../../commands/command-testbed.js';
import {DaemonTestbed} from '../daemon-testbed.js';

/** Returns a Job as a manifest; `fields` are added to its spec. */
function aJob(container: object, fields: object = {}, name = 'sum'): string {
  const spec = {restartPolicy: 'Never', terminationGracePeriodSeconds: 0, containers: [container]};
  return JSON.stringify({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {name},
    spec: {template: {spec}, ...fields},
  });
}

const SUCCEEDS = aScript('main', 'true');
const FAILS = aScript('main', 'exit 3');
const RUNS = aContainerSpec('main');

function countCreated(testbed: DaemonTestbed): number {
  return testbed.fake.calls.filter(({method}) => method === 'CreateContainer').length;
}

/** Returns the phases of all pods, in order. */
function phases(testbed: DaemonTestbed): readonly string[] {
  return testbed.view
    .pods()
    .map(({status}) => status?.phase ?? '')
    .toSorted();
}

function isLogged(testbed: DaemonTestbed, message: string): boolean {
  return testbed.log.some((entry) => entry.message === message);
}

async function wait(testbed: DaemonTestbed, ms: number): Promise<void> {
  const startedAt = testbed.clock.now();
  await testbed.until(`${ms} ms pass`, () => testbed.clock.now() > startedAt + ms);
}

async function untilDone(testbed: DaemonTestbed, message = 'Job completed'): Promise<void> {
  await testbed.until(message, () => isLogged(testbed, message));
}

describe('a finished Job', () => {
  test('stays finished after a restart of the daemon, even without its containers', async () => {
    await using testbed = await DaemonTestbed.start();
    await testbed.put('job.json', aJob(SUCCEEDS, {completions: 2}));
    await untilDone(testbed);
    expect(countCreated(testbed)).toBe(2);
    await testbed.stop();
    await testbed.removeOwnContainers();
    testbed.run();
    await testbed.until('the pods are known', () => testbed.view.pods().length === 2);
    await wait(testbed, 30_000);
    expect(countCreated(testbed)).toBe(2);
    expect(phases(testbed)).toEqual(['Succeeded', 'Succeeded']);
    const [status] = testbed.view.pods().flatMap((pod) => pod.status?.containerStatuses ?? []);
    expect(status?.state?.terminated?.exitCode).toBe(0);
    const [file = ''] = await readdir(join(testbed.rootDir, 'kcri/jobs'));
    expect((await stat(join(testbed.rootDir, 'kcri/jobs', file))).mode & 0o777).toBe(0o600);
  });

  test('runs again when its spec has changed, and when its manifest was removed in between', async () => {
    await using testbed = await DaemonTestbed.start();
    await testbed.put('job.json', aJob(SUCCEEDS));
    await testbed.until('it has run', () => countCreated(testbed) === 1);
    await untilDone(testbed);
    await testbed.put('job.json', aJob(SUCCEEDS, {ttlSecondsAfterFinished: 3600}));
    await wait(testbed, 30_000);
    expect(countCreated(testbed)).toBe(1);
    await testbed.put('job.json', aJob(SUCCEEDS, {backoffLimit: 3}));
    await testbed.until('it has run again', () => countCreated(testbed) === 2);
    await testbed.remove('job.json');
    await testbed.untilAllRemoved();
    expect(await readdir(join(testbed.rootDir, 'kcri/jobs'))).toEqual([]);
    await testbed.put('job.json', aJob(SUCCEEDS, {backoffLimit: 3}));
    await testbed.until('it has run a third time', () => countCreated(testbed) === 3);
  });

  test('stays finished while another manifest is invalid', async () => {
    await using testbed = await DaemonTestbed.start();
    await testbed.put('job.json', aJob(SUCCEEDS));
    await untilDone(testbed);
    await testbed.stop();
    await testbed.put('job.json', '{');
    testbed.run();
    await wait(testbed, 30_000);
    await testbed.put('job.json', aJob(SUCCEEDS));
    await testbed.until('the pod is known', () => testbed.view.pods().length === 1);
    await wait(testbed, 30_000);
    expect(countCreated(testbed)).toBe(1);
  });

  test('loses its pods after ttlSecondsAfterFinished, and does not run again', async () => {
    await using testbed = await DaemonTestbed.start();
    await testbed.put('job.json', aJob(SUCCEEDS, {ttlSecondsAfterFinished: 60}));
    await untilDone(testbed);
    await wait(testbed, 30_000);
    expect(testbed.view.pods()).toHaveLength(1);
    await testbed.untilAllRemoved();
    await testbed.stop();
    testbed.run();
    await wait(testbed, 60_000);
    expect(countCreated(testbed)).toBe(1);
  });
});

describe('a running Job', () => {
  test('continues after a restart of the daemon', async () => {
    await using testbed = await DaemonTestbed.start();
    await testbed.put('job.json', aJob(aScript('main', 'sleep 60'), {completions: 3, parallelism: 2}));
    await testbed.until('two pods run', () => testbed.running.length === 2);
    await testbed.stop();
    testbed.run();
    await untilDone(testbed);
    expect(countCreated(testbed)).toBe(3);
    expect(phases(testbed)).toEqual(['Succeeded', 'Succeeded', 'Succeeded']);
  });

  test('replaces failed pods after a growing delay, until backoffLimit is exceeded', async () => {
    await using testbed = await DaemonTestbed.start();
    await testbed.put('job.json', aJob(FAILS, {backoffLimit: 2}));
    await untilDone(testbed, 'Job failed');
    const times = testbed.events.filter(({reason}) => reason === 'Started');
    expect(times).toHaveLength(3);
    const starts = testbed.log.filter(({fields}) => fields['reason'] === 'Started').map(({at}) => at);
    const [first = 0, second = 0, third = 0] = starts;
    expect(second - first).toBeGreaterThanOrEqual(10_000);
    expect(third - second).toBeGreaterThanOrEqual(20_000);
    expect(testbed.errors).toContain(
      'Job failed: BackoffLimitExceeded: Job has reached the specified backoff limit',
    );
    await wait(testbed, 45_000);
    expect(countCreated(testbed)).toBe(3);
    expect(phases(testbed)).toEqual(['Failed', 'Failed', 'Failed']);
  });

  test('is stopped at activeDeadlineSeconds, which a restart does not extend', async () => {
    await using testbed = await DaemonTestbed.start();
    await testbed.put('job.json', aJob(RUNS, {activeDeadlineSeconds: 90}));
    await testbed.until('it runs', () => testbed.running.length === 1);
    const startedAt = testbed.clock.now();
    await wait(testbed, 60_000);
    await testbed.stop();
    testbed.run();
    await untilDone(testbed, 'Job failed');
    expect(testbed.clock.now() - startedAt).toBeLessThan(100_000);
    await testbed.untilAllRemoved();
  });

  test('is stopped while it is suspended', async () => {
    await using testbed = await DaemonTestbed.start();
    await testbed.put('job.json', aJob(RUNS));
    await testbed.until('it runs', () => testbed.running.length === 1);
    await testbed.put('job.json', aJob(RUNS, {suspend: true}));
    await testbed.untilAllRemoved();
    await testbed.put('job.json', aJob(RUNS));
    await testbed.until('it runs again', () => testbed.running.length === 1);
  });

  test('of a CronJob runs once', async () => {
    await using testbed = await DaemonTestbed.start();
    const job = JSON.parse(aJob(SUCCEEDS)) as {readonly spec: object};
    const spec = {schedule: '* * * * *', jobTemplate: {spec: job.spec}};
    await testbed.put(
      'cron.json',
      JSON.stringify({apiVersion: 'batch/v1', kind: 'CronJob', metadata: {name: 'tick'}, spec}),
    );
    await untilDone(testbed);
    await wait(testbed, 90_000);
    expect(countCreated(testbed)).toBe(1);
    expect(testbed.view.pods()[0]?.metadata.name).toMatch(/^tick-manual-[a-z0-9]{5}-goldennode$/);
  });

  test('with an unreadable state runs again, which is reported', async () => {
    await using testbed = await DaemonTestbed.start();
    await testbed.put('job.json', aJob(SUCCEEDS));
    await untilDone(testbed);
    await testbed.stop();
    const directory = join(testbed.rootDir, 'kcri/jobs');
    const [file = ''] = await readdir(directory);
    await writeFile(join(directory, file), '{"version": 1}');
    testbed.run();
    await testbed.until('it has run again', () => countCreated(testbed) === 2);
    expect(testbed.errors.join('\n')).toContain('invalid state of a Job in ');
  });
});
