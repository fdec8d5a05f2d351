import {open} from 'node:fs/promises';
import {afterEach, expect, test, vi, type MockInstance} from 'vitest';
import type {RecordedRequest} from '../../fakes/api-server/fake-api-server.js';
import {ClusterTestbed, LEASE_PATH} from './cluster-testbed.js';
import {excessOver, tally, type Cost, type Limits} from './pod-life-limits.js';

/*
 * Gates against a slower or busier life of a pod: times of the fake clock, which only waits add to, and the numbers of
 * calls of the CRI, requests to the API server and fsyncs. None of them depends on the machine. A limit may be lowered;
 * raise it only on purpose, and say in the commit why.
 */

/**
 * Limits of a pod's steps on both kinds of runtimes. Of the fsyncs of a start, two are those of a kubelet (allocated and actuated
 * resources), two those of the pod's record. The lists of periodic calls hold those of the node and of the PLEG. */
const LIMITS = {
  with: {
    start: [
      'ms from the manifest to StartContainer 0, fsyncs 4',
      'RunPodSandbox 1, CreateContainer 1, StartContainer 1',
      'ImageStatus 2, PodSandboxStatus 2, ContainerStatus 1, ListPodSandbox 1, ListContainers 1',
      'GET pods 3, PATCH pods/status 3, POST events 3',
      'Status 1, Version 1, ListImages 1, PUT leases 1',
    ],
    idle: [
      'Status 67, Version 33, ListImages 33, ListPodSandbox 11, ListContainers 11',
      'PUT leases 33, PATCH nodes/status 1',
      'WATCH pods 1, WATCH nodes 1, WATCH services 1, WATCH runtimeclasses 1, WATCH csidrivers 1',
    ],
    restart: [
      'ms from ContainerDied to StartContainer 0',
      'CreateContainer 1, StartContainer 1',
      'ImageStatus 2, PodSandboxStatus 2, ContainerStatus 3, ListPodSandbox 2, ListContainers 2',
      'GET pods 2, PATCH pods/status 2, PATCH events 3',
      'Status 1, Version 1, ListImages 1, PUT leases 1',
    ],
    deletion: [
      'fsyncs 4, StopContainer 1, StopPodSandbox 1, RemoveContainer 2',
      // Inspections at one moment of the clock may be combined.
      'PodSandboxStatus 8, ContainerStatus 11, ListPodSandbox 9, ListContainers 9',
      'GET pods 3, PATCH pods/status 2, POST events 1, DELETE pods 1',
      'Status 1, Version 1, ListImages 1, PUT leases 1',
    ],
  },
  without: {
    start: [
      'ms from the manifest to StartContainer 0, fsyncs 4',
      'RunPodSandbox 1, CreateContainer 1, StartContainer 1',
      'ImageStatus 2, PodSandboxStatus 2, ContainerStatus 1, ListPodSandbox 6, ListContainers 6',
      'GET pods 3, PATCH pods/status 3, POST events 3',
      'Status 1, Version 1, ListImages 1, PUT leases 1',
    ],
    idle: [
      'Status 67, Version 33, ListImages 33, ListPodSandbox 335, ListContainers 335',
      'PUT leases 33, PATCH nodes/status 1',
      'WATCH pods 1, WATCH nodes 1, WATCH services 1, WATCH runtimeclasses 1, WATCH csidrivers 1',
    ],
    restart: [
      // MAX_VISIBLE_MS of a container that is tentatively started.
      'ms from ContainerDied to StartContainer 50',
      'CreateContainer 1, StartContainer 1',
      'ImageStatus 2, PodSandboxStatus 2, ContainerStatus 3, ListPodSandbox 8, ListContainers 8',
      'GET pods 2, PATCH pods/status 2, PATCH events 3',
      'Status 1, Version 1, ListImages 1, PUT leases 1',
    ],
    deletion: [
      'fsyncs 4, StopContainer 1, StopPodSandbox 1, RemoveContainer 2',
      'PodSandboxStatus 6, ContainerStatus 7, ListPodSandbox 11, ListContainers 11',
      'GET pods 3, PATCH pods/status 2, POST events 1, DELETE pods 1',
      'Status 1, Version 1, ListImages 1, PUT leases 1',
    ],
  },
} satisfies Record<string, Limits>;

