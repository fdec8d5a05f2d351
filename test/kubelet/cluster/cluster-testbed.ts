import type {PodStatus} from '../../../src/api/types/v1-status.js';
import type {ApiEvent} from '../../../src/kubelet/cluster/events/event-correlator.js';
import {FakeApiServer} from '../../fakes/api-server/fake-api-server.js';
import type {StoredObject} from '../../fakes/api-server/object-storage.js';
import {anImage, BUSYBOX} from '../../fakes/runtime-builders.js';
import {GOLDEN_NODE} from '../../golden/golden-cases.js';
import {DaemonTestbed, type DaemonTestbedOptions} from '../daemon/daemon-testbed.js';
import {joinFakeCluster, type JoinFakeClusterOptions} from './join-fake-cluster.js';

export const NODE_PATH = `/api/v1/nodes/${GOLDEN_NODE.nodeName}`;
export const LEASE_PATH = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${GOLDEN_NODE.nodeName}`;

/** Options of a cluster testbed. */
export interface ClusterTestbedOptions extends DaemonTestbedOptions, JoinFakeClusterOptions {
  /** API server to use instead of a new one; disposing of the testbed leaves it running. */
  readonly api?: FakeApiServer;
  /** Port of a proxy before the API server. */
  readonly port?: number;
}

/** A kubelet that has joined a fake API server, on a fake runtime. */
export class ClusterTestbed implements AsyncDisposable {
  readonly api: FakeApiServer;
  readonly daemon: DaemonTestbed;
  readonly #ownsApi: boolean;

  private constructor(api: FakeApiServer, daemon: DaemonTestbed, ownsApi: boolean) {
    this.api = api;
    this.daemon = daemon;
    this.#ownsApi = ownsApi;
  }

  /** Starts both; `prepare` runs before the kubelet. */
  static async start(
    prepare: (api: FakeApiServer) => Promise<void> | void = () => undefined,
    {port, ...options}: ClusterTestbedOptions = {},
  ): Promise<ClusterTestbed> {
    const {api = await FakeApiServer.start()} = options;
    await prepare(api);
    const server = new URL(api.url);
    if (port !== undefined) server.port = String(port);
    const daemon = await DaemonTestbed.start({
      runtime: {images: [anImage()]},
      ...options,
      join: (parts) => joinFakeCluster(server, parts, options),
    });
    const {clock} = daemon;
    api.now = () => clock.now();
    api.sleep = async (ms) => clock.sleep(ms);
    return new ClusterTestbed(api, daemon, options.api === undefined);
  }

  /** Creates a pod on the node of the kubelet. */
  createPod(name: string, spec: object = {}, metadata: object = {}): StoredObject {
    return this.api.createPod({
      metadata: {name, ...metadata},
      spec: {
        nodeName: GOLDEN_NODE.nodeName,
        terminationGracePeriodSeconds: 30,
        containers: [{name: 'main', image: BUSYBOX}],
        ...spec,
      },
    });
  }

  /** Status of a pod in the API server. */
  status(name: string): PodStatus {
    return this.api.pod(name)?.['status'] ?? {};
  }

  /** Events in the API server about objects of a kind. */
  events(kind: 'Node' | 'PersistentVolumeClaim' | 'Pod'): readonly ApiEvent[] {
    const events = this.api.storage.list('/api/v1/namespaces/default/events') as unknown as ApiEvent[];
    return events.filter(({involvedObject}) => involvedObject.kind === kind);
  }

  /** Waits until the API server has this phase of the pod. */
  async untilPhase(name: string, phase: string): Promise<void> {
    await this.daemon.until(`${name} is ${phase}`, () => this.status(name).phase === phase);
  }

  /** Waits until the pod is gone from the API server. */
  async untilDeleted(name: string): Promise<void> {
    await this.daemon.until(`${name} is deleted`, () => this.api.pod(name) === undefined);
  }

  /** Status patches of a pod in order. */
  statusPatches(name: string): readonly Readonly<Record<string, unknown>>[] {
    return this.api.requests
      .filter(({method, path}) => method === 'PATCH' && path.endsWith(`/pods/${name}/status`))
      .map(({body}) => body ?? {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.daemon[Symbol.asyncDispose]();
    if (this.#ownsApi) await this.api[Symbol.asyncDispose]();
  }
}
