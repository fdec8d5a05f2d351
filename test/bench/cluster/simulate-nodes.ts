import {setMaxListeners} from 'node:events';
import type {Pod} from '../../../src/api/types/v1-pod.js';
import type {PodStatus} from '../../../src/api/types/v1-status.js';
import type {RandomSource} from '../../../src/base/clock.js';
import {SILENT_LOGGER} from '../../../src/base/logger.js';
import {connect, type PodUid} from '../../../src/cri/index.js';
import {ApiClient} from '../../../src/kube-api/api-client.js';
import {HttpConnection} from '../../../src/kube-api/http-connection.js';
import {joinCluster, type JoinedCluster} from '../../../src/kubelet/cluster/join-cluster.js';
import type {ClusterHost} from '../../../src/kubelet/contract/cluster/cluster-link.js';
import type {ClusterServices} from '../../../src/kubelet/contract/kube-services.js';
import {podRef} from '../../../src/kubelet/contract/pod-ref.js';
import {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import {AutoAdvance, FakeClock} from '../../fakes/fake-clock.js';
import {FakeRuntime} from '../../fakes/fake-runtime.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';
import {CLUSTER_DEFAULTS} from '../../kubelet/cluster/cluster-defaults.js';

/** Options of {@link simulateNodes}. */
export interface SimulationOptions {
  readonly nodes: number;
  readonly podsPerNode: number;
  /** Measured time, in minutes of the clock of the simulation. */
  readonly minutes: number;
}

/** Requests of all nodes. */
export interface SimulationResult {
  readonly nodes: number;
  /** Requests of a node from its start until its pods are Running. */
  readonly startRequests: number;
  /** Requests of an idle node in a minute. */
  readonly idleRequests: number;
  /** Largest number of requests in a second, divided by the mean. */
  readonly peak: number;
  /** CPU time of server and nodes for one node in an idle minute, in ms. */
  readonly cpuMs: number;
  /** Memory of server and nodes for one node, in KiB. */
  readonly memoryKib: number;
}

/** Step of the clock in ms. */
const STEP_MS = 200;
/** Time after the start in which nodes settle, in ms: longer than the jitter of the periods. */
const SETTLE_MS = 60_000;

/**
 * Runs the part of many kubelets that talks to the API server, in one process: registration, node status, lease, watches,
 * pods and their statuses. The runtime answers from memory, and pods run as soon as they are seen.
 */
export async function simulateNodes({
  nodes,
  podsPerNode,
  minutes,
}: SimulationOptions): Promise<SimulationResult> {
  const memoryBefore = process.memoryUsage().rss;
  const clock = new FakeClock({nowMs: Date.parse('2026-05-01T12:00:00Z')});
  await using api = await FakeApiServer.start();
  api.now = () => clock.now();
  const services = await readServices();
  const controller = new AbortController();
  // All nodes share it.
  setMaxListeners(0, controller.signal);
  const names = Array.from({length: nodes}, (_, index) => `node-${index}`);
  for (const nodeName of names)
    for (let index = 0; index < podsPerNode; index += 1) createPod(api, nodeName, index);
  using _advance = new AutoAdvance(clock, STEP_MS);
  const runs = names.map(async (nodeName, index) => {
    // Nodes do not start in the same second.
    await clock.sleep((index / nodes) * 10_000);
    await runNode({nodeName, api, services, clock, random: createRandom(index)}, controller.signal);
  });
  const isRunning = (): boolean =>
    api.storage.list('/api/v1/pods').every((pod) => (pod['status'] as PodStatus).phase === 'Running');
  while (!isRunning()) await clock.sleep(1000);
  const startRequests = api.requests.length / nodes;
  await clock.sleep(SETTLE_MS);
  const [since, cpu] = [clock.now(), process.cpuUsage()];
  await clock.sleep(minutes * 60_000);
  const {user, system} = process.cpuUsage(cpu);
  const idle = api.requests.filter(({at}) => at >= since);
  const memory = process.memoryUsage().rss - memoryBefore;
  controller.abort();
  await Promise.all(runs);
  return {
    nodes,
    startRequests,
    idleRequests: idle.length / nodes / minutes,
    peak: peakOf(idle.map(({at}) => at)) / (idle.length / minutes / 60),
    cpuMs: (user + system) / 1000 / nodes / minutes,
    memoryKib: memory / 1024 / nodes,
  };
}

/** Returns the largest number of times within one second. */
function peakOf(times: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const time of times) {
    const second = Math.floor(time / 1000);
    counts.set(second, (counts.get(second) ?? 0) + 1);
  }
  return Math.max(0, ...counts.values());
}

