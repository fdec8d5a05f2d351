import type {Node} from '../../api/types/v1-node.js';
import {systemRandom} from '../../base/clock.js';
import type {Logger} from '../../base/logger.js';
import type {PodUid} from '../../cri/index.js';
import {nodeObjectFacts, type ClusterLink} from '../contract/cluster/cluster-link.js';
import {NO_METRICS} from '../contract/kubelet-metrics.js';
import type {PodEvent} from '../contract/pod-event.js';
import {namespacedName, podRef, type PodRef} from '../contract/pod-ref.js';
import type {PodStates} from '../contract/pod-update.js';
import {KUBELET_RESTART_GRACE_MS} from '../managers/probes/probe-decision.js';
import {SecretRegistry} from '../managers/redaction/secret-registry.js';
import {createCheckpointStore} from '../pods/allocation/actuated-resources-store.js';
import {CheckpointedResources, podResourceCheckpointPath} from '../pods/allocation/checkpointed-resources.js';
import {createNodeManagers} from '../pods/node-managers/create-node-managers.js';
import {NodeManagerSet} from '../pods/node-managers/node-manager-set.js';
import {PodTimelines} from '../pods/history/pod-timelines.js';
import {ManagedPods} from '../pods/registry/managed-pods.js';
import {openPodRegistry} from '../pods/registry/open-pod-registry.js';
import {PodManager} from '../pods/registry/pod-manager.js';
import type {PodObserver} from '../pods/registry/pod-registry-options.js';
import type {PodRegistry} from '../pods/registry/pod-registry.js';
import type {NodeAndRuntime} from '../pods/registry/read-node.js';
import {KeptStaticPods} from '../pods/takeover/kept-static-pods.js';
import {configSourceOf} from '../sources/static-pod.js';
import type {KubeletCore} from './kubelet-core.js';
import type {KubeletOptions} from './kubelet-options.js';
import {ManagedPodsBinding} from './managed-pods-binding.js';
import {ManifestServices} from './manifest-services.js';
import type {PodSources, PodSourcesSink} from './open-pod-sources.js';
import {RejectionRecorder} from './rejection-recorder.js';
import {createSourcesSink} from './sources-sink.js';
import {SyncLoopQueue} from './sync-loop-queue.js';

/** Parts below the core of a kubelet: pod sources, registry and the sets of pods. */
export interface KubeletParts {
  readonly queue: SyncLoopQueue;
  /** Pods of the sources. */
  readonly manager: PodManager;
  readonly sources: PodSources;
  readonly services: ManifestServices;
  readonly nodeManagers: NodeManagerSet;
  readonly registry: PodRegistry;
  /** Pods that this kubelet has created. */
  readonly own: ManagedPods;
  readonly kept: KeptStaticPods;
  readonly resources: PodResources;
  readonly rejections: RejectionRecorder;
  /** Steps of the pods' lives with their times. */
  readonly timelines: PodTimelines;
  /** Records an event that is raised outside of a sync. */
  readonly events: (event: PodEvent) => void;
  readonly podChanged: (uid: PodUid) => void;
  readonly clusterNode: () => Node | undefined;
}

/** Resources of the pods, in the files of a kubelet. */
interface PodResources {
  readonly allocated: CheckpointedResources;
  readonly actuated: CheckpointedResources;
}

/**
 * Opens the parts below the core. Reads and starts nothing. `core` is called once the sources run: they ask for the states of the
 * pods that they deliver to it.
 */
export function openKubeletParts(options: KubeletOptions, core: () => KubeletCore): KubeletParts {
  const {node, clock, logger, random = systemRandom, metrics = NO_METRICS} = options;
  const queue = new SyncLoopQueue();
  const manager = new PodManager();
  const binding = new ManagedPodsBinding();
  const secrets = new SecretRegistry((uid) => binding.isManaged(uid), options.hide);
  const logEvent = createEventLogger(options);
  const events = (event: PodEvent): void => {
    if (!binding.recordEvent(event)) logEvent(event);
  };
  const services = new ManifestServices({node: node.node, clock, logger});
  const kept = new KeptStaticPods({runtime: node.services.runtime, node: node.node, logger});
  const keepStaticPod: PodSourcesSink['keepStaticPod'] = (pod, objects) => kept.withRunningUid(pod, objects);
  const podStates = createPodStates(core);
  const sink = {queue, secrets, services, logger, events, podStates, keepStaticPod};
  const sources = options.openSources(createSourcesSink(sink));
  const podChanged = (uid: PodUid): void => {
    sources.podChanged();
    options.cluster?.podChanged(uid);
  };
  const timelines = new PodTimelines(clock);
  const observer = createPodObserver({secrets, logger, logEvent, podChanged, timelines});
  const objects = services.bind(sources.objects, options.cluster?.objects);
  const nodeManagers = new NodeManagerSet(options.nodeManagers ?? createNodeManagers(node.node));
  const resources = createPodResources(options);
  const registry = openPodRegistry(withClusterIps(node, options.cluster), observer, objects, {
    ...{probeRandom: random, probeRestartGraceMs: KUBELET_RESTART_GRACE_MS, metrics, nodeManagers},
    actuated: createCheckpointStore(resources.actuated),
  });
  const originOf = (uid: PodUid): string => manager.get(uid)?.origin ?? '';
  const own = new ManagedPods({local: registry, logger, originOf});
  binding.bind(own);
  const rejections = new RejectionRecorder({registry, logger, originOf});
  const clusterNode = (): Node | undefined => options.cluster?.node();
  return {
    ...{queue, manager, sources, services, nodeManagers, registry, own, kept, resources, rejections},
    ...{events, podChanged, clusterNode, timelines},
  };
}

function createPodResources({node, logger}: KubeletOptions): PodResources {
  const create = (what: keyof PodResources): CheckpointedResources =>
    new CheckpointedResources(podResourceCheckpointPath(node.node.rootDir, what), logger);
  return {allocated: create('allocated'), actuated: create('actuated')};
}

/** Returns a function that logs an event as the kubelet does (client-go's StartStructuredLogging), and sends it. */
function createEventLogger({logger, cluster, onEvent}: KubeletOptions): (event: PodEvent) => void {
  return (event) => {
    const {type, reason, message, pod, fieldPath = ''} = event;
    logger.forFile('open-kubelet-parts.ts').info('Event occurred', {
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
  timelines,
}: {
  readonly secrets: SecretRegistry;
  readonly logger: Logger;
  readonly logEvent: (event: PodEvent) => void;
  readonly podChanged: (uid: PodUid) => void;
  readonly timelines: PodTimelines;
}): PodObserver {
  const logFailure =
    (message: string) =>
    (ref: PodRef, error: unknown): void => {
      logger.forFile('open-kubelet-parts.ts').error(error, message, {pod: namespacedName(ref)});
    };
  return {
    event: logEvent,
    call: timelines.call,
    prepared: timelines.prepared,
    waitingForLock: () => undefined,
    secret: (texts: readonly string[], {uid}: PodRef): void => {
      secrets.setPodValues(uid, texts);
    },
    statusChanged: (pod, known): void => {
      timelines.statusChanged(pod, known);
      podChanged(podRef(pod).uid);
    },
    recordingFailed: logFailure('Failed to record the state of a pod'),
    linkFailed: logFailure('Failed to create legacy symbolic link'),
  };
}
