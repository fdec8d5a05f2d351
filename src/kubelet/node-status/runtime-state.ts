import type {Clock} from '../../base/clock.js';
import {messageOf} from '../../base/errors.js';
import type {RuntimeService, StatusResponse} from '../../cri/index.js';

/** How often the runtime is asked how it is, and after which time without an answer it counts as down. */
const CHECK_MS = 5000;
const DOWN_AFTER_MS = 30_000;

const NETWORK_UNKNOWN = 'network state unknown';
const NEVER_CHECKED = 'container runtime status check may not have completed yet';

/** Whether the runtime and its network are ready (runtime.go runtimeState, updateRuntimeUp). */
export class RuntimeState {
  readonly #runtime: Pick<RuntimeService, 'status'>;
  readonly #clock: Clock;
  #checkedAt: number | undefined;
  #networkError: string | undefined = NETWORK_UNKNOWN;
  #runtimeError: string | undefined;
  #callError: unknown;

  constructor(runtime: Pick<RuntimeService, 'status'>, clock: Clock) {
    this.#runtime = runtime;
    this.#clock = clock;
  }

  /** Why only pods in the host's network can be started now; undefined when all can. */
  get networkError(): string | undefined {
    return this.#networkError;
  }

  /** Why no pod can be synced now. */
  errors(): readonly string[] {
    if (this.#checkedAt === undefined) return [withCause(NEVER_CHECKED, this.#callError)];
    // A clock that was put back says nothing of how long ago it was.
    this.#checkedAt = Math.min(this.#checkedAt, this.#clock.now());
    const isDown = this.#clock.now() - this.#checkedAt > DOWN_AFTER_MS;
    return [
      ...(isDown ? [withCause('container runtime is down', this.#callError)] : []),
      ...(this.#runtimeError === undefined ? [] : [this.#runtimeError]),
    ];
  }

  /** Asks every five seconds until the signal aborts; calls back after each answer. */
  async run(signal: AbortSignal, onChecked: () => void): Promise<void> {
    while (!signal.aborted) {
      await this.check(signal);
      onChecked();
      await this.#clock.sleep(CHECK_MS, signal).catch(() => undefined); // the end
    }
  }

  /** What the runtime can't answer leaves things as they are; after a while it counts as down. */
  async check(signal: AbortSignal): Promise<void> {
    try {
      this.#take(await this.#runtime.status({verbose: false}, {signal}));
      this.#callError = undefined;
    } catch (error) {
      this.#callError = error;
    }
  }

  #take({status}: StatusResponse): void {
    const conditions = status?.conditions ?? [];
    const problem = (type: string): string | undefined => {
      const condition = conditions.find((candidate) => candidate.type === type);
      if (condition?.status === true) return undefined;
      return `${type}=${String(condition?.status ?? '<nil>')} reason:${condition?.reason ?? ''} message:${condition?.message ?? ''}`;
    };
    const [network, runtime] = [problem('NetworkReady'), problem('RuntimeReady')];
    this.#networkError = network && `container runtime network not ready: ${network}`;
    this.#runtimeError = runtime && `container runtime not ready: ${runtime}`;
    if (runtime === undefined) this.#checkedAt = this.#clock.now();
  }
}

function withCause(text: string, cause: unknown): string {
  return cause === undefined ? text : `${text}: ${messageOf(cause)}`;
}
