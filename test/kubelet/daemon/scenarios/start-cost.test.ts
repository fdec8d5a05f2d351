import {describe, expect, test} from 'vitest';
import {aManifest} from '../../../commands/command-testbed.js';
import {countFileRequests} from '../../../base/count-file-requests.js';
import {DaemonTestbed} from '../daemon-testbed.js';

/*
 * Gates against a slower start or restart: time of the fake clock, which only waits add to, and the number of calls, neither
 * of which depends on the machine. A number here may be lowered; raise it only with a reason.
 */

/** Maximum time of the clock between the manifest or the exit and the start of the container, in ms. */
const MAX_WAIT_MS = 100;
const PODS = 20;
/** Maximum number of calls on files for the start of a pod that are handed to other threads, with those of writing its manifest. */
const MAX_FILE_REQUESTS = 40;
/** Time in which what follows a start is written, in ms. */
const SETTLE_MS = 5000;
/** The default of syncFrequency, in ms. */
const SYNC_FREQUENCY_MS = 60_000;
/** Calls that start a pod of one container, in order. */
const START_CALLS = ['RunPodSandbox', 'CreateContainer', 'StartContainer'];
/** Reading calls of such a start: the kubelet's own, and one inspection of the pod afterwards. */
const START_READS = [
  ...['ImageStatus', 'ImageStatus', 'PodSandboxStatus'],
  ...['ContainerStatus', 'ListContainers', 'ListPodSandbox', 'PodSandboxStatus'],
].toSorted();
/** Reading calls of a restart in a pod with one container: the inspection after the exit, the start and the one after it. */
const MAX_RESTART_READS = 11;

/** Starts a daemon that runs a pod, so that the connection and the events are established. */
async function startDaemon(): Promise<DaemonTestbed> {
  const testbed = await DaemonTestbed.start({eventedPleg: true});
  await testbed.put('first.json', aManifest({name: 'first'}));
  await testbed.until('the first pod is ready', () => testbed.statusOf('first').ready === 1);
  await testbed.clock.sleep(5000);
  testbed.fake.clearCalls();
  return testbed;
}

const startedAtMs = ({startedAt}: {readonly startedAt: bigint}): number => Number(startedAt / 1_000_000n);

/** Time at which the daemon saw the manifest of a pod, in ms since the epoch. */
function seenAtMs({view}: DaemonTestbed, name: string): number {
  const pod = view.pods().find(({metadata}) => metadata.name === `${name}-goldennode`);
  return Date.parse(pod?.metadata.annotations?.['kubernetes.io/config.seen'] ?? '');
}

const methodsOf = ({fake}: DaemonTestbed): readonly string[] => fake.calls.map(({method}) => method);

const isRead = (method: string): boolean => !START_CALLS.includes(method);

describe('without waits and unnecessary calls', () => {
  test('a pod starts when its manifest is seen', async () => {
    await using testbed = await startDaemon();
    await testbed.put('web.json', aManifest({name: 'web'}));
    await testbed.until('it is ready', () => testbed.statusOf('web').ready === 1);
    const methods = methodsOf(testbed);
    expect(methods.filter((method) => START_CALLS.includes(method))).toEqual(START_CALLS);
    expect(methods.filter(isRead).toSorted()).toEqual(START_READS);
    const [container] = testbed.ownContainers.filter((each) => testbed.nameOf(each).startsWith('web-'));
    expect(startedAtMs(container!) - seenAtMs(testbed, 'web')).toBeLessThanOrEqual(MAX_WAIT_MS);
  });

  test('an idle pod is synced again after syncFrequency, not before', async () => {
    await using testbed = await startDaemon();
    const worker = () => testbed.view.report().pods[0]!.worker;
    await testbed.until('it is idle', () => worker().nextSyncAt !== undefined);
    const {lastSyncAt, nextSyncAt} = worker();
    expect(Date.parse(nextSyncAt!) - Date.parse(lastSyncAt!)).toBeGreaterThanOrEqual(SYNC_FREQUENCY_MS);
    await testbed.clock.sleep(SYNC_FREQUENCY_MS / 2);
    expect(worker()).toMatchObject({lastSyncAt, nextSyncAt});
  });

  test('pods that start at once do not wait for each other', async () => {
    await using testbed = await startDaemon();
    const names = Array.from({length: PODS}, (_, index) => `web-${index}`);
    for (const name of names) await testbed.put(`${name}.json`, aManifest({name}));
    await testbed.until('all are ready', () => names.every((name) => testbed.statusOf(name).ready === 1));
    for (const container of testbed.ownContainers.filter((each) => testbed.nameOf(each).startsWith('web-'))) {
      const [pod = ''] = testbed.nameOf(container).split('-goldennode');
      expect(startedAtMs(container) - seenAtMs(testbed, pod)).toBeLessThanOrEqual(MAX_WAIT_MS);
    }
    const methods = methodsOf(testbed);
    for (const call of START_CALLS) expect(methods.filter((method) => method === call)).toHaveLength(PODS);
    expect(methods.filter(isRead).length / PODS).toBeLessThanOrEqual(START_READS.length);
  });

  test('pods that start at once hand few calls on files to other threads', async () => {
    await using testbed = await startDaemon();
    using requests = countFileRequests();
    const names = Array.from({length: PODS}, (_, index) => `web-${index}`);
    for (const name of names) await testbed.put(`${name}.json`, aManifest({name}));
    await testbed.until('all are ready', () => names.every((name) => testbed.statusOf(name).ready === 1));
    // Statuses and events are written afterwards.
    await testbed.clock.sleep(SETTLE_MS);
    expect(requests.count / PODS).toBeLessThanOrEqual(MAX_FILE_REQUESTS);
  });

  test('a killed container restarts when its exit is seen', async () => {
    await using testbed = await startDaemon();
    const killedAt = testbed.clock.now();
    testbed.kill('main');
    await testbed.until('it runs again', () => testbed.running.includes('first-goldennode/main/1'));
    const restarted = testbed.ownContainers.find(({config}) => config.metadata?.attempt === 1)!;
    expect(startedAtMs(restarted) - killedAt).toBeLessThanOrEqual(MAX_WAIT_MS);
    expect(methodsOf(testbed).filter(isRead).length).toBeLessThanOrEqual(MAX_RESTART_READS);
  });
});
