import {systemRandom, type Clock, type RandomSource} from '../base/clock.js';
import {SystemError} from '../base/errors.js';
import {acquireLock, type Lock} from '../base/lock.js';
import type {Logger} from '../base/logger.js';
import {doneWithin} from '../base/time-limit.js';
import type {ImageService, PodUid, RuntimeService} from '../cri/index.js';
import {Allocations} from './allocation/allocations.js';
import type {SourceReport} from './config/pod-source.js';
import type {PodEvent} from './container/events.js';
import {namespacedName, podRef, type PodRef} from './container/pod-ref.js';
import {KubeletHandler} from './kubelet-handler.js';
import {KubeletPods} from './kubelet-pods.js';
import {KubeletView} from './kubelet-view.js';
import type {DescribedNode} from './open-local-pods.js';
import {openLocalPods} from './open-local-pods.js';
import {kubeletLock} from './kubelet-file.js';
import {loggedContainer} from './kubelet-logs.js';
import type {ImageCollector} from './images/gc/image-collector.js';
import type {ImageGcPolicy} from './images/gc/image-uses.js';
import {imageCollector} from './kubelet-images.js';
import type {ContainerGcPolicy} from './kuberuntime/garbage.js';
import {LogRotator, type LogRotationOptions} from './logs/log-rotator.js';
import {RuntimeState} from './node-status/runtime-state.js';
import {EventedPleg} from './pleg/evented-pleg.js';
import {GenericPleg} from './pleg/generic-pleg.js';
import {PodManager} from './pod/pod-manager.js';
import type {ProbeManager} from './prober/probe-manager.js';
import {PodWorkers} from './pod-workers/pod-workers.js';
import type {PodSources, PodSourcesSink} from './pod-sources.js';
import {HiddenSecrets} from './references/hidden-secrets.js';
import {secretTexts} from './references/secret-texts.js';
import {SyncLoop} from './sync-loop.js';
import {NO_METRICS, type KubeletMetrics} from './container/kubelet-metrics.js';
import type {PlegNotice} from './pleg/pleg-notice.js';
import {plegLog} from './pleg-log.js';

/** What a kubelet runs with. */
export interface KubeletOptions {
  readonly node: DescribedNode;
  readonly runtime: RuntimeService;
  /** Where pods come from: openPodSources, with its options. */
  readonly openSources: (sink: PodSourcesSink) => PodSources;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly random?: RandomSource;
  /** May change at any time, like what images and logRotation say. */
  readonly syncFrequencyMs: number;
  /** Whether pods that the node has no room for are refused. */
  readonly admission: boolean;
  /** Whether the runtime's events are used, where it has them. */
  readonly eventedPleg: boolean;
  /** Ends all pods when the kubelet ends; a kubelet leaves them running. */
  readonly stopPodsOnExit: boolean;
  /** Called when it is alone with its root directory, before it touches pods; what that gives is disposed at the end. */
  readonly begun?: () => Promise<AsyncDisposable>;
  /** Which dead containers stay; as a kubelet has it by default. */
  readonly containerGc?: ContainerGcPolicy | undefined;
  /** The runtime's images, when those that nothing uses are to be removed, and when that is. */
  readonly images?: {readonly service: ImageService; readonly policy?: ImageGcPolicy | undefined};
  /** When logs are rotated; as a kubelet does by default. */
  readonly logRotation?: LogRotationOptions | undefined;
  /** Takes the values of Secrets, which nobody is to be shown, in place of those that it took before. */
  readonly hide: (texts: readonly string[]) => void;
  /** Called for each event, besides its being logged. */
  readonly onEvent?: (event: PodEvent) => void;
  /** Counts what it does; by default nobody does. */
  readonly metrics?: KubeletMetrics & {pleg(notice: PlegNotice): void};
}

/** How long work under way may take when the kubelet ends; what isn't done then is found by the next one. */
const LAST_WORK_MS = 2000;

