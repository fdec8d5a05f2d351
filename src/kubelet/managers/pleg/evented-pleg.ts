import {pause} from '../../../base/async/pause.js';
import {runInBackground} from '../../../base/async/background-work.js';
import {abortable} from '../../../base/async/abortable.js';
import {
  isUnimplemented,
  type ContainerEventResponse,
  type ContainerEventType,
  type PodUid,
  type RuntimeService,
} from '../../../cri/index.js';
import type {Pleg, PlegReport, PodCache, RunningPod} from '../../contract/pleg.js';
import {GenericPleg} from './generic-pleg.js';
import type {PlegOptions} from './pod-inspector.js';
import {podUidOfSandbox, type PlegState} from './relist-diff.js';

/** Number of consecutive failures after which the stream is not retried (eventedPlegMaxStreamRetries). */
const MAX_FAILURES = 5;
const INITIAL_RETRY_MS = 1000;
/** Time in ms without a failure after which a stream is trusted; its first event makes it trusted too. */
const TRUSTED_AFTER_MS = 1000;

/** States that contradict an event: the runtime then sent the event before it changed the state. */
const CONTRADICTING_STATES = {
  CONTAINER_STARTED_EVENT: ['unknown'],
  CONTAINER_STOPPED_EVENT: ['unknown', 'running'],
  CONTAINER_DELETED_EVENT: ['unknown', 'running', 'exited'],
} as const satisfies Partial<Record<ContainerEventType, readonly PlegState[]>>;

/** Options of {@link EventedPleg}. */
export interface EventedPlegOptions extends PlegOptions {
  readonly runtime: PlegOptions['runtime'] & Pick<RuntimeService, 'getContainerEvents'>;
  /** Resolves when events are needed: a stream costs more than a short run without one. Immediately by default. */
  readonly needsEvents?: Promise<void> | undefined;
}

/**
 * Evented PLEG (pleg/evented.go): a generic PLEG that relists rarely, while runtime events (GetContainerEvents) trigger
 * inspections of pods. Unlike the kubelet's, it does not read the state of the pod from the event, so duplicate, late,
 * reordered and missing events are harmless.
 */
export class EventedPleg implements Pleg {
  readonly #options: EventedPlegOptions;
  readonly #generic: GenericPleg;

  constructor(options: EventedPlegOptions) {
    this.#options = options;
    this.#generic = new GenericPleg(options);
  }

  get cache(): PodCache {
    return this.#generic.cache;
  }

  runningPods(): readonly RunningPod[] {
    return this.#generic.runningPods();
  }

  requestRelist(uid: PodUid): void {
    this.#generic.requestRelist(uid);
  }

  report(): PlegReport {
    return this.#generic.report();
  }

  unhealthyReason(): string | undefined {
    return this.#generic.unhealthyReason();
  }

  async run(): Promise<void> {
    await Promise.all([this.#generic.run(), this.#followEvents()]);
  }

  /** Maintains an event stream. After too many failures, waits until the runtime was unavailable before it retries. */
  async #followEvents(): Promise<void> {
    const {clock, signal, onNotice, needsEvents} = this.#options;
    await abortable(needsEvents ?? Promise.resolve(), signal).catch(() => undefined); // aborted
    if (this.#options.signal.aborted) return;
    for (let failures = 0; ;) {
      const {error, wasTrusted} = await this.#readStream();
      if (signal.aborted) return;
      if (wasTrusted) {
        failures = 0;
        this.#generic.setReliesOnEvents(false);
      }
      failures = isUnimplemented(error) ? MAX_FAILURES : failures + 1;
      const retryMs = failures >= MAX_FAILURES ? undefined : INITIAL_RETRY_MS * 2 ** (failures - 1);
      onNotice({kind: 'stream-failed', error, retryMs});
      if (retryMs !== undefined) await pause(clock, retryMs, signal).catch(() => undefined); // aborted
      else {
        await this.#generic.waitForRecovery();
        failures = 0;
      }
    }
  }

  /** Reads a stream until it ends. Resolves with the reason, and whether the stream was trusted. */
  async #readStream(): Promise<{readonly wasTrusted: boolean; readonly error: unknown}> {
    const {runtime, clock, signal, onNotice} = this.#options;
    const ended = new AbortController();
    let isTrusted = false;
    const trust = (): void => {
      if (isTrusted || ended.signal.aborted) return;
      isTrusted = true;
      this.#trust();
    };
    clock.sleep(TRUSTED_AFTER_MS, ended.signal).then(trust, () => undefined); // the stream has ended
    try {
      for await (const event of runtime.getContainerEvents({}, {signal})) {
        trust();
        onNotice({kind: 'event-received', delayMs: clock.now() - Number(event.createdAt / 1_000_000n)});
        this.#handle(event);
      }
      return {wasTrusted: isTrusted, error: new Error('the runtime closed the event stream')};
    } catch (error) {
      return {wasTrusted: isTrusted, error};
    } finally {
      ended.abort();
    }
  }

  #trust(): void {
    this.#generic.setReliesOnEvents(true);
    this.#options.onNotice({kind: 'stream-trusted'});
  }

  #handle({containerEventType, containerId, podSandboxStatus}: ContainerEventResponse): void {
    const {inspector} = this.#generic;
    // containerd omits the status of a removed sandbox.
    const uid =
      podSandboxStatus === undefined ? inspector.ownerOf(containerId) : podUidOfSandbox(podSandboxStatus);
    if (uid === undefined || !this.#options.isManaged(uid)) return;
    if (containerEventType === 'CONTAINER_CREATED_EVENT') inspector.cache.markStale(uid);
    else if (containerEventType === 'CONTAINER_STARTED_EVENT')
      runInBackground('PLEG', this.#handleStart(uid, containerId));
    else runInBackground('PLEG', this.#inspect(uid, containerId, CONTRADICTING_STATES[containerEventType]));
  }

  /**
   * Handles the start of a container or sandbox. The pod's worker, which has started it, soon requests an inspection: when
   * it has started all that it can.
   */
  async #handleStart(uid: PodUid, id: string): Promise<void> {
    try {
      if (await this.#generic.inspector.noticesStart(uid, id)) return;
      await this.#inspect(uid, id, CONTRADICTING_STATES.CONTAINER_STARTED_EVENT);
    } catch (error) {
      if (!this.#options.signal.aborted) throw error;
    }
  }

  async #inspect(uid: PodUid, id: string, contradicting: readonly PlegState[]): Promise<void> {
    const {inspector} = this.#generic;
    try {
      await inspector.inspect(uid);
    } catch (error) {
      if (this.#options.signal.aborted) return;
      throw error;
    }
    const state = inspector.stateOf(uid, id);
    if (state !== undefined && contradicting.includes(state)) inspector.reinspect(uid);
  }
}
