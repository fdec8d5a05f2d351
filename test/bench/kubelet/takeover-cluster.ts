import {mkdir, mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import type {PodStatus} from '../../../src/api/types/v1-status.js';
import {pause} from '../../../src/base/async/pause.js';
import {systemClock, systemRandom} from '../../../src/base/clock.js';
import {SILENT_LOGGER} from '../../../src/base/logger.js';
import {connect} from '../../../src/cri/index.js';
import type {Kubelet} from '../../../src/kubelet/daemon/kubelet.js';
import {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {anImage, BUSYBOX} from '../../fakes/runtime-builders.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';
import {joinFakeCluster} from '../../kubelet/cluster/join-fake-cluster.js';
import {createTestKubelet} from '../../kubelet/daemon/create-test-kubelet.js';

/** Options of {@link measureClusterTakeover}. */
export interface ClusterTakeoverOptions {
  readonly pods: number;
  readonly containers: number;
  readonly rounds: number;
}

/** Measurement of one start of a kubelet with pods that run. */
export interface ClusterTakeover {
  readonly kind: 'restart' | 'takeover';
  /** Time until the statuses of all pods are known, in ms. */
  readonly fullStatusMs: number;
  readonly apiRequests: number;
  /** Requests that change a pod, which has not changed. */
  readonly podChanges: number;
  /** Statuses of pods or of the node in the API server that were not ready. */
  readonly notReady: number;
  /** Probes that were missed beyond one per container, which the jitter of a kubelet's start can cost. */
  readonly missedProbes: number;
}

const PERIOD_SECONDS = 10;
const POLL_MS = 20;
/** Time without a kubelet, in ms. */
const DOWN_MS = 500;

/**
 * Measures restarts of a kubelet and takeovers of its pods, in turns: pods of a fake API server with readiness probes, on a fake
 * runtime, all in this process.
 */
export async function measureClusterTakeover(
  options: ClusterTakeoverOptions,
): Promise<readonly ClusterTakeover[]> {
  const directory = await mkdtemp(join(tmpdir(), 'kcri-takeover-'));
  await mkdir(join(directory, 'manifests'));
  await using api = await FakeApiServer.start();
  api.now = () => systemClock.now();
  await using fake = await FakeRuntime.start({images: [anImage()]});
  const node = new MeasuredNode(options, {api, fake, directory});
  try {
    await node.prepare();
    const results: ClusterTakeover[] = [];
    for (let round = 0; round < options.rounds; round += 1)
      for (const kind of ['restart', 'takeover'] as const) results.push(await node.measure(kind));
    return results;
  } finally {
    await node.stop();
    await rm(directory, {recursive: true, maxRetries: 20});
  }
}

interface NodeParts {
  readonly api: FakeApiServer;
  readonly fake: FakeRuntime;
  readonly directory: string;
}

class MeasuredNode {
  readonly #options: ClusterTakeoverOptions;
  readonly #parts: NodeParts;
  /** Times of probes by container, in ms of the monotonic clock. */
  readonly #probes = new Map<string, number[]>();
  #end: (() => Promise<void>) | undefined;
  #kubelet: Kubelet | undefined;

  constructor(options: ClusterTakeoverOptions, parts: NodeParts) {
    this.#options = options;
    this.#parts = parts;
  }

  /** Creates the pods and waits until they are ready and probed. */
  async prepare(): Promise<void> {
    const {api} = this.#parts;
    const {pods, containers} = this.#options;
    const probe = {exec: {command: ['true']}, periodSeconds: PERIOD_SECONDS};
    const list = Array.from({length: containers}, (_, index) => ({
      ...{name: `c${index}`, image: BUSYBOX, readinessProbe: probe},
    }));
    for (let index = 0; index < pods; index += 1)
      api.createPod({
        metadata: {name: `pod-${index}`},
        spec: {nodeName: GOLDEN_NODE.nodeName, containers: list},
      });
    this.#start();
    await this.#until(() => this.#notReadyPods() === 0);
    await pause(systemClock, PERIOD_SECONDS * 1000);
  }

  /** Stops the kubelet, starts it again, and watches two periods of the probes. */
  async measure(kind: ClusterTakeover['kind']): Promise<ClusterTakeover> {
    const {api, directory} = this.#parts;
    await this.stop();
    if (kind === 'takeover') await rm(join(directory, 'root/kcri'), {recursive: true});
    await pause(systemClock, DOWN_MS);
    const before = api.requests.length;
    const startedAt = systemClock.monotonic();
    const probed = new Map([...this.#probes].map(([id, times]) => [id, times.length]));
    let notReady = 0;
    const unwatch = ['/api/v1/pods', '/api/v1/nodes'].map((collection) =>
      api.storage.watch(collection, api.storage.version, ({object}) => {
        if (!isReady(object['status'] as PodStatus)) notReady += 1;
      }),
    );
    this.#start();
    await this.#until(() => this.#syncedPods() === this.#options.pods);
    const fullStatusMs = systemClock.monotonic() - startedAt;
    await pause(systemClock, 2 * PERIOD_SECONDS * 1000);
    for (const stop of unwatch) stop?.();
    const requests = api.requests.slice(before);
    const changes = requests.filter(({method, path}) => method !== 'GET' && path.includes('/pods/'));
    const gaps = [...this.#probes].map(([id, times]) => (times[probed.get(id) ?? 0] ?? Infinity) - startedAt);
    const missed = gaps.map((gap) => Math.max(0, Math.floor(gap / (PERIOD_SECONDS * 1000)) - 1));
    return {
      ...{kind, fullStatusMs, notReady, apiRequests: requests.length, podChanges: changes.length},
      missedProbes: missed.reduce((sum, count) => sum + count, 0),
    };
  }

  #start(): void {
    const {api, fake, directory} = this.#parts;
    const connection = connect(fake.endpoint);
    const {runtime, images} = connection;
    const execSync = runtime.execSync.bind(runtime);
    Object.assign(runtime, {
      execSync: async (...call: Parameters<typeof execSync>) => {
        const containerId = call[0]?.containerId ?? '';
        this.#probes.set(containerId, [...(this.#probes.get(containerId) ?? []), systemClock.monotonic()]);
        return await execSync(...call);
      },
    });
    const places = {rootDir: join(directory, 'root'), podLogsDir: join(directory, 'logs')};
    const node = {...GOLDEN_NODE, ...places, inCluster: true, maxPods: 1000};
    const parts = {services: {runtime, images}, node, clock: systemClock, logger: SILENT_LOGGER};
    const kubelet = createTestKubelet({
      cluster: joinFakeCluster(new URL(api.url), parts, {random: systemRandom}),
      ...{connection, endpoint: fake.endpoint, node, clock: systemClock, logger: SILENT_LOGGER},
      ...{manifestsDir: join(directory, 'manifests'), eventedPleg: true, onEvent: () => undefined},
      overrides: {random: systemRandom},
    });
    const controller = new AbortController();
    const run = kubelet.run(controller.signal);
    this.#kubelet = kubelet;
    this.#end = async () => {
      controller.abort();
      await run;
      connection.close();
    };
  }

  /** Stops the kubelet; its pods keep running. */
  async stop(): Promise<void> {
    await this.#end?.();
    this.#end = undefined;
  }

  async #until(isDone: () => boolean): Promise<void> {
    while (!isDone()) await pause(systemClock, POLL_MS);
  }

  #notReadyPods(): number {
    const stored = this.#parts.api.storage.list('/api/v1/pods');
    return stored.filter(({status}) => !isReady(status as PodStatus)).length;
  }

  #syncedPods(): number {
    return this.#kubelet!.view.report().pods.filter(({worker}) => worker.lastSyncAt !== undefined).length;
  }
}

function isReady({conditions = []}: Pick<PodStatus, 'conditions'>): boolean {
  return conditions.some(({type, status}) => type === 'Ready' && status === 'True');
}
