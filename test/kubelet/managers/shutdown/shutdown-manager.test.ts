import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {Pod} from '../../../../src/api/types/v1-pod.js';
import type {FileLogger} from '../../../../src/base/logger.js';
import {countHeldDescriptors} from '../../../../src/base/dbus/held-descriptors.js';
import {messageOf} from '../../../../src/base/errors.js';
import type {NodeManager, NodeManagerServices} from '../../../../src/kubelet/contract/node-manager.js';
import {podRef} from '../../../../src/kubelet/contract/pod-ref.js';
import type {ShutdownPolicy} from '../../../../src/kubelet/contract/resources/shutdown-policy.js';
import {createShutdownManager} from '../../../../src/kubelet/managers/shutdown/shutdown-manager.js';
import {fakeLogger} from '../../../base/fake-logger.js';
import {temporaryDirectory} from '../../../base/temporary-directory.js';
import {until} from '../../../base/until.js';
import {aPod, aRawPod} from '../../../fakes/a-pod.js';
import {FakeLogind, type FakeLogindOptions} from '../../../fakes/dbus/fake-logind.js';
import {startSystemBus, type FakeSystemBus} from '../../../fakes/dbus/fake-system-bus.js';
import {fakeManagerServices} from '../../../fakes/fake-manager-services.js';
import {FakeClock, TEST_TIME_MS} from '../../../fakes/fake-clock.js';
import {GOLDEN_NODE} from '../../../golden/golden-cases.js';

const SECOND = 1_000_000_000n;
const POLICY: ShutdownPolicy = {
  requestedNanos: 12n * SECOND,
  criticalNanos: 4n * SECOND,
  periods: [
    {priority: 0, shutdownGracePeriodSeconds: 8},
    {priority: 2_000_000_000, shutdownGracePeriodSeconds: 4},
  ],
  recordsTimes: true,
};
const INHIBIT =
  'Inhibit what="shutdown" who="kubelet" why="Kubelet needs time to handle node shutdown" mode="delay"';
const GET = 'Get org.freedesktop.login1.Manager InhibitDelayMaxUSec -> 30000000';

const podOf = (name: string, priority: number, grace: number): Pod =>
  aRawPod({priority, terminationGracePeriodSeconds: grace}, {name, namespace: 'default', uid: name});

/** A started manager on a node, and what it did. */
class Testbed implements AsyncDisposable {
  readonly did: string[] = [];
  readonly logged: string[] = [];
  readonly clock = new FakeClock({nowMs: TEST_TIME_MS});
  readonly finished = new Set<string>();
  readonly configDir: string;
  readonly rootDir: string;
  readonly manager: NodeManager;
  readonly #end = new AbortController();
  #running: Promise<void> = Promise.resolve();

  private constructor(bus: string, rootDir: string, configDir: string) {
    this.rootDir = rootDir;
    this.configDir = configDir;
    this.manager = createShutdownManager({shutdown: POLICY, rootDir}, {bus, configDir})!;
  }

  static async start(bus: string, own: Partial<NodeManagerServices> = {}): Promise<Testbed> {
    const testbed = new Testbed(bus, await temporaryDirectory(), join(await temporaryDirectory(), 'conf.d'));
    await testbed.manager.start?.(testbed.#services(own), testbed.#end.signal);
    testbed.watch();
    return testbed;
  }

  #services(own: Partial<NodeManagerServices>): NodeManagerServices {
    const lines: FileLogger = {
      info: (message) => void this.logged.push(message),
      error: (error, message) => void this.logged.push(`${message}: ${messageOf(error)}`),
    };
    return fakeManagerServices({
      ...{node: GOLDEN_NODE, clock: this.clock, logger: fakeLogger(lines)},
      killPod: async (pod, {gracePeriodSeconds, reason}) => {
        this.did.push(`kill ${podRef(pod).name} in ${gracePeriodSeconds} s as ${reason}`);
      },
      isFinished: (pod) => this.finished.has(podRef(pod).name),
      nodeEvent: ({type, reason, message}) => void this.did.push(`${type} ${reason}: ${message}`),
      nodeStatusChanged: () => void this.did.push('node status'),
      ...own,
    });
  }

  /** Runs the manager once, until the bus is lost. */
  watch(): void {
    this.#running = this.manager.reconcile!.run(this.#end.signal).catch(() => undefined); // aborted
  }

