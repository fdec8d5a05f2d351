import type {PodUid} from '../../cri/index.js';
import {listAllContainers, listAllSandboxes} from '../../cri/list-all.js';
import {formatMilliseconds} from '../../format/duration.js';
import type {Pleg, PlegReport, PodCache, RunningPod} from '../container/pleg.js';
import {PodLooks, type PlegOptions} from './pod-looks.js';
import {listedPods} from './relist-diff.js';

/** How long after a relist the next one begins (genericPlegRelistPeriod). */
const RELIST_MS = 1000;
/** The same while the runtime's events are relied on: a relist is only there for what these have missed. */
const SAFETY_RELIST_MS = 30_000;
/** Without a relist for longer than this pods can't be synced (genericPlegRelistThreshold). */
const THRESHOLD_MS = 180_000;
/** How many relists are quick again after a slow one has found what no event had told of. */
const RELISTS_AFTER_MISS = 60;
/** And after events have begun: what happened before them has to be found. */
const RELISTS_AT_FIRST = 2;

/**
 * The generic PLEG (pleg/generic.go): lists the whole runtime each second and has the pods looked at that are
 * different. It doesn't wait for these looks, so that a pod that can't be read holds up only its own worker.
 */
export class GenericPleg implements Pleg {
  readonly looks: PodLooks;
  readonly #options: PlegOptions;
  /** When the last relist began that succeeded. */
  #relistedAt: number | undefined;
  #hasFailed = false;
  /** Called when relists succeed again. */
  #onBack: (() => void)[] = [];
  #reliesOnEvents = false;
  /** How many relists are yet to be quick, whatever the events. */
  #quickRelists = 0;
  #isAskedFor = false;
  #nap = new AbortController();

  constructor(options: PlegOptions) {
    this.#options = options;
    this.looks = new PodLooks(options);
  }

  get cache(): PodCache {
    return this.looks.cache;
  }

  runningPods(): readonly RunningPod[] {
    return this.looks.runningPods();
  }

  requestRelist(uid: PodUid): void {
    void this.#look(uid, false);
  }

  report(): PlegReport {
    return {reliesOnEvents: this.#reliesOnEvents, relistedAt: this.#relistedAt};
  }

  unhealthy(): string | undefined {
    if (this.#relistedAt === undefined) return 'pleg has yet to be successful';
    const now = this.#options.clock.now();
    // A clock that was put back says nothing of how long ago it was; from now on it counts anew.
    this.#relistedAt = Math.min(this.#relistedAt, now);
    const elapsed = now - this.#relistedAt;
    if (elapsed <= THRESHOLD_MS) return undefined;
    // Maybe only the clock has gone on.
    this.relistNow();
    return `pleg was last seen active ${formatMilliseconds(elapsed)} ago; threshold is ${formatMilliseconds(THRESHOLD_MS)}`;
  }

  async run(): Promise<void> {
    const {signal} = this.#options;
    const wake = (): void => {
      this.#nap.abort();
    };
    signal.addEventListener('abort', wake);
    while (!signal.aborted) {
      await this.#relist();
      await this.#pause();
    }
    signal.removeEventListener('abort', wake);
    this.#tellBack();
  }

  #tellBack(): void {
    for (const tell of this.#onBack.splice(0)) tell();
  }

  /** Relists at once, or again after the relist that is under way. */
  relistNow(): void {
    this.#isAskedFor = true;
    this.#nap.abort();
  }

  /** Says whether the runtime's events tell of every change, so that relists need not. */
  relyOnEvents(reliesOnEvents: boolean): void {
    this.#reliesOnEvents = reliesOnEvents;
    this.#quickRelists = Math.max(this.#quickRelists, RELISTS_AT_FIRST);
    this.relistNow();
  }

  /** Resolves when the runtime could not be listed and can be again, or at the end. */
  async untilBack(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onBack.push(resolve);
    });
  }

  async #relist(): Promise<void> {
    const {runtime, clock, signal, notice} = this.#options;
    const startedAt = clock.now();
    this.#isAskedFor = false;
    const mustFindNothing = this.#periodMs() > RELIST_MS;
    const lists = await Promise.all([
      listAllContainers(runtime, {}, signal),
      listAllSandboxes(runtime, {}, signal),
    ]).catch((error: unknown) => {
      this.#hasFailed = true;
      if (!signal.aborted) notice({kind: 'relist-failed', error});
    });
    if (lists === undefined) return;
    this.#relistedAt = startedAt;
    if (this.#hasFailed) this.#tellBack();
    this.#hasFailed = false;
    this.#quickRelists = Math.max(0, this.#quickRelists - 1);
    for (const uid of this.looks.relisted(listedPods(...lists)))
      void this.#look(uid, mustFindNothing && !this.looks.isDue(uid));
    this.looks.cache.updateTime(startedAt);
    this.looks.tellUntold();
    notice({kind: 'relisted', durationMs: Math.max(0, clock.now() - startedAt)});
  }

  /** Looks at a pod. When it `mustBeSame`, as no event told of it, but isn't, events are not relied on for a while. */
  async #look(uid: PodUid, mustBeSame: boolean): Promise<void> {
    const {signal, notice} = this.#options;
    try {
      const hasChanged = await this.looks.look(uid);
      if (!hasChanged || !mustBeSame) return;
      this.#quickRelists = RELISTS_AFTER_MISS;
      notice({kind: 'event-missed', uid});
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Second by second, because meanwhile there may be reason not to wait so long. */
  async #pause(): Promise<void> {
    const {clock, signal} = this.#options;
    for (let waited = 0; waited < this.#periodMs() && !this.#isAskedFor; waited += RELIST_MS) {
      if (signal.aborted) return;
      this.#nap = new AbortController();
      await clock.sleep(RELIST_MS, this.#nap.signal).catch(() => undefined); // woken
    }
  }

  #periodMs(): number {
    const mayWait =
      this.#reliesOnEvents && !this.#hasFailed && this.#quickRelists === 0 && !this.looks.hasUnfinished;
    return mayWait ? SAFETY_RELIST_MS : RELIST_MS;
  }
}
