import {pause} from '../../base/async/pause.js';
import {decodeApiObject} from '../../api/json/decode-api-object.js';
import type {Node} from '../../api/types/v1-node.js';
import type {RuntimeClass} from '../../api/types/v1-objects.js';
import {abortable} from '../../base/async/abortable.js';
import type {Clock, RandomSource} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import type {PodUid} from '../../cri/index.js';
import {
  createCollection,
  Informer,
  Reflector,
  type ApiServer,
  type CollectionOptions,
  type ListedObject,
} from '../../kube-api/index.js';
import type {ClusterHost, ClusterLink} from '../contract/cluster/cluster-link.js';
import type {ClusterServices} from '../contract/kube-services.js';
import type {ResourceApi} from '../contract/cluster/resource-api.js';
import {logNodeEvent, type NodeEvent} from '../contract/cluster/node-event.js';
import type {PodEvent} from '../contract/pod-event.js';
import type {NodeSettings} from '../contract/cluster/node-settings.js';
import type {NodeFacts} from '../contract/node-facts.js';
import type {PodSource} from '../sources/pod-source.js';
import type {NodeCertificates} from './certificates/node-certificates.js';
import {ClusterCsi, CSI_DRIVERS, type CsiDriver} from './csi/cluster-csi.js';
import {EventSender} from './events/event-sender.js';
import {eventAboutNode, eventAboutPod} from './events/object-event.js';
import {NodeEvents} from './node/node-events.js';
import {NodeLease} from './node/node-lease.js';
import {NodeReporter} from './node/node-reporter.js';
import {createResourceApi} from './node/resource-claims.js';
import {deleteResourceSlices, type ResourceSliceOptions} from './node/resource-slices.js';
import {VolumesInUse} from './node/volumes-in-use.js';
import {createObjectFollower, type ChangeDetectionStrategy} from './objects/change-detection.js';
import {createApiSource} from './pods/api-source.js';
import {ApiStatusManager} from './pods/api-status-manager.js';
import {StartGate} from './start-gate.js';
import {MirrorPods} from './pods/mirror-pods.js';
import type {Service} from '../../api/services/service-variables.js';
import {ClusterObjects, RUNTIME_CLASSES, SERVICES} from './pods/cluster-objects.js';

/** Options of {@link joinCluster}. */
export interface JoinClusterOptions {
  readonly server: Pick<ApiServer, 'url' | 'client' | 'events' | 'heartbeats'>;
  readonly services: ClusterServices;
  readonly node: NodeFacts;
  readonly settings: NodeSettings;
  /** Certificates of the node; nothing else is sent before the client certificate is issued. */
  readonly certificates: Pick<NodeCertificates, 'managers' | 'issued'>;
  /** True to create the Node object if it is missing (registerNode). */
  readonly registerNode: boolean;
  /** Version of kcri, for nodeInfo. */
  readonly kcriVersion: string;
  /** Periods of the node's heartbeats, in ms; see NodeStatusUpdater. */
  readonly updateFrequencyMs: number;
  readonly reportFrequencyMs: number;
  readonly leaseDurationSeconds: number;
  /** Detection of changes of ConfigMaps and Secrets (configMapAndSecretChangeDetectionStrategy). */
  readonly changeDetection: ChangeDetectionStrategy;
  /** Period in ms in which the volumes of pods are refreshed (syncFrequency). */
  readonly syncFrequencyMs: number;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

/** A cluster and the source of the pods that it has for this node. */
export interface JoinedCluster extends ClusterLink {
  readonly source: PodSource;
}

/** Connects a kubelet to a cluster. Sends nothing before `run`. */
export function joinCluster(options: JoinClusterOptions): JoinedCluster {
  return new Cluster(options);
}

class Cluster implements JoinedCluster {
  readonly #options: JoinClusterOptions;
  readonly #statuses: ApiStatusManager;
  readonly #mirrors: MirrorPods;
  readonly #events: EventSender;
  readonly #nodeEvents: NodeEvents;
  readonly #reporter: NodeReporter;
  readonly objects: ClusterObjects;
  readonly resourceApi: ResourceApi;
  readonly #slices: Omit<ResourceSliceOptions, 'driver'>;
  readonly #volumesInUse: VolumesInUse;
  readonly csi: ClusterCsi;
  readonly source: PodSource;
  #node: Node | undefined;
  #nodeKnown: () => void = () => undefined;
  readonly #services: Informer<Service>;
  readonly #runtimeClasses: Informer<RuntimeClass>;
  readonly #csiDrivers: Informer<CsiDriver>;
  /** Facts about the kubelet; undefined before `run`. */
  #host: ClusterHost | undefined;