/** Long enough for everything that happens every five minutes, in ms. */
const IDLE_MS = 330_000;
/** Time after a step of the life in which calls belong to it, in ms: statuses, events and inspections follow at once. */
const SETTLE_MS = 5000;

let fsyncs: MockInstance;

/** Counts the fsyncs of this process from now on. */
async function countFsyncs(): Promise<void> {
  await using file = await open('/dev/null');
  fsyncs = vi.spyOn(Object.getPrototypeOf(file) as typeof file, 'sync');
}

afterEach(() => {
  fsyncs.mockRestore();
});

/** Names a request by verb and resource, such as `PATCH pods/status`. */
function nameOf({method, path, query}: RecordedRequest): string {
  const verb = method === 'GET' && 'watch' in query ? 'WATCH' : method;
  const parts = path.split('/').slice(path.startsWith('/api/') ? 3 : 4);
  const [resource, , subresource] = parts[0] === 'namespaces' && parts.length > 2 ? parts.slice(2) : parts;
  return `${verb} ${[resource, subresource].filter((part) => part !== undefined).join('/')}`;
}

/** A pod's life on a kubelet in a cluster, and what each step of it costs. */
class PodLife {
  readonly costs: Record<string, Cost> = {};
  readonly #testbed: ClusterTestbed;

  constructor(testbed: ClusterTestbed) {
    this.#testbed = testbed;
  }

  /** Waits until the node is registered and its periodic parts run. */
  async settle(): Promise<void> {
    const {api, daemon} = this.#testbed;
    await daemon.until('the node has a lease', () => api.storage.get(LEASE_PATH) !== undefined);
    await daemon.clock.sleep(SETTLE_MS);
    this.#clear();
  }

  /** Carries out a step, which resolves with the times that it took, and stores its cost. */
  async step(name: string, act: () => Promise<Cost>): Promise<void> {
    const {api, daemon} = this.#testbed;
    const times = await act();
    await daemon.clock.sleep(SETTLE_MS);
    this.costs[name] = {
      ...times,
      ...tally([...daemon.fake.calls.map(({method}) => method), ...api.requests.map(nameOf)]),
      fsyncs: fsyncs.mock.calls.length,
    };
    this.#clear();
  }

  #clear(): void {
    const {api, daemon} = this.#testbed;
    daemon.fake.clearCalls();
    api.requests.length = 0;
    fsyncs.mockClear();
  }

  async start(): Promise<Cost> {
    const {daemon} = this.#testbed;
    const createdAt = daemon.clock.now();
    this.#testbed.createPod('web');
    await this.#testbed.untilPhase('web', 'Running');
    return {'ms from the manifest to StartContainer': this.#startedAt(0) - createdAt};
  }

  async idle(): Promise<Cost> {
    await this.#testbed.daemon.clock.sleep(IDLE_MS);
    return {};
  }

  async restart(): Promise<Cost> {
    const {daemon} = this.#testbed;
    daemon.log.length = 0;
    daemon.kill('main');
    await daemon.until('it runs again', () => daemon.running.includes('web/main/1'));
    const died = daemon.log.find(({fields}) => JSON.stringify(fields).includes('"Type":"ContainerDied"'));
    return {'ms from ContainerDied to StartContainer': this.#startedAt(1) - died!.at};
  }

  async delete(): Promise<Cost> {
    this.#testbed.api.deletePod('web');
    await this.#testbed.untilDeleted('web');
    return {};
  }

  #startedAt(attempt: number): number {
    const {ownContainers} = this.#testbed.daemon;
    const container = ownContainers.find(({config}) => config.metadata?.attempt === attempt);
    return Number(container!.startedAt / 1_000_000n);
  }
}

async function measureLife(eventedPleg: boolean): Promise<PodLife['costs']> {
  await countFsyncs();
  await using testbed = await ClusterTestbed.start(undefined, {eventedPleg});
  const life = new PodLife(testbed);
  await life.settle();
  await life.step('start', async () => life.start());
  await life.step('idle', async () => life.idle());
  await life.step('restart', async () => life.restart());
  await life.step('deletion', async () => life.delete());
  return life.costs;
}

test.each(['with', 'without'] as const)(
  'a pod on a runtime %s events stays within its limits',
  async (events) => {
    const costs = await measureLife(events === 'with');
    expect(excessOver(LIMITS[events], costs)).toEqual([]);
  },
);
