import {onAbort} from '../../../base/async/abort-callbacks.js';
import {pause} from '../../../base/async/pause.js';
import {runInBackground} from '../../../base/async/background-work.js';
import {timestampOf} from '../../../base/clock.js';
import type {PodUid} from '../../../cri/index.js';
import {listAllContainers, listAllSandboxes} from '../../../cri/list-all.js';
import {formatMilliseconds} from '../../../format/duration.js';
import type {Pleg, PlegReport, PodCache, RunningPod} from '../../contract/pleg.js';
import {PodInspector, type PlegOptions} from './pod-inspector.js';
import {groupByPod} from './relist-diff.js';

/** Time between a relist and the next one, in ms (genericPlegRelistPeriod). */
const RELIST_MS = 1000;
/** Relist period in ms while the PLEG relies on events; a relist then only finds changes that events missed. */
const SAFETY_RELIST_MS = 30_000;
/** Time without a relist, in ms, after which the PLEG is unhealthy (genericPlegRelistThreshold). */
const THRESHOLD_MS = 180_000;
/** Number of relists with the short period after a relist found a change that events missed. */
const RELISTS_AFTER_MISS = 60;
/** Number of relists with the short period after an event stream started, to find earlier changes. */
const RELISTS_AT_FIRST = 2;

/**
 * Generic PLEG (pleg/generic.go): relists the runtime every second and inspects the pods that have changed. It does not
 * wait for the inspections, so a pod that cannot be inspected delays only its own worker.
 */
export class GenericPleg implements Pleg {
  readonly inspector: PodInspector;
  readonly #options: PlegOptions;
  /** Start time of the last successful relist, in ms of the monotonic clock. */
  #relistedAt: number | undefined;
  #hasFailed = false;
  /** Callbacks for the next successful relist. */
  #onRecovery: (() => void)[] = [];
  #reliesOnEvents = false;
  /** Number of remaining relists with the short period. */
  #shortPeriods = 0;
  #isRelistRequested = false;
  /** Controller that aborts the current pause. */
  #pause = new AbortController();

  constructor(options: PlegOptions) {
    this.#options = options;
    this.inspector = new PodInspector(options);
  }

  get cache(): PodCache {
    return this.inspector.cache;
  }

  runningPods(): readonly RunningPod[] {
    return this.inspector.runningPods();
  }

  requestRelist(uid: PodUid): void {
    runInBackground('PLEG', this.#inspect(uid, false));
  }

  report(): PlegReport {
    const {clock} = this.#options;
    const relistedAt = this.#relistedAt === undefined ? undefined : timestampOf(clock, this.#relistedAt);
    return {reliesOnEvents: this.#reliesOnEvents, relistedAt};
  }

  unhealthyReason(): string | undefined {
    if (this.#relistedAt === undefined) return 'pleg has yet to be successful';
    const elapsed = this.#options.clock.monotonic() - this.#relistedAt;
    if (elapsed <= THRESHOLD_MS) return undefined;
    return `pleg was last seen active ${formatMilliseconds(elapsed)} ago; threshold is ${formatMilliseconds(THRESHOLD_MS)}`;
  }

  async run(): Promise<void> {
    const {signal} = this.#options;
    const forget = onAbort(signal, () => {
      this.#pause.abort();
    });
    while (!signal.aborted) {
      await this.#relist();
      await this.#waitForNext();
    }
    forget();
    this.#notifyRecovery();
  }

  #notifyRecovery(): void {
    for (const listener of this.#onRecovery.splice(0)) listener();
  }

  /** Relists immediately, or again after the current relist. */
  relistNow(): void {
    this.#isRelistRequested = true;
    this.#pause.abort();
  }

  /** Sets whether events report all changes, so that rare relists are sufficient. */
  setReliesOnEvents(reliesOnEvents: boolean): void {
    this.#reliesOnEvents = reliesOnEvents;
    this.#shortPeriods = Math.max(this.#shortPeriods, RELISTS_AT_FIRST);
    this.relistNow();
  }

  /** Resolves when relists succeed again after a failure, or when the PLEG stops. */
  async waitForRecovery(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onRecovery.push(resolve);
    });
  }

  async #relist(): Promise<void> {
    const {runtime, clock, signal, onNotice} = this.#options;
    const startedAt = clock.monotonic();
    const start = this.inspector.cache.mark();
    this.#isRelistRequested = false;
    const expectsNoChange = this.#periodMs() > RELIST_MS;
    const lists = await Promise.all([
      listAllContainers(runtime, {}, signal),
      listAllSandboxes(runtime, {}, signal),
    ]).catch((error: unknown) => {
      this.#hasFailed = true;
      if (!signal.aborted) onNotice({kind: 'relist-failed', error});
    });
    if (lists === undefined) return;
    this.#relistedAt = startedAt;
    if (this.#hasFailed) this.#notifyRecovery();
    this.#hasFailed = false;
    this.#shortPeriods = Math.max(0, this.#shortPeriods - 1);
    for (const uid of this.inspector.applyRelist(groupByPod(...lists)))
      runInBackground('PLEG', this.#inspect(uid, expectsNoChange && !this.inspector.isPending(uid)));
    this.inspector.cache.relisted(start);
    this.inspector.redeliver();
    onNotice({kind: 'relisted', durationMs: clock.monotonic() - startedAt});
  }

  /**
   * Inspects a pod. A change despite `expectsNoChange` was missed by events, which are then not relied on for a while.
   */
  async #inspect(uid: PodUid, expectsNoChange: boolean): Promise<void> {
    const {signal, onNotice} = this.#options;
    try {
      const hasChanged = await this.inspector.inspect(uid);
      if (!hasChanged || !expectsNoChange) return;
      this.#shortPeriods = RELISTS_AFTER_MISS;
      onNotice({kind: 'event-missed', uid});
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  /** Waits for the next relist in steps of a second, because the period can become shorter meanwhile. */
  async #waitForNext(): Promise<void> {
    const {clock, signal} = this.#options;
    for (let waited = 0; waited < this.#periodMs() && !this.#isRelistRequested; waited += RELIST_MS) {
      if (signal.aborted) return;
      this.#pause = new AbortController();
      await pause(clock, RELIST_MS, this.#pause.signal).catch(() => undefined); // woken
    }
  }

  #periodMs(): number {
    const eventsSuffice =
      this.#reliesOnEvents &&
      !this.#hasFailed &&
      this.#shortPeriods === 0 &&
      !this.inspector.hasPendingRetries;
    return eventsSuffice ? SAFETY_RELIST_MS : RELIST_MS;
  }
}
