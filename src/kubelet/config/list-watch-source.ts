import type {Pod} from '../../api/v1.js';
import type {Clock, RandomSource} from '../../base/clock.js';
import {messageOf} from '../../base/errors.js';
import {podRef} from '../container/pod-ref.js';
import {ApiStatusError, type ListerWatcher} from './list-watch.js';
import {ListedObjects} from './listed-objects.js';
import {sourceReport, type PodSource, type SourceSink} from './pod-source.js';

/** Between failures (client-go's reflector): doubling, with up to as much again at random, and forgotten in time. */
const FIRST_DELAY_MS = 800;
const LONGEST_DELAY_MS = 30_000;
const FORGOTTEN_AFTER_MS = 120_000;
/** A watch that ends sooner without an event has failed. */
const SHORTEST_WATCH_MS = 1000;
const GONE = 410;

/** Which pods are followed, and how. */
export interface ListWatchSourceOptions {
  /** The pods of this node. */
  readonly pods: ListerWatcher<Pod>;
  /** Where they come from, for messages. */
  readonly origin: string;
  /** How often all pods are set again though nothing has changed; never without it. */
  readonly resyncPeriodMs?: number | undefined;
  readonly clock: Clock;
  readonly random: RandomSource;
}

/**
 * The pods of a collection that can be listed and watched, as an API server's (client-go's reflector with
 * config/apiserver.go): one list, then watches, each from where the last one ended; a new list when the server doesn't
 * know any more what was there.
 */
export class ListWatchSource implements PodSource {
  readonly name = 'api';
  readonly #options: ListWatchSourceOptions;
  readonly #objects = new ListedObjects<Pod>();
  #isListed = false;
  #delayMs = 0;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ListWatchSourceOptions) {
    this.#options = options;
  }

  /** What has changed is told anyway. */
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
    // Any version will do at first; later none that is older than what was seen.
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
        if (error instanceof ApiStatusError && error.code === GONE) version = '';
        else
          sink.report(
            sourceReport('api', 'Failed to watch', {error: messageOf(error), fields: {type: '*v1.Pod'}}),
          );
      }
      await this.#backOff(signal);
    }
  }

  /** The version up to which the watch told all; throws what ended it before its time. */
  async #watch(from: string, sink: SourceSink, signal: AbortSignal): Promise<string> {
    const {pods, clock} = this.#options;
    const began = clock.now();
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
    if (events === 0 && clock.now() - began < SHORTEST_WATCH_MS)
      throw new Error(
        'very short watch: Unexpected watch close - watch lasted less than a second and no items received',
      );
    return version;
  }

  async #backOff(signal: AbortSignal): Promise<void> {
    const {clock, random} = this.#options;
    const isForgotten = clock.now() - this.#failedAt > FORGOTTEN_AFTER_MS;
    this.#delayMs = isForgotten ? FIRST_DELAY_MS : Math.min(this.#delayMs * 2, LONGEST_DELAY_MS);
    this.#failedAt = clock.now();
    await clock.sleep(this.#delayMs * (1 + random() / 2 ** 32), signal);
  }

  #emit(sink: SourceSink): void {
    const {origin} = this.#options;
    const pods = this.#objects.items.map((pod) => ({uid: podRef(pod).uid, pod, origin}));
    sink.set({pods, objects: []});
  }
}

/** The greater version: events may come out of order. */
function laterOf(known: string, next = ''): string {
  const areNumbers = /^\d+$/.test(known) && /^\d+$/.test(next);
  if (areNumbers) return BigInt(next) > BigInt(known) ? next : known;
  return next === '' ? known : next;
}