/** The kubelet as a daemon: its parts, put together (kubelet.go Run). */
export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #manager = new PodManager();
  readonly #allocations = new Allocations();
  readonly #secrets = new HiddenSecrets(
    (uid) => this.#pods.isOurs(uid),
    (texts) => {
      this.#options.hide(texts);
    },
  );
  readonly #pleg: GenericPleg | EventedPleg;
  readonly #pods: KubeletPods;
  readonly #probes: ProbeManager | undefined;
  readonly #workers: PodWorkers;
  readonly #runtimeState: RuntimeState;
  readonly #handler: KubeletHandler;
  readonly #loop: SyncLoop;
  readonly #sources: PodSources;
  readonly #images: ImageCollector | undefined;
  /** Ends the parts, after the loop. */
  readonly #end = new AbortController();
  /** What is to be seen of it from outside. */
  readonly view: KubeletView;

  constructor(options: KubeletOptions) {
    const {node, runtime, clock, logger, random = systemRandom, metrics = NO_METRICS} = options;
    this.#options = options;
    const events = (event: PodEvent): void => {
      if (!this.#pods.tell(event)) this.#event(event);
    };
    this.#sources = options.openSources(this.#sink(events));
    const local = openLocalPods(node, this.#observer(), this.#sources.objects, random);
    this.#probes = local.probes;
    local.count(metrics);
    this.#runtimeState = new RuntimeState(runtime, clock);
    this.#pleg = this.#makePleg();
    this.#pods = new KubeletPods({
      local,
      pleg: this.#pleg,
      logger,
      clock,
      networkError: () => this.#runtimeState.networkError,
      isWanted: (uid) => this.#manager.get(uid) !== undefined,
      originOf: (uid) => this.#manager.get(uid)?.origin ?? '',
      pendingResize: (uid) => this.#allocations.pendingOf(uid),
      metrics,
    });
    this.#workers = new PodWorkers({
      handler: this.#pods,
      cache: this.#pleg.cache,
      allocated: (pod) => this.#allocations.of(pod),
      clock,
      random,
      logger,
      events,
      get syncFrequencyMs() {
        return options.syncFrequencyMs;
      },
      metrics,
    });
    this.#handler = new KubeletHandler({
      manager: this.#manager,
      workers: this.#workers,
      pods: this.#pods,
      pleg: this.#pleg,
      allocations: this.#allocations,
      runtimeState: this.#runtimeState,
      node: node.node,
      clock,
      logger,
      events,
      seenAllSources: (handled) => this.#sources.seenAllSources(handled),
      admission: options.admission,
      containerGc: options.containerGc,
      metrics,
      keepProbes: (keep) => this.#probes?.cleanup(keep),
    });
    this.#loop = new SyncLoop(this.#handler, clock, logger);
    this.#probes?.listen((outcome) => {
      this.#loop.probe(outcome);
    });
    this.#images = this.#imageCollector();
    this.view = this.#makeView();
  }

  #makeView(): KubeletView {
    return new KubeletView({
      manager: this.#manager,
      handler: this.#handler,
      pods: this.#pods,
      probes: this.#probes,
      workers: this.#workers,
      pleg: this.#pleg,
      loop: this.#loop,
      runtimeState: this.#runtimeState,
      clock: this.#options.clock,
    });
  }

  #sink(event: PodSourcesSink['event']): PodSourcesSink {
    return {
      update: (update) => {
        this.#loop.config(update);
      },
      objectsChanged: (objects) => {
        this.#secrets.set(objects.flatMap((object) => secretTexts(object)));
        this.#loop.objectsChanged();
      },
      report: (report) => {
        this.#report(report);
      },
      event,
    };
  }

  #makePleg(): GenericPleg | EventedPleg {
    const {runtime, clock, logger, eventedPleg, metrics} = this.#options;
    const tell = plegLog(logger);
    const options = {
      runtime,
      clock,
      isOurs: (uid: PodUid) => this.#pods.isOurs(uid),
      push: (event: Parameters<SyncLoop['pleg']>[0]) => this.#loop.pleg(event),
      notice: (notice: PlegNotice) => {
        tell(notice);
        metrics?.pleg(notice);
      },
      signal: this.#end.signal,
    };
    return eventedPleg ? new EventedPleg(options) : new GenericPleg(options);
  }

  #observer() {
    const {logger} = this.#options;
    return {
      event: (event: PodEvent): void => {
        this.#event(event);
      },
      call: () => undefined,
      waiting: () => undefined,
      secret: (texts: readonly string[], {uid}: PodRef): void => {
        this.#secrets.setOf(uid, texts);
      },
      unrecorded: (ref: PodRef, error: unknown): void => {
        logger.error(error, 'Failed to record what happens to a pod', {pod: namespacedName(ref)});
      },
    };
  }

  /** As the kubelet's log has events (client-go's StartStructuredLogging). */
  #event(event: PodEvent): void {
    const {type, reason, message, pod, fieldPath = ''} = event;
    this.#options.logger.info('Event occurred', {
      object: namespacedName(podRef(pod)),
      fieldPath,
      kind: 'Pod',
      apiVersion: 'v1',
      type,
      reason,
      message,
    });
    this.#options.onEvent?.(event);
  }

  /**
   * Runs until the signal aborts, alone with its root directory. Pods go on running then, unless they are to be
   * stopped. Rejects with SystemError when it can't begin.
   */
  async run(signal: AbortSignal): Promise<void> {
    const lock = await this.#alone(signal);
    try {
      const begun = await this.#options.begun?.();
      try {
        await this.#runAlone(signal);
      } finally {
        await begun?.[Symbol.asyncDispose]();
      }
    } finally {
      await lock[Symbol.asyncDispose]();
    }
  }

  async #runAlone(signal: AbortSignal): Promise<void> {
    const {logger, clock, stopPodsOnExit} = this.#options;
    await this.#pods.load();
    for (const {pod} of this.#pods.owned()) this.#allocations.grant(pod);
    await this.#runtimeState.check(signal);
    const parts = [
      this.#runtimeState.run(this.#end.signal, () => undefined),
      this.#pleg.run(),
      this.#logRotator().run(this.#end.signal),
      this.#images?.run(this.#end.signal) ?? Promise.resolve(),
      this.#sources.run(this.#end.signal),
    ];
    try {
      await Promise.race([this.#loop.run(signal), Promise.all(parts)]);
      if (stopPodsOnExit) await this.#stopPods();
    } finally {
      const stopped = this.#workers.stop();
      for (const {uid} of this.#pods.owned()) this.#probes?.abandon(uid);
      await doneWithin(stopped, LAST_WORK_MS, clock, this.#end.signal);
      await doneWithin(this.#pods.settled(), LAST_WORK_MS, clock, this.#end.signal);
      this.#end.abort();
      await Promise.all(parts);
      logger.info('Kubelet has ended');
    }
  }

  #logRotator(): LogRotator {
    const {runtime, clock, logger, logRotation} = this.#options;
    const running = () => this.#pods.runningContainers().map((own) => loggedContainer(own));
    return new LogRotator({runtime, running, clock, logger}, logRotation);
  }

  #imageCollector(): ImageCollector | undefined {
    const {node, runtime, images, logger} = this.#options;
    if (images === undefined) return undefined;
    const {service, policy} = images;
    const pods = () => this.#manager.list().map(({pod}) => pod);
    const nodeWarning = (reason: string, message: string): void => {
      const object = node.node.nodeName;
      const fields = {
        object,
        fieldPath: '',
        kind: 'Node',
        apiVersion: 'v1',
        type: 'Warning',
        reason,
        message,
      };
      logger.info('Event occurred', fields);
    };
    const collected = (reason: 'age' | 'space'): void => this.#options.metrics?.imageCollected(reason);
    return imageCollector({
      ...{node, runtime, images: service, logger, policy, pods, nodeWarning},
      collected,
    });
  }

  /** Has the sources and the images looked at again at once. */
  reread(): void {
    this.#sources.reread();
    this.#images?.ask();
  }

  #report({level, message, error, fields, issues, verbosity}: SourceReport): void {
    const {logger} = this.#options;
    const places = issues.map(({file, line, column}) => `${file}:${line}:${column}`);
    const all = {...fields, ...(places.length > 0 && {places})};
    if (level === 'info') logger.info(message, all, verbosity);
    else logger.error(error, message, all);
  }

  async #alone(signal: AbortSignal): Promise<Lock> {
    const {rootDir} = this.#options.node.node;
    return await acquireLock(kubeletLock(rootDir), {
      signal,
      onWait: (pid) => {
        throw new SystemError(`another kcri kubelet (pid ${pid}) runs with the root directory "${rootDir}"`, {
          hint: 'end that one first, or give this one another --root-dir',
        });
      },
    });
  }

  async #stopPods(): Promise<void> {
    const ended = this.#manager.list().map(
      async ({pod}) =>
        new Promise<void>((resolve) => {
          this.#workers.update({type: 'kill', pod, kill: {onCompleted: resolve}});
        }),
    );
    await Promise.all(ended);
  }
}
