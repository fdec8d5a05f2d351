import {anySignal} from '../../base/async/any-signal.js';
import {systemRandom, type Clock, type RandomSource} from '../../base/clock.js';
import {SystemError} from '../../base/errors.js';
import {removeAbandonedFilesBelow} from '../../base/fs/atomic-write.js';
import {acquireLock, type Lock} from '../../base/fs/lock.js';
import type {Node} from '../../api/types/v1-node.js';
import type {Logger} from '../../base/logger.js';
import {finishesWithin} from '../../base/async/deadline.js';
import type {ImageService, PodUid, RuntimeService} from '../../cri/index.js';
import {configSourceOf} from '../sources/static-pod.js';
import {nodeObjectFacts, type ClusterLink} from '../contract/cluster/cluster-link.js';
import {logNodeEvent, type NodeEvent} from '../contract/cluster/node-event.js';
import type {PodStates} from '../contract/pod-update.js';
import type {PodEvent} from '../contract/pod-event.js';
import type {NodeManager} from '../contract/node-manager.js';
import {namespacedName, podRef, type PodRef} from '../contract/pod-ref.js';
import {enforceNodeAllocatable, enforceReservations} from './enforce-node-allocatable.js';
import {ManifestServices} from './manifest-services.js';
import {RejectionRecorder} from './rejection-recorder.js';
import type {NodeMeasurement, NodePressureSource} from './create-node-pressure.js';
import {createKubeletCore, type KubeletCore} from './kubelet-core.js';
import {KubeletView} from './introspection/kubelet-view.js';
import type {NodeAndRuntime} from '../pods/registry/read-node.js';
import {openPodRegistry} from '../pods/registry/open-pod-registry.js';
import type {PodObserver} from '../pods/registry/pod-registry-options.js';
import {kubeletLockPath} from '../pods/registry/running-kubelet.js';
import {toLoggedContainer} from './logged-container.js';
import type {ImageGcManager} from '../managers/images/gc/image-gc-manager.js';
import type {ImageGcPolicy} from '../managers/images/gc/image-gc-policy.js';
import {createImageCollector} from './create-image-collector.js';
import type {ContainerGcPolicy} from '../pods/gc/container-gc.js';
import {OrphanedPods} from '../pods/gc/orphaned-pods.js';
import {LogRotator, type LogRotationOptions} from '../managers/logs/log-rotator.js';
import {createNodeManagers} from '../pods/node-managers/create-node-managers.js';
import {NodeManagerSet} from '../pods/node-managers/node-manager-set.js';
import {createNodeManagerServices} from './node-manager-services.js';
import {ManagedPods} from '../pods/registry/managed-pods.js';
import {PodManager} from '../pods/registry/pod-manager.js';
import type {PodRegistry} from '../pods/registry/pod-registry.js';
import type {PodSources, PodSourcesSink} from './open-pod-sources.js';
import {createSourcesSink} from './sources-sink.js';
import {KUBELET_RESTART_GRACE_MS} from '../managers/probes/probe-decision.js';
import {SecretRegistry} from '../managers/redaction/secret-registry.js';
import {NO_METRICS, type KubeletMetrics} from '../contract/kubelet-metrics.js';
import type {PlegNotice} from '../managers/pleg/pleg-notice.js';
import {createPlegNoticeLogger} from './log-pleg-notices.js';
import {ManagedPodsBinding} from './managed-pods-binding.js';
import {SyncLoopQueue} from './sync-loop-queue.js';