  constructor(options: JoinClusterOptions) {
    const {server, node, clock, random, logger} = options;
    const {client, url} = server;
    this.#options = options;
    this.#slices = {client, nodeName: node.nodeName, clock, logger};
    this.resourceApi = createResourceApi(this.#slices);
    this.#statuses = new ApiStatusManager({client, clock, logger});
    this.#mirrors = new MirrorPods({
      ...{client, clock, logger},
      node: () => this.#node,
      statusesTried: async () => this.#statuses.waitUntilTried(),
    });
    this.#services = this.#createInformer<Service>('*v1.Service', SERVICES);
    this.#runtimeClasses = this.#createInformer<RuntimeClass>('*v1.RuntimeClass', RUNTIME_CLASSES);
    this.#csiDrivers = this.#createInformer<CsiDriver>('*v1.CSIDriver', CSI_DRIVERS);
    this.#volumesInUse = new VolumesInUse({watched: () => this.#node, statusChanged: this.#statusChanged});
    this.csi = this.#createCsi();
    this.objects = new ClusterObjects({
      ...{client, origin: url, clock},
      services: this.#services,
      runtimeClasses: this.#runtimeClasses,
      node: () => ({nodeName: node.nodeName, labels: this.#node?.metadata.labels ?? node.labels}),
      follow: createObjectFollower({
        ...{client, clock, random, logger},
        strategy: options.changeDetection,
        syncFrequencyMs: options.syncFrequencyMs,
        node: () => this.#node,
      }),
    });
    this.#events = new EventSender({
      client: server.events,
      nodeName: node.nodeName,
      clock,
      random,
      logger,
    });
    const log = logger.forFile('join-cluster.ts');
    this.#nodeEvents = new NodeEvents(node.nodeName, (event) => {
      logNodeEvent(log, node.nodeName, event);
      this.nodeEvent(event);
    });
    this.#reporter = new NodeReporter({
      ...options,
      ...{client, heartbeats: server.heartbeats, events: this.#nodeEvents},
      volumesInUse: this.#volumesInUse,
      watched: () => this.#node,
    });
    this.source = this.#createSource();
  }

  readonly #statusChanged = (): void => {
    this.nodeStatusChanged();
  };

  #createCsi(): ClusterCsi {
    const {server, node, settings, clock, logger} = this.#options;
    return new ClusterCsi({
      ...{client: server.client, nodeName: node.nodeName, clock, logger},
      drivers: this.#csiDrivers,
      attachesVolumes: settings.controllerAttaches,
      onEvent: (event) => {
        this.#events.event(event);
      },
      volumesInUse: this.#volumesInUse,
      statusChanged: this.#statusChanged,
    });
  }

  #createSource(): PodSource {
    const {server, node, clock, random} = this.#options;
    const {client, url: origin} = server;
    const ready = new Promise<void>((resolve) => {
      this.#nodeKnown = resolve;
    });
    const pods = createCollection({
      client,
      path: '/api/v1/pods',
      fieldSelector: `spec.nodeName=${node.nodeName}`,
      decode: (value) => decodeApiObject(value, 'Pod'),
      random,
    });
    return createApiSource({pods, origin, ready, clock, random});
  }

  node(): Node | undefined {
    return this.#node;
  }

  event(event: PodEvent): void {
    this.#events.event(eventAboutPod(event));
  }

  nodeEvent(event: NodeEvent): void {
    this.#events.event(eventAboutNode(this.#options.node.nodeName, event));
  }

  nodeStatusChanged(): void {
    this.#reporter.statusChanged();
  }

  runtimeChecked(): void {
    this.#reporter.runtimeChecked();
  }

  podChanged(uid: PodUid): void {
    if (this.#host !== undefined && !this.#usesObjects(this.#host, uid)) this.objects.release(uid);
    this.#statuses.podChanged(uid);
    this.#mirrors.changed();
  }

  async run(host: ClusterHost, signal: AbortSignal): Promise<void> {
    this.#host = host;
    const {node, certificates} = this.#options;
    this.#nodeEvents.started(node.cgroup.version);
    try {
      await Promise.all([
        ...certificates.managers.map(async (manager) => await manager.run(signal)),
        abortable(certificates.issued, signal).then(async () => this.#report(host, signal)),
      ]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.objects.stop();
    }
  }

  /** Watches what the kubelet needs, and reports its state, until the signal aborts. */
  async #report(host: ClusterHost, signal: AbortSignal): Promise<void> {
    const gate = new StartGate(host.starts, this.#options.clock);
    await Promise.all([
      this.#watchNode(signal),
      this.#services.run(signal),
      this.#runtimeClasses.run(signal),
      this.#csiDrivers.run(signal),
      this.#reporter.run(host, signal),
      this.#createLease().run(signal),
      deleteResourceSlices(this.#slices, signal),
      this.#statuses.run(host, gate, signal),
      this.#mirrors.run(host, signal),
      this.#events.run(gate, signal),
      this.#forgetObjects(host, signal),
    ]);
  }

  /** Reports whether a pod can still read the objects that it refers to. */
  #usesObjects(host: ClusterHost, uid: PodUid): boolean {
    return host.podState(uid)?.isFinished === false;
  }

  #createInformer<T extends ListedObject>(
    type: string,
    collection: Pick<CollectionOptions<T>, 'path' | 'fieldSelector' | 'decode'>,
  ): Informer<T> {
    const {server, clock, random, logger} = this.#options;
    const log = logger.forFile('join-cluster.ts');
    return new Informer<T>({
      collection: createCollection<T>({client: server.client, ...collection, random}),
      onFailure: (error) => {
        log.error(error, 'Failed to watch', {type});
      },
      clock,
      random,
    });
  }

  async #watchNode(signal: AbortSignal): Promise<never> {
    const {server, node, clock, random, logger} = this.#options;
    const log = logger.forFile('join-cluster.ts');
    const collection = createCollection<Node>({
      client: server.client,
      path: '/api/v1/nodes',
      fieldSelector: `metadata.name=${node.nodeName}`,
      decode: (value) => value as Node,
      random,
    });
    return await new Reflector<Node>({
      collection,
      onChange: ([current]) => {
        this.#node = current;
        this.#nodeKnown();
        this.#mirrors.changed();
        this.#volumesInUse.changed();
        if (current !== undefined) this.#reporter.nodeChanged(current);
      },
      onFailure: (error) => {
        log.error(error, 'Failed to watch', {type: '*v1.Node'});
      },
      clock,
      random,
    }).run(signal);
  }

  #createLease(): NodeLease {
    const {server, node, leaseDurationSeconds, clock, random, logger} = this.#options;
    return new NodeLease({
      client: server.heartbeats,
      nodeName: node.nodeName,
      leaseDurationSeconds,
      clock,
      random,
      logger,
    });
  }

  /** Forgets the objects of removed pods now and then. */
  async #forgetObjects(host: ClusterHost, signal: AbortSignal): Promise<never> {
    const {clock} = this.#options;
    for (;;) {
      await pause(clock, FORGET_PERIOD_MS, signal);
      const uids = host.podUids().filter((uid) => this.#usesObjects(host, uid));
      const inUse: ReadonlySet<string> = new Set(uids);
      const keep = (uid: string): boolean => inUse.has(uid);
      this.objects.retain(keep);
      this.csi.retain(keep);
    }
  }
}

const FORGET_PERIOD_MS = 60_000;
