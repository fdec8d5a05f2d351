import type {Pod} from '../../../api/types/v1-pod.js';
import type {Clock, RandomSource} from '../../../base/clock.js';
import {messageOf} from '../../../base/errors.js';
import {podRef} from '../../contract/pod-ref.js';
import {ApiStatusError, type ListerWatcher} from './list-watch.js';
import {ObjectStore} from './object-store.js';
import {createSourceReport, type PodSource, type SourceSink} from './pod-source.js';

/**
 * Initial delay in ms of the exponential back-off of client-go's reflector: it doubles, adds up to 100 % jitter, and
 * resets after a while.
 */
const INITIAL_BACK_OFF_MS = 800;
const MAX_BACK_OFF_MS = 30_000;
const BACK_OFF_RESET_MS = 120_000;
/** Minimum duration in ms of a watch without events; a shorter one counts as a failure. */
const MIN_WATCH_MS = 1000;
const HTTP_GONE = 410;

/** Options of {@link ListWatchSource}. */
export interface ListWatchSourceOptions {
  /** Collection of the pods of this node. */
  readonly pods: ListerWatcher<Pod>;
  /** Origin of the pods, for messages. */
  readonly origin: string;
  /** Interval at which unchanged pods are set again, in ms; undefined disables it. */
  readonly resyncPeriodMs?: number | undefined;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/**
 * Source of the pods in a collection that supports list and watch, such as an API server's (config/apiserver.go with
 * client-go's reflector). Lists once and then watches, resuming each watch at the last version; lists again when the
 * version is too old or a watch fails.
 */
export class ListWatchSource implements PodSource {
  readonly name = 'api';
  readonly #options: ListWatchSourceOptions;
  readonly #objects = new ObjectStore<Pod>();
  #isListed = false;
  #delayMs = 0;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ListWatchSourceOptions) {
    this.#options = options;
  }

  /** Does nothing: the watch reports all changes. */
  reread(): void {
    return;
  }

  async run(sink: SourceSink, signal: AbortSignal): Promise<void> {
    try {
      await Promise.all([this.#follow(sink, signal), this.#resync(sink, signal)]);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #resync(sink: SourceSink, signal: AbortSignal): Promise<void> {
    const {resyncPeriodMs, clock} = this.#options;
    while (resyncPeriodMs !== undefined) {
      await clock.sleep(resyncPeriodMs, signal);
      if (this.#isListed) this.#emit(sink);
    }
  }

  async #follow(sink: SourceSink, signal: AbortSignal): Promise<never> {
    // The first list may be of any version; later lists must not be older than the last version.
    let version = '0';
    for (;;) {
      try {
        const list = await this.#options.pods.list(version, signal);
        version = list.resourceVersion;
        this.#objects.replace(list);
        this.#isListed = true;
        this.#emit(sink);
        for (;;) version = await this.#watch(version, sink, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof ApiStatusError && error.code === HTTP_GONE) version = '';
        else
          sink.report(
            createSourceReport('api', 'Failed to watch', {
              error: messageOf(error),
              fields: {type: '*v1.Pod'},
            }),
          );
      }
      await this.#backOff(signal);
    }
  }

  /** Applies a watch's events and resolves with its last version. Rejects with the error that ends the watch. */
  async #watch(from: string, sink: SourceSink, signal: AbortSignal): Promise<string> {
    const {pods, clock} = this.#options;
    const startedAt = clock.now();
    let [version, events] = [from, 0];
    for await (const event of pods.watch(from, signal)) {
      signal.throwIfAborted();
      if (event.type === 'ERROR') throw new ApiStatusError(event.code, event.message);
      events += 1;
      version = laterOf(
        version,
        event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion,
      );
      if (this.#objects.apply(event)) this.#emit(sink);
    }
    signal.throwIfAborted();
    if (events === 0 && clock.now() - startedAt < MIN_WATCH_MS)
      throw new Error(
        'very short watch: Unexpected watch close - watch lasted less than a second and no items received',
      );
    return version;
  }

  async #backOff(signal: AbortSignal): Promise<void> {
    const {clock, random} = this.#options;
    const isReset = clock.now() - this.#failedAt > BACK_OFF_RESET_MS;
    this.#delayMs = isReset ? INITIAL_BACK_OFF_MS : Math.min(this.#delayMs * 2, MAX_BACK_OFF_MS);
    this.#failedAt = clock.now();
    await clock.sleep(this.#delayMs * (1 + random() / 2 ** 32), signal);
  }

  #emit(sink: SourceSink): void {
    const {origin} = this.#options;
    const pods = this.#objects.items.map((pod) => ({uid: podRef(pod).uid, pod, origin}));
    sink.set({pods, objects: []});
  }
}

/** Returns the later version, since events may arrive out of order. */
function laterOf(known: string, next = ''): string {
  const areNumbers = /^\d+$/.test(known) && /^\d+$/.test(next);
  if (areNumbers) return BigInt(next) > BigInt(known) ? next : known;
  return next === '' ? known : next;
}
