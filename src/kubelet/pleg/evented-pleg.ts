import {
  isUnimplemented,
  type ContainerEventResponse,
  type ContainerEventType,
  type PodUid,
  type RuntimeService,
} from '../../cri/index.js';
import type {Pleg, PlegReport, PodCache, RunningPod} from '../container/pleg.js';
import {GenericPleg} from './generic-pleg.js';
import type {PlegOptions} from './pod-looks.js';
import {uidOf, type PlegState} from './relist-diff.js';

/** After so many failures in a row the runtime isn't asked again (eventedPlegMaxStreamRetries). */
const MAX_FAILURES = 5;
const FIRST_RETRY_MS = 1000;
/** A stream says nothing when it begins: it counts as good after its first event, or when it hasn't failed for so long. */
const TRUSTED_AFTER_MS = 1000;

/** In which states what an event is about can't be, or the runtime has told of it before it did it. */
const NOT_YET = {
  CONTAINER_CREATED_EVENT: [],
  CONTAINER_STARTED_EVENT: ['unknown'],
  CONTAINER_STOPPED_EVENT: ['unknown', 'running'],
  CONTAINER_DELETED_EVENT: ['unknown', 'running', 'exited'],
} as const satisfies Record<ContainerEventType, readonly PlegState[]>;

/** What the evented PLEG works with. */
export interface EventedPlegOptions extends PlegOptions {
  readonly runtime: PlegOptions['runtime'] & Pick<RuntimeService, 'getContainerEvents'>;
}

/**
 * The evented PLEG (pleg/evented.go): a generic one that relists seldom while the runtime's events (GetContainerEvents)
 * say which pods to look at. An event is only a hint, unlike the kubelet's, which takes the pod's state from it: so
 * events that come twice, late, in the wrong order or not at all do no harm.
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

  unhealthy(): string | undefined {
    return this.#generic.unhealthy();
  }

  async run(): Promise<void> {
    await Promise.all([this.#generic.run(), this.#follow()]);
  }

  /** Keeps a stream of events open; one that gives none is asked again when it was away, and maybe replaced. */
  async #follow(): Promise<void> {
    const {clock, signal, notice} = this.#options;
    for (let failures = 0; ;) {
      const {error, wasTrusted} = await this.#stream();
      if (signal.aborted) return;
      if (wasTrusted) {
        failures = 0;
        this.#generic.relyOnEvents(false);
      }
      failures = isUnimplemented(error) ? MAX_FAILURES : failures + 1;
      const isGivenUp = failures >= MAX_FAILURES;
      const retryMs = isGivenUp ? undefined : FIRST_RETRY_MS * 2 ** (failures - 1);
      notice({kind: 'stream-failed', error, retryMs});
      if (retryMs !== undefined)
        await clock.sleep(retryMs, signal).catch(() => undefined); // the end
      else {
        await this.#generic.untilBack();
        failures = 0;
      }
    }
  }

  /** One stream, to its end; whether it was good for a while, and why it ended. */
  async #stream(): Promise<{readonly wasTrusted: boolean; readonly error: unknown}> {
    const {runtime, clock, signal, notice} = this.#options;
    const ended = new AbortController();
    let isTrusted = false;
    const trust = (): void => {
      if (isTrusted || ended.signal.aborted) return;
      isTrusted = true;
      this.#trust();
    };
    clock.sleep(TRUSTED_AFTER_MS, ended.signal).then(trust, () => undefined); // ended before
    try {
      for await (const event of runtime.getContainerEvents({}, {signal})) {
        trust();
        notice({kind: 'event-heard', delayMs: clock.now() - Number(event.createdAt / 1_000_000n)});
        this.#hear(event);
      }
      return {wasTrusted: isTrusted, error: new Error('the runtime has ended its events')};
    } catch (error) {
      return {wasTrusted: isTrusted, error};
    } finally {
      ended.abort();
    }
  }

  #trust(): void {
    this.#generic.relyOnEvents(true);
    this.#options.notice({kind: 'stream-trusted'});
  }

  #hear({containerEventType, containerId, podSandboxStatus}: ContainerEventResponse): void {
    const {looks} = this.#generic;
    // containerd says nothing of a sandbox that is gone.
    const uid = podSandboxStatus === undefined ? looks.ownerOf(containerId) : uidOf(podSandboxStatus);
    if (uid === undefined || !this.#options.isOurs(uid)) return;
    // Nobody is told of a container that is made, and soon there is more to see.
    if (containerEventType === 'CONTAINER_CREATED_EVENT' && looks.knows(uid)) looks.cache.outdate(uid);
    else void this.#check(uid, containerId, NOT_YET[containerEventType]);
  }

  async #check(uid: PodUid, id: string, notYet: readonly PlegState[]): Promise<void> {
    const {looks} = this.#generic;
    try {
      await looks.look(uid);
    } catch (error) {
      if (this.#options.signal.aborted) return;
      throw error;
    }
    const state = looks.stateOf(uid, id);
    if (state !== undefined && notYet.includes(state)) looks.lookAgain(uid);
  }
}
