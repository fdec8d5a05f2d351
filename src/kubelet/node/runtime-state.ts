import type {BackgroundWork} from '../../base/async/background-work.js';
import {pause} from '../../base/async/pause.js';
import type {Clock} from '../../base/clock.js';
import {messageOf, rethrowUnexpected} from '../../base/errors.js';
import type {RuntimeService, StatusResponse} from '../../cri/index.js';
import type {RuntimeFeatures} from '../contract/node-facts.js';
import {runtimeFeaturesOf} from './runtime-features.js';

/** Interval of status checks, in ms. */
const CHECK_INTERVAL_MS = 5000;
/** Interval until the runtime is ready for the first time, in ms, and its limit (Kubelet.fastStatusUpdateOnce). */
const START_INTERVAL_MS = 100;
const START_MS = 120_000;
/** Time without a ready runtime after which it counts as down, in ms. */
const DOWN_AFTER_MS = 30_000;

const NETWORK_UNKNOWN = 'network state unknown';
const NEVER_CHECKED = 'container runtime status check may not have completed yet';

/** Options of {@link RuntimeState.run}. */
export interface RuntimeChecksOptions {
  /** Called after each check. */
  readonly onChecked: () => void;
  /** Receives programming errors of checks. */
  readonly background: Pick<BackgroundWork, 'attempt'>;
}

/** State of the runtime and its network (runtime.go runtimeState, Kubelet.updateRuntimeUp). */
export class RuntimeState {
  readonly #runtime: Pick<RuntimeService, 'status'>;
  readonly #clock: Clock;
  #checkedAt: number | undefined;
  #networkError: string | undefined = NETWORK_UNKNOWN;
  #runtimeError: string | undefined;
  #callError: unknown;
  #features: RuntimeFeatures | undefined;

  constructor(runtime: Pick<RuntimeService, 'status'>, clock: Clock) {
    this.#runtime = runtime;
    this.#clock = clock;
  }

  /** Reason why only pods with host network can start; undefined if the network is ready. */
  get networkError(): string | undefined {
    return this.#networkError;
  }

  /** Features that the runtime reported when it was last ready; undefined before that. */
  get features(): RuntimeFeatures | undefined {
    return this.#features;
  }

  /** Returns the reasons why no pod can be synced; empty if the runtime is ready (runtimeErrors). */
  errors(): readonly string[] {
    if (this.#checkedAt === undefined) return [withCause(NEVER_CHECKED, this.#callError)];
    const isDown = this.#clock.monotonic() - this.#checkedAt > DOWN_AFTER_MS;
    return [
      ...(isDown ? [withCause('container runtime is down', this.#callError)] : []),
      ...(this.#runtimeError === undefined ? [] : [this.#runtimeError]),
    ];
  }

  /**
   * Checks the runtime until the signal aborts: every 5 s, and more often until the runtime and its network are ready for the
   * first time.
   */
  async run(signal: AbortSignal, {onChecked, background}: RuntimeChecksOptions): Promise<void> {
    const startedAt = this.#clock.monotonic();
    for (let isStarting = true; !signal.aborted;) {
      await background.attempt('runtime check', this.check(signal));
      onChecked();
      isStarting &&= !this.#isReady() && this.#clock.monotonic() - startedAt < START_MS;
      const intervalMs = isStarting ? START_INTERVAL_MS : CHECK_INTERVAL_MS;
      await pause(this.#clock, intervalMs, signal).catch(() => undefined); // aborted
    }
  }

  #isReady(): boolean {
    return this.networkError === undefined && this.errors().length === 0;
  }

  /**
   * Checks the runtime once. A failed call keeps the last state, until the runtime counts as down. Rejects with programming
   * errors.
   */
  async check(signal: AbortSignal): Promise<void> {
    try {
      this.#update(await this.#runtime.status({verbose: false}, {signal}));
      this.#callError = undefined;
    } catch (error) {
      if (!signal.aborted) rethrowUnexpected(error);
      this.#callError = error;
    }
  }

  #update(response: StatusResponse): void {
    const conditions = response.status?.conditions ?? [];
    const problem = (type: string): string | undefined => {
      const condition = conditions.find((candidate) => candidate.type === type);
      if (condition?.status === true) return undefined;
      return `${type}=${String(condition?.status ?? '<nil>')} reason:${condition?.reason ?? ''} message:${condition?.message ?? ''}`;
    };
    const [network, runtime] = [problem('NetworkReady'), problem('RuntimeReady')];
    this.#networkError = network && `container runtime network not ready: ${network}`;
    this.#runtimeError = runtime && `container runtime not ready: ${runtime}`;
    if (runtime !== undefined) return;
    this.#checkedAt = this.#clock.monotonic();
    this.#features = runtimeFeaturesOf(response);
  }
}

function withCause(text: string, cause: unknown): string {
  return cause === undefined ? text : `${text}: ${messageOf(cause)}`;
}
