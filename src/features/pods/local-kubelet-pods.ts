import type {Pod} from '../../api/types/v1-pod.js';
import type {Clock} from '../../base/clock.js';
import type {LocalKubeletClient} from './local-kubelet.js';

/** Age up to which an answer counts, unless the runtime has changed within it, in ms. */
const FRESH_MS = 5000;
/** Time after which a kubelet that did not answer is asked again, in ms. */
const RETRY_MS = 30_000;

/**
 * Pods of the kubelet of this machine, for a reader that needs them often. As long as the runtime's containers are the same, only
 * what the kubelet alone knows can change, such as results of probes, and it is asked less often. After a change of the runtime it
 * is asked each time, since it notices the change later.
 */
export class LocalKubeletPods {
  readonly #client: Pick<LocalKubeletClient, 'pods'>;
  readonly #clock: Clock;
  #latest: readonly Pod[] | undefined;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #states: string | undefined;
  #changedAtMs = Number.NEGATIVE_INFINITY;

  constructor(client: Pick<LocalKubeletClient, 'pods'>, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * Returns the pods; undefined if the kubelet did not answer. `states` identifies the containers of the runtime and their states.
   * Rejects with the signal's reason.
   */
  async read(states: string): Promise<readonly Pod[] | undefined> {
    const nowMs = this.#clock.monotonic();
    if (states !== this.#states) this.#changedAtMs = nowMs;
    this.#states = states;
    if (this.#isCurrent(nowMs)) return this.#latest;
    this.#latest = await this.#client.pods();
    this.#askedAtMs = nowMs;
    return this.#latest;
  }

  #isCurrent(nowMs: number): boolean {
    const ageMs = nowMs - this.#askedAtMs;
    if (this.#latest === undefined) return ageMs < RETRY_MS;
    return ageMs < FRESH_MS && nowMs - this.#changedAtMs >= FRESH_MS;
  }
}