/** Returns services that answer as the fake runtime does, without calls. */
async function readServices(): Promise<ClusterServices> {
  const fake = await FakeRuntime.start();
  const connection = connect(fake.endpoint);
  const version = await connection.runtime.version({version: '0.1.0'});
  const images = await connection.images.listImages({});
  connection.close();
  await fake.stop();
  const {runtime, images: imageService} = connection;
  return {
    runtime: {...runtime, version: async () => version},
    images: {...imageService, listImages: async () => images},
  };
}

function createPod(api: FakeApiServer, nodeName: string, index: number): void {
  const containers = [{name: 'main', image: 'localhost:5000/busybox:1'}];
  api.createPod({metadata: {name: `${nodeName}-${index}`}, spec: {nodeName, containers}});
}

interface NodeOptions {
  readonly nodeName: string;
  readonly api: FakeApiServer;
  readonly services: ClusterServices;
  readonly clock: FakeClock;
  readonly random: RandomSource;
}

async function runNode(options: NodeOptions, signal: AbortSignal): Promise<void> {
  const {nodeName, api, services, clock, random} = options;
  const credentials = {tls: {rejectUnauthorized: true}, token: undefined};
  const connection = new HttpConnection(new URL(api.url), {current: async () => credentials});
  const client = new ApiClient({connection, userAgent: 'kcri', clock});
  const cluster = joinCluster({
    server: {url: api.url, client, events: client, heartbeats: client},
    node: {...GOLDEN_NODE, nodeName},
    ...{services, clock, random, logger: SILENT_LOGGER},
    ...CLUSTER_DEFAULTS,
    changeDetection: 'Watch',
  });
  await runPods(cluster, signal);
  connection.close();
}

/** Runs a cluster whose pods are Running as soon as they are seen. */
async function runPods(cluster: JoinedCluster, signal: AbortSignal): Promise<void> {
  let pods: ReadonlyMap<PodUid, Pod> = new Map();
  const statuses = new Map<PodUid, PodStatus>();
  const host: ClusterHost = {
    podState: (uid) => {
      const pod = pods.get(uid);
      return pod && {pod, status: statuses.get(uid), couldHaveRunningContainers: true, isFinished: false};
    },
    podUids: () => [...pods.keys()],
    staticPods: () => [],
    orphanedMirrorPods: () => [],
    nodeErrors: [],
    pressures: [],
    runtimeFeatures: undefined,
    starts: {isBusy: false, whenIdle: async () => undefined},
  };
  const sink = {
    set: ({pods: desired}: {readonly pods: readonly {readonly uid: PodUid; readonly pod: Pod}[]}): void => {
      pods = new Map(desired.map(({uid, pod}) => [uid, pod]));
      for (const [uid, pod] of pods) {
        if (statuses.has(uid)) continue;
        statuses.set(uid, runningStatus(pod));
        cluster.podChanged(uid);
      }
    },
    report: () => undefined,
  };
  await Promise.all([cluster.run(host, signal), cluster.source.run(sink, signal)]);
}

function runningStatus(pod: Pod): PodStatus {
  const startedAt = '2026-05-01T12:00:00Z';
  return {
    phase: 'Running',
    startTime: startedAt,
    conditions: [{type: 'Ready', status: 'True', lastTransitionTime: startedAt}],
    containerStatuses: pod.spec.containers.map(({name, image}) => ({
      ...{name, image, imageID: image, containerID: `containerd://${podRef(pod).uid}`},
      ...{ready: true, started: true, restartCount: 0, lastState: {}, state: {running: {startedAt}}},
    })),
  };
}

/** Returns a pseudorandom source of 32 bits (xorshift), so that runs are equal. */
function createRandom(seed: number): RandomSource {
  let state = (seed + 1) * 2_654_435_761;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}