/** Options of a kubelet. */
export interface KubeletOptions {
  readonly node: NodeAndRuntime;
  readonly runtime: RuntimeService;
  /** Opens the pod sources (openPodSources with its options). */
  readonly openSources: (sink: PodSourcesSink) => PodSources;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random?: RandomSource;
  /** Period of the sync of an idle pod, in ms. It may change at any time, as may images and logRotation. */
  readonly syncFrequencyMs: number;
  /** True if pods are rejected if the node lacks the capacity for them. */
  readonly admission: boolean;
  /** True to use the runtime's events if it supports them. */
  readonly eventedPleg: boolean;
  /** True to stop all pods when the kubelet stops. By default they keep running. */
  readonly stopPodsOnExit: boolean;
  /**
   * Called with the root directory locked, before any pod is changed. The result is disposed when the kubelet stops.
   */
  readonly onLockAcquired?: () => Promise<AsyncDisposable>;
  /** Policy of the container GC; the kubelet's defaults if undefined. */
  readonly containerGc?: ContainerGcPolicy | undefined;
  /** Image service and policy of the image GC; without them no image is removed. */
  readonly images?: {readonly service: ImageService; readonly policy?: ImageGcPolicy | undefined};
  /** Thresholds of node-pressure eviction, and observation of the node; without it no pod is evicted for the node. */
  readonly eviction?: NodeMeasurement;
  /** Limits of container logs; the kubelet's defaults if undefined. */
  readonly logRotation?: LogRotationOptions | undefined;
  /** Sets the secret values to redact. */
  readonly hide: (texts: readonly string[]) => void;
  /** Called for each event, after it was logged. */
  readonly onEvent?: (event: PodEvent) => void;
  /** Metrics of the kubelet; by default nothing is counted. */
  readonly metrics?: KubeletMetrics & {pleg(notice: PlegNotice): void};
  /** Managers of the node's resources; those of createNodeManagers by default. */
  readonly nodeManagers?: readonly NodeManager[] | undefined;
  /** Cluster that the kubelet joins; none by default. */
  readonly cluster?: ClusterLink | undefined;
}

/** Time limit for work in progress when the kubelet stops, in ms. The next kubelet resumes unfinished work. */
const LAST_WORK_MS = 2000;

