import {anySignal} from '../../base/async/any-signal.js';
import {finishesWithin} from '../../base/async/deadline.js';
import {pause} from '../../base/async/pause.js';
import {rethrowUnexpected, SystemError} from '../../base/errors.js';
import {removeAbandonedFilesBelow} from '../../base/fs/atomic-write.js';
import {acquireLock, type Lock} from '../../base/fs/lock.js';
import {stateDirectory} from '../../base/fs/state-directory.js';
import {CriError, type PodUid} from '../../cri/index.js';
import type {NodeEvent} from '../contract/cluster/node-event.js';
import type {ImageGcManager} from '../managers/images/gc/image-gc-manager.js';
import {openContainerLogLinks} from '../managers/pod-filesystem/container-log-links.js';
import {makeNodeDirs} from '../managers/pod-filesystem/pod-directories.js';
import {LogRotator} from '../managers/logs/log-rotator.js';
import {removeOrphanedCgroups} from '../pods/gc/orphaned-cgroups.js';
import {lacksSpec} from '../pods/registry/reconstruct-record.js';
import {findLiveKubelet, watchLiveKubelet} from '../node/find-live-kubelet.js';
import {kubeletLockPath} from '../pods/registry/running-kubelet.js';
import {buildKubelet, recordNodeEvent} from './build-kubelet.js';
import {
  enforceNodeAllocatable,
  enforceReservations,
  releaseNodeAllocatable,
} from './enforce-node-allocatable.js';
import {KubeletView} from './introspection/kubelet-view.js';
import type {KubeletCore} from './kubelet-core.js';
import type {KubeletOptions} from './kubelet-options.js';
import {toLoggedContainer} from './logged-container.js';
import {createNodeManagerServices} from './node-manager-services.js';
import {runVolumeReclaim} from './run-volume-reclaim.js';
import {openKubeletParts, type KubeletParts} from './open-kubelet-parts.js';

/** Pause after a failed call to the runtime while the pods are loaded, in ms. */
const LOAD_RETRY_MS = 1000;
/** Time limit for work in progress when the kubelet stops, in ms. The next kubelet resumes unfinished work. */
const LAST_WORK_MS = 2000;
/** Time limit for the release of the volumes of pods that are stopped with the kubelet, in ms. */
const RELEASE_MS = 30_000;

/**
 * The daemon: the kubelet core with file and HTTP sources, image GC and log rotation (kubelet.go Run). It is opened, built and
 * then started: openKubeletParts, buildKubelet, run.
 */
