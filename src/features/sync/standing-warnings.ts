import {podRef, type PodEvent, type PodRef} from '../../kubelet/index.js';

/** Options of StandingWarnings. */
export interface StandingWarningsOptions {
  /** True for a sync without --timeout. With it, each warning is printed anyway. */
  readonly isUnlimited: boolean;
  readonly note: (pod: PodRef, text: string) => void;
}

/** Reasons of warnings after which a sync goes on, with a text about the pod meanwhile. */
const REASONS: ReadonlyMap<string, string | undefined> = new Map([
  ['FailedScheduling', 'the pod waits for its devices'],
  ['FailedPrepareDynamicResources', 'the preparation of its devices is repeated until it succeeds'],
  ['VolumeResizeFailed', undefined],
  ['VolumeModifyFailed', undefined],
  ['ClaimChangeRefused', undefined],
  ['CDIDevicesIgnored', undefined],
]);

/** Number of warnings that are remembered: messages with a time or a number never repeat. */
const MAX_WARNINGS = 1000;

/**
 * Notes, once each, the warnings after which a sync goes on: about devices that a pod waits for or that the runtime ignores, and a volume
 * that was not enlarged or changed.
 */
export class StandingWarnings {
  readonly #options: StandingWarningsOptions;
  readonly #seen = new Set<string>();
  readonly #advised = new Set<string>();

  constructor(options: StandingWarningsOptions) {
    this.#options = options;
  }

  /** Observes an event of a pod. */
  observe({reason, message, pod}: PodEvent): void {
    const {isUnlimited, note} = this.#options;
    if (!isUnlimited || !REASONS.has(reason)) return;
    const ref = podRef(pod);
    const key = `${ref.uid} ${reason} ${message}`;
    const isNew = !this.#seen.delete(key);
    this.#remember(key);
    if (!isNew) return;
    note(ref, `${reason}: ${message.trim()}`);
    const meanwhile = REASONS.get(reason);
    if (meanwhile === undefined || this.#advised.has(reason)) return;
    this.#advised.add(reason);
    note(ref, `${meanwhile}; use --timeout to limit the wait, or Ctrl-C to end it`);
  }

  /** Keeps a warning as the last one, and forgets the first if there are too many. */
  #remember(key: string): void {
    this.#seen.add(key);
    const [first] = this.#seen;
    if (this.#seen.size > MAX_WARNINGS && first !== undefined) this.#seen.delete(first);
  }
}
