import {mkdtemp} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import type {NodeCondition} from '../../../../src/api/types/v1-node.js';
import {createShutdownManager} from '../../../../src/kubelet/managers/shutdown/shutdown-manager.js';
import {FakeLogind} from '../../../fakes/dbus/fake-logind.js';
import {startSystemBus} from '../../../fakes/dbus/fake-system-bus.js';
import {BUSYBOX} from '../../../fakes/runtime-builders.js';
import {anImage} from '../../../fakes/fake-runtime.js';
import {ClusterTestbed, NODE_PATH} from '../cluster-testbed.js';

const SECOND = 1_000_000_000n;
const SHUTDOWN = {
  requestedNanos: 12n * SECOND,
  criticalNanos: 4n * SECOND,
  periods: [
    {priority: 0, shutdownGracePeriodSeconds: 8},
    {priority: 2_000_000_000, shutdownGracePeriodSeconds: 4},
  ],
  recordsTimes: true,
};
const MESSAGE = 'Pod was terminated in response to imminent node shutdown.';
const DISRUPTION = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'TerminationByKubelet',
  message: MESSAGE,
};

function ready(testbed: ClusterTestbed): NodeCondition | undefined {
  const status = testbed.api.storage.get(NODE_PATH)?.['status'] as
    | {readonly conditions?: readonly NodeCondition[]}
    | undefined;
  return status?.conditions?.find(({type}) => type === 'Ready');
}

// As recorded of a kubelet (node-managers/recordings/shutdown-graceful).
test('a node that shuts down ends its pods by priority, says so, and takes pods again if the shutdown is cancelled', async () => {
  await using bus = await startSystemBus();
  await using logind = await FakeLogind.start(bus.path);
  const rootDir = await mkdtemp(join(tmpdir(), 'kcri-shutdown-'));
  const manager = createShutdownManager({shutdown: SHUTDOWN, rootDir}, {bus: bus.address})!;
  await using testbed = await ClusterTestbed.start(undefined, {
    nodeManagers: [manager],
    runtime: {
      images: [anImage()],
      behaviour: (_config, argv) =>
        argv.includes('stubborn')
          ? {ignoresStop: true}
          : argv.includes('polite')
            ? {onStop: {exitCode: 0}}
            : undefined,
    },
  });
  const running = (command: string) => [{name: 'a', image: BUSYBOX, command: [command]}];
  testbed.createPod('normal', {terminationGracePeriodSeconds: 2, containers: running('polite')});
  testbed.createPod('stubborn', {terminationGracePeriodSeconds: 60, containers: running('stubborn')});
  testbed.createPod('critical', {
    ...{terminationGracePeriodSeconds: 2, containers: running('polite')},
    ...{priority: 2_000_001_000, priorityClassName: 'system-node-critical'},
  });
  for (const name of ['normal', 'stubborn', 'critical']) await testbed.untilPhase(name, 'Running');
  await testbed.daemon.until('the lock is asked for', () => logind.log.length === 2);

  logind.prepareForShutdown(true);
  await testbed.daemon.until('the node is not ready', () => ready(testbed)?.status === 'False');
  expect(ready(testbed)).toMatchObject({reason: 'KubeletNotReady', message: 'node is shutting down'});
  testbed.createPod('late');
  await testbed.untilPhase('late', 'Failed');
  expect(testbed.status('late')).toMatchObject({
    reason: 'NodeShutdown',
    message: 'Pod was rejected: Pod was rejected as the node is shutting down.',
  });
  await testbed.untilPhase('critical', 'Succeeded');
  await testbed.untilPhase('stubborn', 'Failed');
  await testbed.daemon.until('the lock is released', () => logind.log.includes('inhibitor lock released'));

  const stops = testbed.daemon.fake
    .callsTo('StopContainer')
    .map(({request}) => Number((request as {readonly timeout: bigint | string}).timeout));
  expect(stops).toEqual([2, 8, 2]);
  expect(testbed.status('stubborn')).toMatchObject({reason: 'Terminated', message: MESSAGE});
  expect(testbed.status('stubborn').conditions).toContainEqual(expect.objectContaining(DISRUPTION));
  for (const name of ['normal', 'critical']) {
    const {phase, reason, message, conditions} = testbed.status(name);
    expect([name, phase, reason, message]).toEqual([name, 'Succeeded', undefined, undefined]);
    expect(conditions).toContainEqual(expect.objectContaining(DISRUPTION));
  }
  expect(testbed.events('Pod').filter(({reason}) => reason === 'NodeShutdown')).toMatchObject([
    {type: 'Warning', message: 'Pod was rejected as the node is shutting down.'},
  ]);

  logind.prepareForShutdown(false);
  await testbed.daemon.until('the node is ready again', () => ready(testbed)?.status === 'True');
  testbed.createPod('again', {containers: running('polite')});
  await testbed.untilPhase('again', 'Running');
  const seen = testbed.events('Node').filter(({reason}) => reason === 'Shutdown');
  expect(seen.map(({type, message}) => [type, message])).toEqual([
    ['Normal', 'Shutdown manager detected shutdown event'],
    ['Normal', 'Shutdown manager detected shutdown cancellation'],
  ]);
  await testbed.daemon.until(
    'the next shutdown is delayed again',
    () => logind.log.filter((line) => line.startsWith('Inhibit')).length === 2,
  );
});

// As recorded of a kubelet (node-managers/recordings/shutdown-no-dbus).
test('a node without D-Bus runs its pods', async () => {
  const rootDir = await mkdtemp(join(tmpdir(), 'kcri-shutdown-'));
  const manager = createShutdownManager(
    {shutdown: SHUTDOWN, rootDir},
    {bus: 'unix:path=/var/run/dbus/none'},
  )!;
  await using testbed = await ClusterTestbed.start(undefined, {nodeManagers: [manager]});
  testbed.createPod('web');
  await testbed.untilPhase('web', 'Running');
  expect(ready(testbed)?.status).toBe('True');
  const texts = testbed.daemon.log.map(({message}) => message);
  expect(texts.filter((text) => text.includes('shutdown manager'))).toEqual([
    'Creating node shutdown manager',
    'Failed to start node shutdown manager',
  ]);
});
