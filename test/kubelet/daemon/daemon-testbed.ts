import {mkdir, mkdtemp, rename, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {connect, containerId, type Connection, type ContainerEventResponse} from '../../../src/cri/index.js';
import type {PodEvent} from '../../../src/kubelet/index.js';
import type {JoinedCluster} from '../../../src/kubelet/cluster/index.js';
import type {JoinClusterOptions} from '../../../src/kubelet/cluster/join-cluster.js';
import type {Kubelet} from '../../../src/kubelet/daemon/kubelet.js';
import type {KubeletOptions} from '../../../src/kubelet/daemon/kubelet-options.js';
import type {NodeFacts} from '../../../src/kubelet/contract/node-facts.js';
import type {KubeletView} from '../../../src/kubelet/daemon/introspection/kubelet-view.js';
import {list} from '../../commands/command-testbed.js';
import {aContainer, aSandbox, FakeRuntime, type FakeRuntimeOptions} from '../../fakes/fake-runtime.js';
import type {ContainerRecord} from '../../fakes/runtime/runtime-records.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';
import {AutoAdvance, FakeClock} from '../../fakes/fake-clock.js';
import {createTestKubelet} from './create-test-kubelet.js';
import {fakeLogger} from '../../base/fake-logger.js';

/** Options of a daemon testbed. */
export interface DaemonTestbedOptions {
  readonly runtime?: FakeRuntimeOptions;
  readonly eventedPleg?: boolean;
  /** Timeout of CRI calls, in ms of real time. */
  readonly callTimeoutMs?: number;
  /** Metrics of the kubelet. */
  readonly metrics?: NonNullable<KubeletOptions['metrics']>;
  /** Node-pressure eviction; none by default. */
  readonly eviction?: KubeletOptions['eviction'];
  /** Managers of the node; the kubelet's own by default. */
  readonly nodeManagers?: KubeletOptions['nodeManagers'];
  /** True to stop the pods with the kubelet. */
  readonly stopPodsOnExit?: boolean;
  /** True to remove unused images periodically. */
  readonly imageGc?: boolean;
  /** Root directory to use instead of a new one. */
  readonly rootDir?: string;
  /** Time at the start, in ms since the epoch. */
  readonly nowMs?: number;
  /** Directory of the container logs instead of a new one. */
  readonly logsDir?: string;
  /** Directory of the manifests instead of a new one. */
  readonly manifestsDir?: string;
  /** Steps of the clock, in ms; larger ones make a long time pass sooner. */
  readonly stepMs?: number;
  /** Properties of the node that differ from GOLDEN_NODE. */
  readonly node?: Partial<NodeFacts>;
  /** Manifest files that exist before the kubelet starts, by name. */
  readonly manifests?: Readonly<Record<string, string>>;
  /** Joins each kubelet to a cluster. */
  readonly join?: (parts: JoinParts) => JoinedCluster;
  /** Transforms the runtime's event stream. */
  readonly transformEvents?: (events: EventStream) => EventStream;
}

/** Parts of the testbed that a cluster needs. */
export type JoinParts = Pick<JoinClusterOptions, 'services' | 'node' | 'clock' | 'logger'>;

export type EventStream = AsyncIterable<ContainerEventResponse>;

/** A logged message or error. */
export interface LogEntry {
  readonly at: number;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly error?: unknown;
}

const STARTED_AT_MS = Date.parse('2026-05-01T12:00:00Z');
const CALL_TIMEOUT_MS = 20_000;
/** In ms of the fake clock: longer than every wait of the kubelet. */
const WAIT_LIMIT_MS = 20 * 60_000;
const POLL_INTERVAL_MS = 200;

/** Pod of another client, which the kubelet must not change. */
export const FOREIGN = aSandbox({
  name: 'foreign',
  namespace: 'elsewhere',
  uid: 'foreign-uid',
  ip: '10.244.9.9',
});
const FOREIGN_CONTAINERS = [
  aContainer({sandbox: FOREIGN, name: 'runs'}),
  aContainer({sandbox: FOREIGN, name: 'dead', state: 'CONTAINER_EXITED', exitCode: 1}),
];

/**
 * A kubelet with a manifest directory, on a fake runtime that also runs a foreign pod, with an automatically
 * advancing clock.
 */
export class DaemonTestbed implements AsyncDisposable {
  readonly fake: FakeRuntime;
  readonly clock: FakeClock;
  readonly #autoAdvance: AutoAdvance;
  readonly directory: string;
  readonly events: PodEvent[] = [];
  readonly log: LogEntry[] = [];
  readonly #seed: DaemonTestbedOptions;
  readonly #connection: Connection;
  readonly #watching = new AbortController();
  /** Largest number of concurrently running instances of one container. */
  maxConcurrentInstances = 0;
  #kubelet: Kubelet | undefined;
  /** Settles when the kubelet has ended. */
  ended = Promise.resolve();
  #node: DaemonTestbedOptions['node'];
  #end = async (): Promise<void> => undefined;

  private constructor(options: DaemonTestbedOptions, fake: FakeRuntime, clock: FakeClock, directory: string) {
    this.#seed = options;
    this.#node = options.node;
    this.fake = fake;
    this.clock = clock;
    this.#autoAdvance = new AutoAdvance(clock, options.stepMs);
    this.directory = directory;
    const {callTimeoutMs: timeoutMs = CALL_TIMEOUT_MS, transformEvents = (events: EventStream) => events} =
      options;
    const connection = connect(fake.endpoint, {timeoutMs});
    const {runtime} = connection;
    const getContainerEvents: typeof runtime.getContainerEvents = (...call) =>
      transformEvents(runtime.getContainerEvents(...call));
    this.#connection = {...connection, runtime: {...runtime, getContainerEvents}};
  }

  /** Starts a testbed with a running kubelet; disposing of it stops everything. */
  static async start(options: DaemonTestbedOptions = {}): Promise<DaemonTestbed> {
    const directory = await mkdtemp(join(tmpdir(), 'kcri-daemon-'));
    const clock = new FakeClock({nowMs: options.nowMs ?? STARTED_AT_MS});
    const fake = await FakeRuntime.start({
      sandboxes: [FOREIGN],
      containers: FOREIGN_CONTAINERS,
      ...options.runtime,
      clock,
    });
    const testbed = new DaemonTestbed(options, fake, clock, directory);
    testbed.#watch().catch(() => undefined); // aborted by dispose
    await mkdir(testbed.manifestsDir, {recursive: true});
    for (const [file, text] of Object.entries(options.manifests ?? {})) await testbed.put(file, text);
    testbed.run();
    return testbed;
  }

  get rootDir(): string {
    return this.#seed.rootDir ?? join(this.directory, 'root');
  }

  get manifestsDir(): string {
    return this.#seed.manifestsDir ?? join(this.directory, 'manifests');
  }

  get logsDir(): string {
    return this.#seed.logsDir ?? join(this.directory, 'logs');
  }

  /** Connection of the kubelet to the runtime. */
  get connection(): Connection {
    return this.#connection;
  }

  get view(): KubeletView {
    if (this.#kubelet === undefined) throw new Error('no kubelet has run yet');
    return this.#kubelet.view;
  }

  /** Starts a kubelet, for example after `stop`. */
  run(): void {
    const {fake, clock, manifestsDir, rootDir} = this;
    const controller = new AbortController();
    const inCluster = this.#seed.join !== undefined;
    const node = {...GOLDEN_NODE, ...this.#node, inCluster, rootDir, podLogsDir: this.logsDir};
    const logger = fakeLogger({
      info: (message, fields = {}) => void this.log.push({at: clock.now(), message, fields}),
      error: (error, message, fields = {}) =>
        void this.log.push({at: clock.now(), message, fields, error: error ?? message}),
    });
    this.#kubelet = createTestKubelet({
      cluster: this.#seed.join?.({services: this.#connection, node, clock, logger}),
      connection: this.#connection,
      endpoint: fake.endpoint,
      node,
      clock,
      manifestsDir,
      eventedPleg: this.#seed.eventedPleg ?? false,
      logger,
      onEvent: (event) => void this.events.push(event),
      overrides: {
        ...(this.#seed.metrics && {metrics: this.#seed.metrics}),
        ...(this.#seed.eviction && {eviction: this.#seed.eviction}),
        nodeManagers: this.#seed.nodeManagers,
        ...(this.#seed.stopPodsOnExit === true && {stopPodsOnExit: true}),
        ...(this.#seed.imageGc === true && {images: {service: this.#connection.images}}),
      },
    });
    const ended = this.#kubelet.run(controller.signal);
    this.ended = ended;
    ended.catch(() => undefined); // for stop
    this.#end = async () => {
      controller.abort();
      await ended;
    };
  }

  /** Sets the properties of the node for the next kubelets. */
  configure(node: DaemonTestbedOptions['node']): void {
    this.#node = node;
  }

  async stop(): Promise<void> {
    await this.#end();
  }

  /** Creates or replaces a manifest file atomically. */
  async put(file: string, text: string): Promise<void> {
    const hidden = join(this.manifestsDir, `.${file}`);
    await writeFile(hidden, text);
    await rename(hidden, join(this.manifestsDir, file));
  }

  async remove(file: string): Promise<void> {
    await rm(join(this.manifestsDir, file));
  }

  /**
   * Waits in fake time until the condition holds; throws with recent calls and errors after WAIT_LIMIT_MS.
   */
  async until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    const end = this.clock.now() + WAIT_LIMIT_MS;
    while (!(await condition())) {
      if (this.clock.now() > end)
        throw new Error(`timed out waiting until ${what}\n${this.#describeState()}`);
      await this.clock.sleep(POLL_INTERVAL_MS);
    }
  }

  /** All logged errors in order. */
  get errors(): readonly string[] {
    return this.log
      .filter((entry) => 'error' in entry)
      .map(({message, error}) => `${message}: ${error instanceof Error ? error.message : String(error)}`);
  }

  /** The running containers of kcri's pods, each as `pod/container/attempt`. */
  get running(): readonly string[] {
    return this.ownContainers
      .filter(({state}) => state === 'CONTAINER_RUNNING')
      .map((container) => this.nameOf(container))
      .toSorted();
  }

  /** The containers of kcri's pods. */
  get ownContainers(): readonly ContainerRecord[] {
    return this.fake.containers.filter(({sandboxId}) => sandboxId !== FOREIGN.id);
  }

  /** Removes the containers of kcri's pods from the runtime. */
  async removeOwnContainers(): Promise<void> {
    for (const {id} of this.ownContainers)
      await this.#connection.runtime.removeContainer({containerId: containerId(id)});
  }

  nameOf({config, sandboxId}: ContainerRecord): string {
    const pod = this.fake.sandboxes.find(({id}) => id === sandboxId)?.config.metadata?.name;
    return `${pod}/${config.metadata?.name}/${config.metadata?.attempt}`;
  }

  /** Ends the newest running instance of a container. */
  kill(name: string, exitCode = 137): void {
    const [found] = this.#runningInstances(name);
    if (found === undefined) throw new Error(`no container "${name}" is running`);
    this.fake.exitContainer(found.id, exitCode);
  }

  /** Ends the running containers of this name of all pods. */
  killAll(name: string, exitCode: number): void {
    for (const {id} of this.#runningInstances(name)) this.fake.exitContainer(id, exitCode);
  }

  #runningInstances(name: string): readonly ContainerRecord[] {
    return this.ownContainers.filter(
      ({config, state}) => config.metadata?.name === name && state === 'CONTAINER_RUNNING',
    );
  }

  /** Returns phase, number of ready containers and restarts of a pod. */
  statusOf(name: string): {readonly phase: string; readonly ready: number; readonly restarts: number} {
    const status =
      this.view.pods().find(({metadata}) => metadata.name === `${name}-goldennode`)?.status ?? {};
    const containers = status.containerStatuses ?? [];
    return {
      phase: status.phase ?? '',
      ready: containers.filter(({ready}) => ready).length,
      restarts: containers.reduce((sum, {restartCount}) => sum + restartCount, 0),
    };
  }

  /** Lists everything that exists of kcri's pods, in the runtime and on the node. */
  async listRemains(): Promise<Readonly<Record<string, readonly string[]>>> {
    return {
      sandboxes: this.fake.sandboxes.flatMap(({id, config}) =>
        id === FOREIGN.id ? [] : (config.metadata?.name ?? ''),
      ),
      containers: this.ownContainers.map((container) => this.nameOf(container)),
      records: await list(join(this.rootDir, 'kcri/records')),
      podDirs: await list(join(this.rootDir, 'pods')),
      logs: await list(this.logsDir),
    };
  }

  /** Resolves when nothing of kcri's pods exists any more. */
  async untilAllRemoved(): Promise<void> {
    await this.until(
      'everything is removed',
      async () => Object.values(await this.listRemains()).flat().length === 0,
    );
  }

  /** Mutating CRI calls with an ID of the foreign pod. */
  get callsToForeignPod(): readonly string[] {
    const ids = [FOREIGN.id, ...FOREIGN_CONTAINERS.map(({id}) => id)];
    return this.fake.calls
      .filter(({method}) => /^(Stop|Remove|Create|Start|Exec|Update|Reopen|Checkpoint)/.test(method))
      .filter(({request}) => ids.some((id) => JSON.stringify(request).includes(id)))
      .map(({method}) => method);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watching.abort();
    await this.stop();
    this.#connection.close();
    await this.fake.stop();
    this.#autoAdvance[Symbol.dispose]();
    await rm(this.directory, {recursive: true, force: true});
  }

  /** Updates maxConcurrentInstances whenever the clock advances. */
  async #watch(): Promise<void> {
    for (;;) {
      const names = this.running.map((name) => name.replace(/\/\d+$/, ''));
      for (const name of names)
        this.maxConcurrentInstances = Math.max(
          this.maxConcurrentInstances,
          names.filter((other) => other === name).length,
        );
      await this.clock.sleep(1, this.#watching.signal);
    }
  }

  #describeState(): string {
    const calls = this.fake.calls.slice(-30).map(({method, code}) => `${method} ${code ?? '…'}`);
    return [`running: ${this.running.join(' ')}`, ...this.errors.slice(-15), ...calls].join('\n');
  }
}

/** Result of listRemains after a complete cleanup. */
export const NOTHING_REMAINS = {sandboxes: [], containers: [], records: [], podDirs: [], logs: []};