export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #parts: KubeletParts;
  readonly #core: KubeletCore;
  readonly #images: ImageGcManager | undefined;
  /** Stops the parts, after the sync loop has stopped. */
  readonly #end = new AbortController();
  /** Read-only view for servers, metrics and introspection. */
  readonly view: KubeletView;

  constructor(options: KubeletOptions) {
    const parts = openKubeletParts(options, () => this.#core);
    const {core, images} = buildKubelet(options, parts, this.#end.signal);
    this.#options = options;
    this.#parts = parts;
    this.#core = core;
    this.#images = images;
    const {manager, registry, sources, clusterNode, timelines} = parts;
    const {probes, starts} = registry;
    this.view = new KubeletView({
      ...{...core, manager, probes, starts, registry, clusterNode, timelines, clock: options.clock},
      sourceProblems: () => sources.problems(),
    });
  }

  /**
   * Runs the kubelet until the signal aborts, with the root directory locked. Pods keep running unless stopPodsOnExit
   * is set. Rejects with SystemError when the kubelet cannot start, and when it must be restarted.
   */
  async run(signal: AbortSignal): Promise<void> {
    await this.#refuseLiveKubelet();
    const lock = await this.#lockRootDir(signal);
    try {
      const {rootDir} = this.#options.node.node;
      for (const directory of [rootDir, stateDirectory(rootDir)]) await removeAbandonedFilesBelow(directory);
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
    const {runtimeState, pleg, loop, workers, pods, background} = this.#core;
    if (!(await this.#loadPods(signal))) return;
    this.#parts.rejections.start();
    await background.attempt('runtime check', runtimeState.check(signal));
    const {node} = this.#options.node;
    const record = (event: NodeEvent): void => {
      recordNodeEvent(this.#options, event);
    };
    const allocatable = {node, clock, logger: logger.forFile('kubelet.ts'), record};
    await enforceReservations(allocatable);
    await this.#makeDirectories();
    const services = {events: this.#parts.events, objects: this.#parts.sources.objects, record};
    await this.#parts.nodeManagers.start(
      createNodeManagerServices({...this.#options, ...services, ended: this.#end.signal}, this.#core),
      signal,
    );
    await using _hosts = this.#parts.services.start(this.#parts.registry);
    const parts = [
      runtimeState.run(this.#end.signal, {
        onChecked: () => this.#options.cluster?.runtimeChecked(),
        background,
      }),
      pleg.run(),
      this.#createLogRotator().run(this.#end.signal),
      this.#images?.run(this.#end.signal) ?? Promise.resolve(),
      this.#parts.sources.run(this.#end.signal),
      this.#options.cluster?.run(this.view, this.#end.signal) ?? Promise.resolve(),
      enforceNodeAllocatable(allocatable, this.#end.signal),
      this.#parts.nodeManagers.run(this.#options, this.#end.signal),
      this.#reclaimVolumes(),
      this.#removeOrphanedCgroups(),
      this.#watchLiveKubelet(),
    ];
    const endLoop = new AbortController();
    using either = anySignal(signal, endLoop.signal);
    try {
      await Promise.race([loop.run(either.signal), Promise.all(parts)]);
      if (stopPodsOnExit) await this.#stopPods();
    } finally {
      endLoop.abort(); // it still runs if a part has failed
      const stopped = workers.stop();
      for (const {uid} of this.#parts.own.presentRecords()) this.#parts.registry.probes?.abandon(uid);
      await finishesWithin(stopped, LAST_WORK_MS, clock, this.#end.signal);
      await finishesWithin(background.idle(), LAST_WORK_MS, clock, this.#end.signal);
      await finishesWithin(pods.flush(), LAST_WORK_MS, clock, this.#end.signal);
      await this.#parts.rejections.flush();
      await this.#parts.resources.allocated.written();
      this.#end.abort();
      await Promise.all(parts);
      await releaseNodeAllocatable(allocatable);
      logger.forFile('kubelet.ts').info('Kubelet stopped');
    }
  }

  /** Deletes volumes of claims that are gone; in a cluster, its controllers do that. */
  async #reclaimVolumes(): Promise<void> {
    const {cluster, clock, logger} = this.#options;
    const {registry, sources} = this.#parts;
    const {provisioner} = registry;
    if (cluster !== undefined || provisioner === undefined) return;
    const allSourcesReady = (): boolean => this.#core.handler.allSourcesReady;
    const options = {provisioner, objects: sources.objects, allSourcesReady, clock, logger};
    await runVolumeReclaim(options, this.#end.signal);
  }

  async #removeOrphanedCgroups(): Promise<void> {
    const {node, runtime, clock, logger} = this.#options;
    const {manager, own, registry} = this.#parts;
    const {workers, handler} = this.#core;
    const hasPod = (uid: PodUid): boolean =>
      manager.get(uid) !== undefined || own.get(uid) !== undefined || workers.isKnown(uid);
    const allSourcesReady = (): boolean => handler.allSourcesReady;
    const facts = {node: node.node, runtime, store: registry.store};
    await removeOrphanedCgroups({...facts, hasPod, allSourcesReady, clock, logger}, this.#end.signal);
  }

  /**
   * Loads the pods of earlier daemons and other kubelets, with their resources; tries again as long as the runtime fails. Resolves
   * with false if the kubelet is to stop meanwhile.
   */
  async #loadPods(signal: AbortSignal): Promise<boolean> {
    const {logger, clock} = this.#options;
    for (;;)
      try {
        await this.#loadPodsWithResources(signal);
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        if (!(error instanceof CriError)) throw error;
        logger.forFile('kubelet.ts').error(error, 'Failed to read the pods of the node, trying again');
        await pause(clock, LOAD_RETRY_MS, signal).catch(() => undefined); // aborted, and so is the next call
      }
  }

  async #loadPodsWithResources(signal: AbortSignal): Promise<void> {
    const {own, kept, resources, sources} = this.#parts;
    const {allocations} = this.#core;
    await resources.allocated.load();
    await resources.actuated.load();
    await own.load(signal);
    const records = own.presentRecords();
    await kept.load(records, async () => await sources.manifestUids(signal), signal);
    const uids = new Set(records.map(({uid}) => uid));
    allocations.removeOrphans(uids);
    for (const uid of [...resources.actuated.keys()]) if (!uids.has(uid)) resources.actuated.delete(uid);
    for (const record of records) if (!lacksSpec(record)) allocations.restore(record.pod);
  }

  /** Creates the kubelet's own directories. A failure is logged: pods run without them, unlike in a kubelet. */
  async #makeDirectories(): Promise<void> {
    const {node, logger} = this.#options;
    const attempt = async (what: string, make: Promise<void> | undefined): Promise<void> => {
      try {
        await make;
      } catch (error) {
        rethrowUnexpected(error);
        logger.forFile('kubelet.ts').error(error, `Failed to create the ${what}`);
      }
    };
    await attempt('directories of the root directory', makeNodeDirs(node.node));
    await attempt('directory of links to container logs', openContainerLogLinks(node.node)?.makeDirectory());
  }

  #createLogRotator(): LogRotator {
    const {runtime, clock, logger, logRotation} = this.#options;
    const running = () =>
      this.#core.pods.runningContainers().map((container) => toLoggedContainer(container));
    return new LogRotator({runtime, running, clock, logger}, logRotation);
  }

  /** Reads all sources again and triggers the image GC. */
  reread(): void {
    this.#parts.sources.reread();
    this.#images?.trigger();
  }

  /** Rejects if a kubelet of Kubernetes uses the root directory: both would manage the same pods. */
  async #refuseLiveKubelet(): Promise<void> {
    const {rootDir} = this.#options.node.node;
    const pid = await findLiveKubelet(rootDir);
    if (pid === undefined) return;
    throw new SystemError(`a kubelet (PID ${pid}) already uses root directory "${rootDir}"`, {
      hint: 'stop it first, for example with "systemctl stop kubelet", or use another --root-dir',
    });
  }

  /** Reports a kubelet that was started while this one runs. */
  async #watchLiveKubelet(): Promise<void> {
    const {node, clock} = this.#options;
    const {rootDir} = node.node;
    const onFound = (pid: number): void => {
      const message = `A kubelet (PID ${pid}) was started with root directory "${rootDir}", which kcri uses: stop one of them`;
      recordNodeEvent(this.#options, {type: 'Warning', reason: 'KubeletConflict', message});
    };
    const {background} = this.#core;
    await watchLiveKubelet({rootDir, clock, background, onFound}, this.#end.signal);
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

  /** Stops all pods, and waits for a limited time until their volumes are unmounted: nothing would unmount them after this process. */
  async #stopPods(): Promise<void> {
    const ended = this.#parts.manager.list().map(
      async ({pod}) =>
        new Promise<void>((resolve) => {
          this.#core.workers.update({type: 'kill', pod, kill: {onCompleted: resolve}});
        }),
    );
    await Promise.all(ended);
    const {workers} = this.#core;
    const released = workers.idle().then(async () => this.#parts.nodeManagers.released());
    const {clock, logger} = this.#options;
    if (await finishesWithin(released, RELEASE_MS, clock, this.#end.signal)) return;
    logger
      .forFile('kubelet.ts')
      .error(
        'their drivers did not answer in time, or failed',
        'Volumes of stopped pods are left: the next start, or the deletion of the pods, unmounts them',
      );
  }
}