  /** Lets time pass until the condition is met. */
  async pass(condition: () => boolean): Promise<void> {
    await until(async () => {
      await this.clock.advance(20);
      return condition();
    });
  }

  async watched(): Promise<void> {
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
    await this.#running;
  }
}

/** A bus with a logind. */
async function startLogind(options?: FakeLogindOptions): Promise<{bus: FakeSystemBus; logind: FakeLogind}> {
  const bus = await startSystemBus();
  return {bus, logind: await FakeLogind.start(bus.path, options)};
}

test('an announced shutdown stops the pods by priority and then releases the lock; a cancelled one admits pods again', async () => {
  const {bus, logind} = await startLogind();
  await using _bus = bus;
  await using _logind = logind;
  const pods = [podOf('critical', 2_000_001_000, 2), podOf('normal', 0, 2), podOf('stubborn', 5, 60)];
  await using testbed = await Testbed.start(bus.address, {activePods: () => pods});
  const {manager, did, finished, clock} = testbed;
  await testbed.pass(() => logind.log.length === 2);
  expect(logind.log).toEqual([GET, INHIBIT]);
  expect([await manager.admit?.(aPod(), AbortSignal.timeout(1)), manager.nodeErrors]).toEqual([
    undefined,
    [],
  ]);

  logind.prepareForShutdown(true);
  await until(() => did.length === 4);
  expect(did).toEqual([
    'Normal Shutdown: Shutdown manager detected shutdown event',
    'node status',
    'kill normal in 2 s as Terminated',
    'kill stubborn in 8 s as Terminated',
  ]);
  expect(await manager.admit?.(aPod(), AbortSignal.timeout(1))).toMatchObject({
    reason: 'NodeShutdown',
    message: 'Pod was rejected as the node is shutting down.',
  });
  expect(manager.nodeErrors).toEqual(['node is shutting down']);
  // One pod of the group is never released: the critical one is stopped when the time of the group is over.
  finished.add('normal');
  await clock.advance(7000);
  expect(did).toHaveLength(4);
  await testbed.pass(() => did.length === 5);
  expect(clock.now() - TEST_TIME_MS).toBeGreaterThanOrEqual(8000);
  expect(did[4]).toBe('kill critical in 2 s as Terminated');
  expect(logind.log).not.toContain('inhibitor lock released');
  finished.add('critical');
  await testbed.pass(() => logind.log.includes('inhibitor lock released'));
  // How much time passes before the announcement depends on how soon logind answers.
  const state = await readFile(join(testbed.rootDir, 'graceful_node_shutdown_state'), 'utf8');
  const times = /^\{"startTime":"(2026-05-01T12:[^"]*)","endTime":"(2026-05-01T12:[^"]*)"\}$/.exec(state);
  const [startedAt, endedAt] = [Date.parse(times?.[1] ?? ''), Date.parse(times?.[2] ?? '')];
  expect(startedAt).toBeGreaterThanOrEqual(TEST_TIME_MS);
  expect(endedAt - startedAt).toBeGreaterThanOrEqual(8000);

  logind.prepareForShutdown(false);
  await testbed.pass(() => logind.log.at(-1) === INHIBIT);
  expect(did.at(-1)).toBe('Normal Shutdown: Shutdown manager detected shutdown cancellation');
  expect([await manager.admit?.(aPod(), AbortSignal.timeout(1)), manager.nodeErrors]).toEqual([
    undefined,
    [],
  ]);
});

describe('a logind whose delay is too short', () => {
  test('gets a longer one', async () => {
    const {bus, logind} = await startLogind({
      inhibitDelayMicros: 5_000_000n,
      reloadedDelayMicros: 12_000_000n,
    });
    await using _bus = bus;
    await using _logind = logind;
    await using testbed = await Testbed.start(bus.address);
    await testbed.pass(() => logind.log.includes(INHIBIT));
    expect(logind.log.slice(1)).toEqual([
      'KillUnit ["systemd-logind.service","all",1]',
      'Get org.freedesktop.login1.Manager InhibitDelayMaxUSec -> 12000000',
      INHIBIT,
    ]);
    const file = await readFile(join(testbed.configDir, '99-kubelet.conf'), 'utf8');
    expect(file).toBe('# Kubelet logind override\n[Login]\nInhibitDelayMaxSec=12\n');
  });

  test('and stays so turns the feature off', async () => {
    const {bus, logind} = await startLogind({inhibitDelayMicros: 5_000_000n});
    await using _bus = bus;
    await using _logind = logind;
    await using testbed = await Testbed.start(bus.address);
    await testbed.pass(() => testbed.logged.length > 1);
    expect(testbed.logged[1]).toBe(
      'Failed to start node shutdown manager: node shutdown manager was timed out after 5 attempts waiting for logind InhibitDelayMaxSec to update to 12s (ShutdownGracePeriod), current value is 5s',
    );
    expect(logind.log).not.toContain(INHIBIT);
  });
});

