import type {Pod} from '../../../api/types/v1-pod.js';
import {Backoff} from '../../../base/async/backoff.js';
import {timestampOf, type Clock} from '../../../base/clock.js';
import {goQuote} from '../../../format/go-quote.js';
import type {EventRecorder} from '../../contract/pod-event.js';
import {podRef} from '../../contract/pod-ref.js';
import type {SyncFailure} from '../../contract/sync-result.js';

const INITIAL_MS = 10_000;
const MAX_MS = 300_000;

/** A pod and an image as the pod spec names it. */
export interface ImageOfPod {
  readonly pod: Pod;
  readonly image: string;
}

/** Back-off of failed pulls per pod and image: 10 s, doubling to 5 min (image_manager.go backOff, prevPullErrMsg). */
export class ImageBackOff {
  readonly #clock: Clock;
  readonly #backoff = new Backoff(INITIAL_MS, MAX_MS);
  readonly #lastFailures = new Map<string, {readonly failedAt: number; readonly failure: SyncFailure}>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns the ImagePullBackOff failure of an image that must not be pulled yet, and records a BackOff event. Returns
   * undefined, and forgets the last failure, if the image may be pulled.
   */
  check(target: ImageOfPod, events: EventRecorder): SyncFailure | undefined {
    const key = keyOf(target);
    const last = this.#lastFailures.get(key);
    const retryAt = last && this.#backoff.waitUntil(key, last.failedAt, this.#clock.monotonic());
    if (last === undefined || retryAt === undefined) {
      this.#lastFailures.delete(key);
      return undefined;
    }
    const message = `Back-off pulling image ${goQuote(target.image)}`;
    events.normal('BackOff', message);
    const {reason, message: cause, ...rest} = last.failure;
    return {
      ...rest,
      reason: 'ImagePullBackOff',
      message: `${message}: ${reason}: ${cause}`,
      retryAt: timestampOf(this.#clock, retryAt),
      backOffMs: this.#backoff.get(key),
    };
  }

  /** Records a failed pull, which starts the delay or doubles it. */
  pullFailed(target: ImageOfPod, failure: SyncFailure): void {
    const key = keyOf(target);
    const now = this.#clock.monotonic();
    this.#backoff.next(key, now, now);
    for (const known of this.#lastFailures.keys())
      if (this.#backoff.get(known) === 0) this.#lastFailures.delete(known);
    this.#lastFailures.set(key, {failedAt: now, failure});
  }
}

function keyOf({pod, image}: ImageOfPod): string {
  return `${podRef(pod).uid}_${image}`;
}