/** The daemon: the kubelet core with file and HTTP sources, image GC and log rotation (kubelet.go Run). */
export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #manager: PodManager;
  readonly #sources: PodSources;
  readonly #services: ManifestServices;
  readonly #nodeManagers: NodeManagerSet;
  readonly #registry: PodRegistry;
  readonly #own: ManagedPods;
  readonly #core: KubeletCore;
  readonly #rejections: RejectionRecorder;
  readonly #images: ImageGcManager | undefined;
  /** Stops the parts, after the sync loop has stopped. */
  readonly #end = new AbortController();
  /** Read-only view for servers, metrics and introspection. */
  readonly view: KubeletView;

  constructor(options: KubeletOptions) {
    const {node, clock, logger, random = systemRandom, metrics = NO_METRICS} = options;
    const queue = new SyncLoopQueue();
    const manager = new PodManager();
    const binding = new ManagedPodsBinding();
    const secrets = new SecretRegistry((uid) => binding.isManaged(uid), options.hide);
    const logEvent = createEventLogger(options);
    const events = (event: PodEvent): void => {
      if (!binding.recordEvent(event)) logEvent(event);
    };
    const podStates = createPodStates(() => this.#core);
    const services = new ManifestServices({node: node.node, clock, logger});
    const sink = createSourcesSink({queue, secrets, services, logger, events, podStates});
    const sources = options.openSources(sink);
    const clusterNode = (): Node | undefined => options.cluster?.node();
    const podChanged = (uid: PodUid): void => {
      sources.podChanged();
      options.cluster?.podChanged(uid);
    };
    const observer = createPodObserver({secrets, logger, logEvent, podChanged});
    const objects = services.bind(sources.objects, options.cluster?.objects);
    const nodeManagers = new NodeManagerSet(options.nodeManagers ?? createNodeManagers(node.node));
    const registry = openPodRegistry(withClusterIps(node, options.cluster), observer, objects, {
      ...{probeRandom: random, probeRestartGraceMs: KUBELET_RESTART_GRACE_MS, metrics, nodeManagers},
    });
    const originOf = (uid: PodUid): string => manager.get(uid)?.origin ?? '';
    const own = new ManagedPods({local: registry, logger, originOf});
    binding.bind(own);
    const rejections = new RejectionRecorder({registry, logger, originOf});
    const core = createKubeletCore({
      rejections,
      ...{queue, manager, registry, own, clock, random, logger, events, metrics},
      createOrphanedPods: (parts) =>
        new OrphanedPods({...parts, own, local: registry, clock, logger, metrics}),
      ...{runtime: options.runtime, node: node.node, observer: services.observer},
      get syncFrequencyMs() {
        return options.syncFrequencyMs;
      },
      eventedPleg: options.eventedPleg,
      onPlegNotice: createPlegNoticeListener(options),
      ...{admission: options.admission, containerGc: options.containerGc},
      nodePressure: createNodePressureSource(options, () => this.#images),
      seenAllSources: (handled) => sources.seenAllSources(handled),
      onPodChanged: podChanged,
      nodeObject: () => nodeObjectFacts(clusterNode()),
      signal: this.#end.signal,
    });
    this.#options = options;
    this.#manager = manager;
    this.#sources = sources;
    this.#services = services;
    this.#nodeManagers = nodeManagers;
    this.#registry = registry;
    this.#own = own;
    this.#core = core;
    this.#rejections = rejections;
    this.#images = createImageGc(options, manager);
    const parts = {manager, probes: registry.probes, starts: registry.starts, clock, clusterNode};
    this.view = new KubeletView({...core, ...parts, sourceProblems: () => sources.problems(), registry});
  }

  /**
   * Runs the kubelet until the signal aborts, with the root directory locked. Pods keep running unless stopPodsOnExit
   * is set. Rejects with SystemError when the kubelet cannot start, and when it must be restarted.
   */
  async run(signal: AbortSignal): Promise<void> {
    const lock = await this.#lockRootDir(signal);
    try {
      await removeAbandonedFilesBelow(this.#options.node.node.rootDir);
      const started = await this.#options.onLockAcquired?.();
      try {
        await this.#runLocked(signal);
      } finally {
        await started?.[Symbol.asyncDispose]();
      }
    } finally {
      await lock[Symbol.asyncDispose]();
    }
  }

  async #runLocked(signal: AbortSignal): Promise<void> {
    const {logger, clock, stopPodsOnExit} = this.#options;
    const {allocations, runtimeState, pleg, loop, workers, pods, background} = this.#core;
    await this.#own.load();
    this.#rejections.start();
    for (const {pod} of this.#own.presentRecords()) allocations.grant(pod);
    await background.attempt('runtime check', runtimeState.check(signal));
    const {node} = this.#options.node;
    const record = (event: NodeEvent): void => {
      recordNodeEvent(this.#options, event);
    };
    const allocatable = {node, clock, logger: logger.forFile('kubelet.ts'), record};
    await enforceReservations(allocatable);
    await this.#nodeManagers.start(createNodeManagerServices(this.#options, this.#core), signal);
    await using _hosts = this.#services.start(this.#registry);
    const parts = [
      runtimeState.run(this.#end.signal, {
        onChecked: () => this.#options.cluster?.runtimeChecked(),
        background,
      }),
      pleg.run(),
      this.#createLogRotator().run(this.#end.signal),
      this.#images?.run(this.#end.signal) ?? Promise.resolve(),
      this.#sources.run(this.#end.signal),
      this.#options.cluster?.run(this.view, this.#end.signal) ?? Promise.resolve(),
      enforceNodeAllocatable(allocatable, this.#end.signal),
      this.#nodeManagers.run(this.#options, this.#end.signal),
    ];
    const endLoop = new AbortController();
    using either = anySignal(signal, endLoop.signal);
    try {
      await Promise.race([loop.run(either.signal), Promise.all(parts)]);
      if (stopPodsOnExit) await this.#stopPods();
    } finally {
      endLoop.abort(); // it still runs if a part has failed
      const stopped = workers.stop();
      for (const {uid} of this.#own.presentRecords()) this.#registry.probes?.abandon(uid);
      await finishesWithin(stopped, LAST_WORK_MS, clock, this.#end.signal);
      await finishesWithin(background.idle(), LAST_WORK_MS, clock, this.#end.signal);
      await finishesWithin(pods.flush(), LAST_WORK_MS, clock, this.#end.signal);
      await this.#rejections.flush();
      this.#end.abort();
      await Promise.all(parts);
      logger.forFile('kubelet.ts').info('Kubelet stopped');
    }
  }

  #createLogRotator(): LogRotator {
    const {runtime, clock, logger, logRotation} = this.#options;
    const running = () =>
      this.#core.pods.runningContainers().map((container) => toLoggedContainer(container));
    return new LogRotator({runtime, running, clock, logger}, logRotation);
  }

  /** Reads all sources again and triggers the image GC. */
  reread(): void {
    this.#sources.reread();
    this.#images?.trigger();
  }

  async #lockRootDir(signal: AbortSignal): Promise<Lock> {
    const {rootDir} = this.#options.node.node;
    return await acquireLock(kubeletLockPath(rootDir), {
      signal,
      onWait: (pid) => {
        throw new SystemError(`another kcri kubelet (PID ${pid}) already uses root directory "${rootDir}"`, {
          hint: 'stop that kubelet first, or use another --root-dir',
        });
      },
    });
  }

  async #stopPods(): Promise<void> {
    const ended = this.#manager.list().map(
      async ({pod}) =>
        new Promise<void>((resolve) => {
          this.#core.workers.update({type: 'kill', pod, kill: {onCompleted: resolve}});
        }),
    );
    await Promise.all(ended);
  }
}

/** Returns a function that logs an event as the kubelet does (client-go's StartStructuredLogging), and sends it. */
function createEventLogger({logger, cluster, onEvent}: KubeletOptions): (event: PodEvent) => void {
  return (event) => {
    const {type, reason, message, pod, fieldPath = ''} = event;
    logger.forFile('kubelet.ts').info('Event occurred', {
      object: namespacedName(podRef(pod)),
      fieldPath,
      kind: 'Pod',
      apiVersion: 'v1',
      type,
      reason,
      message,
    });
    cluster?.event(event);
    onEvent?.(event);
  };
}

/** Returns the node with the host IPs of its Node object, once that is known (getHostIPsAnyWay). */
function withClusterIps(node: NodeAndRuntime, cluster: ClusterLink | undefined): NodeAndRuntime {
  if (cluster === undefined) return node;
  const own = node.node.hostIps;
  const hostIps = {
    get current() {
      return (nodeObjectFacts(cluster.node())?.hostIps ?? own).current;
    },
  };
  return {...node, node: {...node.node, hostIps}};
}

/** Returns the states of the pods of a core that is created later. */
function createPodStates(core: () => KubeletCore): PodStates {
  return {
    status: (uid) => core().handler.knownStatus(uid),
    isPresent: (uid) => {
      const {handler, workers, pods} = core();
      return handler.isRejected(uid) || workers.isKnown(uid) || pods.getPod(uid) !== undefined;
    },
    listRecorded: (source) =>
      core()
        .pods.presentRecords()
        .filter(({pod}) => configSourceOf(pod) === source)
        .map(({uid, pod, source: origin}) => ({uid, pod, origin})),
  };
}

function createPodObserver({
  secrets,
  logger,
  logEvent,
  podChanged,
}: {
  readonly secrets: SecretRegistry;
  readonly logger: Logger;
  readonly logEvent: (event: PodEvent) => void;
  readonly podChanged: (uid: PodUid) => void;
}): PodObserver {
  return {
    event: logEvent,
    call: () => undefined,
    waitingForLock: () => undefined,
    secret: (texts: readonly string[], {uid}: PodRef): void => {
      secrets.setPodValues(uid, texts);
    },
    statusChanged: ({uid}: PodRef): void => {
      podChanged(uid);
    },
    recordingFailed: (ref: PodRef, error: unknown): void => {
      logger
        .forFile('kubelet.ts')
        .error(error, 'Failed to record the state of a pod', {pod: namespacedName(ref)});
    },
  };
}

function createPlegNoticeListener({logger, metrics}: KubeletOptions): (notice: PlegNotice) => void {
  const log = createPlegNoticeLogger(logger);
  return (notice) => {
    log(notice);
    metrics?.pleg(notice);
  };
}

/** Logs an event about the node, and sends it. */
function recordNodeEvent(
  {node, logger, cluster}: Pick<KubeletOptions, 'node' | 'logger' | 'cluster'>,
  event: NodeEvent,
): void {
  logNodeEvent(logger.forFile('kubelet.ts'), node.node.nodeName, event);
  cluster?.nodeEvent(event);
}

/** Returns the source of node-pressure eviction; the image GC is created later. */
function createNodePressureSource(
  options: KubeletOptions,
  images: () => ImageGcManager | undefined,
): NodePressureSource | undefined {
  return (
    options.eviction && {
      ...options.eviction,
      deleteUnusedImages: async (signal) => await images()?.deleteUnused(signal),
      nodeEvent: (event) => {
        recordNodeEvent(options, event);
      },
    }
  );
}

function createImageGc(options: KubeletOptions, manager: PodManager): ImageGcManager | undefined {
  const {node, runtime, images, logger, metrics} = options;
  if (images === undefined) return undefined;
  const {service, policy} = images;
  const pods = () => manager.list().map(({pod}) => pod);
  const nodeWarning = (reason: string, message: string): void => {
    recordNodeEvent(options, {type: 'Warning', reason, message});
  };
  const collected = (reason: 'age' | 'space'): void => metrics?.imageCollected(reason);
  return createImageCollector({
    ...{node, runtime, images: service, logger, policy, pods, nodeWarning},
    collected,
  });
}