test('a lock that logind refuses turns the feature off', async () => {
  const {bus, logind} = await startLogind({inhibitError: 'Permission denied'});
  await using _bus = bus;
  await using _logind = logind;
  await using testbed = await Testbed.start(bus.address);
  await testbed.pass(() => testbed.logged.length > 1);
  expect(testbed.logged[1]).toBe(
    'Failed to start node shutdown manager: failed creating systemd inhibitor: Permission denied',
  );
});

test('without a bus the feature is off, and nothing else happens', async () => {
  await using testbed = await Testbed.start('unix:path=/nonexistent/system_bus_socket');
  await testbed.pass(() => testbed.logged.length > 1);
  expect(testbed.logged).toEqual([
    'Creating node shutdown manager',
    'Failed to start node shutdown manager: dial unix /nonexistent/system_bus_socket: connect: no such file or directory',
  ]);
  expect([testbed.did, testbed.manager.nodeErrors]).toEqual([[], []]);
});

test('a bus that restarts is connected to again, and the lock is held meanwhile', async () => {
  const first = await startLogind();
  const {path} = first.bus;
  await using testbed = await Testbed.start(first.bus.address);
  await testbed.pass(() => first.logind.log.includes(INHIBIT));
  await until(async () => (await countHeldDescriptors()) === 1);
  await first.bus[Symbol.asyncDispose]();
  await testbed.watched();
  expect(testbed.logged.at(-1)).toMatch(/^Ended to watching the node for shutdown events/);
  expect(first.logind.log).not.toContain('inhibitor lock released');

  testbed.watch();
  await testbed.watched();
  expect(testbed.logged.at(-1)).toMatch(/^Unable to watch the node for shutdown events: dial unix/);
  await using bus = await startSystemBus(path);
  await using logind = await FakeLogind.start(bus.path);
  testbed.watch();
  await testbed.pass(() => first.logind.log.includes('inhibitor lock released'));
  expect(logind.log).toContain(INHIBIT);
});

test.each([
  [
    '{"startTime":"2026-04-01T00:00:00Z","endTime":"0001-01-01T00:00:00Z"}',
    Date.parse('2026-04-01'),
    undefined,
  ],
  [
    '{"startTime":"2026-04-01T00:00:00Z","endTime":"2026-04-01T00:00:01Z"}',
    Date.parse('2026-04-01'),
    Date.parse('2026-04-01') + 1000,
  ],
])('the times of the last shutdown are metrics: %s', async (text, startedAt, endedAt) => {
  const rootDir = await temporaryDirectory();
  await writeFile(join(rootDir, 'graceful_node_shutdown_state'), text);
  const seen: unknown[] = [];
  const services = fakeManagerServices({node: GOLDEN_NODE, clock: new FakeClock()});
  const metrics = {...services.metrics, nodeShutDown: (times: object) => void seen.push(times)};
  const manager = createShutdownManager({shutdown: POLICY, rootDir});
  await manager?.start?.({...services, metrics}, AbortSignal.timeout(1));
  expect(seen).toEqual([{startedAt, endedAt}]);
});

test('a damaged state of the last shutdown is logged', async () => {
  const rootDir = await temporaryDirectory();
  await writeFile(join(rootDir, 'graceful_node_shutdown_state'), '{"startTime":"2026-0');
  const logged: string[] = [];
  const logger = fakeLogger({
    info: () => undefined,
    error: (_error, message) => void logged.push(message),
  });
  const services = fakeManagerServices({node: GOLDEN_NODE, clock: new FakeClock(), logger});
  await createShutdownManager({shutdown: POLICY, rootDir})?.start?.(services, AbortSignal.timeout(1));
  expect(logged).toEqual(['Failed to load graceful shutdown state']);
});
